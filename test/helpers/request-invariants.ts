// What must hold for every request to a model, whatever happened before it, in both wire APIs. Pure; gives problems in words.

type Json = Record<string, unknown>;

/** The problems of a request as it came over the wire; none for a good one. */
export function checkRequest(method: string, path: string, bytes: Uint8Array): string[] {
  const check = Object.entries(checks).find(([end]) => path.endsWith(end))?.[1];
  if (method !== "POST" || !check) return [`${method} ${path}`];
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return ["the body is not UTF-8"];
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return [`the body is not JSON: ${(error as Error).message}`];
  }
  if (!isObject(body)) return ["the body is not a JSON object"];
  const problems: string[] = [];
  if (body.stream !== true) problems.push("stream is not true");
  if (typeof body.model !== "string" || body.model === "") problems.push("model is missing");
  checkStrings(body, "body", problems);
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  if (messages.length === 0) problems.push("messages are missing");
  check(messages, body, problems);
  return problems;
}

type Check = (messages: readonly Json[], body: Json, problems: string[]) => void;

const checks: Readonly<Record<string, Check>> = {
  "/chat/completions": (messages, _body, problems) => checkChatMessages(messages, problems),
  "/messages": checkMessagesBody,
};

/** Anthropic's rules: roles in turn from user to user, results first and complete in the turn behind their calls, four cache marks at most. */
function checkMessagesBody(messages: readonly Json[], body: Json, problems: string[]): void {
  if (!Number.isSafeInteger(body.max_tokens)) problems.push("max_tokens is missing");
  const marks = JSON.stringify(body).match(/"cache_control":/g)?.length ?? 0;
  if (marks > 4) problems.push(`${marks} cache marks`);
  if (messages.at(-1)?.role !== "user") problems.push("the messages do not end with the user");
  let open: string[] = [];
  messages.forEach((message, position) => {
    const where = `messages[${position}]`;
    const role = position % 2 === 0 ? "user" : "assistant";
    if (message.role !== role) problems.push(`${where} is not the ${role}'s`);
    const blocks = blocksOf(message);
    if (blocks.length === 0) problems.push(`${where} has no content`);
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => String(tool_use_id));
    if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result"))
      problems.push(`${where} has a result behind other content`);
    if (JSON.stringify(results) !== JSON.stringify(open))
      problems.push(
        `${where} has the results of ${results.join(", ") || "nothing"}, not of ${open.join(", ") || "nothing"}`,
      );
    for (const block of blocks) checkBlock(block, where, problems);
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id ?? ""));
    checkIds(open, where, problems);
  });
}

function checkBlock(block: Json, where: string, problems: string[]): void {
  if (block.type === "text" && isBlank(block.text)) problems.push(`${where} has a blank text`);
  if (block.type === "thinking" && !block.signature) problems.push(`${where} has thinking without a signature`);
  if (block.type !== "tool_result") return;
  const content = blocksOf(block);
  if (content.length === 0) problems.push(`${where} has an empty result`);
  for (const inner of content) checkBlock(inner, where, problems);
}

function blocksOf({ content }: Json): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function isBlank(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}

function checkIds(ids: readonly string[], where: string, problems: string[]): void {
  for (const [i, id] of ids.entries()) {
    if (id === "") problems.push(`${where} has a call without an id`);
    if (ids.indexOf(id) !== i) problems.push(`${where} has two calls with the id ${id}`);
  }
}

function checkChatMessages(messages: readonly Json[], problems: string[]): void {
  let open: string[] = [];
  messages.forEach((message, position) => {
    const where = `messages[${position}]`;
    if (message.role === "tool") {
      const id = String(message.tool_call_id);
      if (!open.includes(id)) problems.push(`${where} is a result without an open call: ${id}`);
      open = open.filter((other) => other !== id);
    } else if (open.length > 0) {
      problems.push(`${where} (${message.role}) comes before the results of ${open.join(", ")}`);
      open = [];
    }
    checkContent(message, where, problems);
    if (message.role !== "assistant") return;
    open = toolCallIds(message);
    checkIds(open, where, problems);
    if (message.content == null && open.length === 0) problems.push(`${where} is an answer with nothing in it`);
  });
  if (open.length > 0) problems.push(`the messages end before the results of ${open.join(", ")}`);
}

function toolCallIds(message: Json): string[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.map((call: Json) => String(call.id ?? "")) : [];
}

function checkContent(message: Json, where: string, problems: string[]): void {
  const { role, content } = message;
  if (role === "assistant" && content == null) return;
  // Some servers want an empty text rather than none beside calls.
  if (content === "" && toolCallIds(message).length > 0) return;
  const texts = Array.isArray(content)
    ? content.filter((block) => isObject(block) && block.type === "text").map((block: Json) => block.text)
    : [content];
  if (Array.isArray(content) && content.length === 0) problems.push(`${where} has no content`);
  if (texts.some(isBlank)) problems.push(`${where} (${role}) has a blank text`);
}

function checkStrings(value: unknown, where: string, problems: string[]): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) problems.push(`${where} is not well-formed Unicode`);
    if (value.includes("\0")) problems.push(`${where} has a NUL character`);
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      checkStrings(item, `${where}[${i}]`, problems);
    });
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) checkStrings(item, `${where}.${key}`, problems);
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
