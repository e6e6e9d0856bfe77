// What must hold for every request to a chat-completions endpoint, whatever happened before it. Pure; gives problems in words.

type Json = Record<string, unknown>;

/** The problems of a request body as it came over the wire; none for a good one. */
export function checkChatRequest(bytes: Uint8Array): string[] {
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
  checkMessages(messages, problems);
  return problems;
}

function checkMessages(messages: readonly Json[], problems: string[]): void {
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
    for (const [i, id] of open.entries()) {
      if (id === "") problems.push(`${where} has a call without an id`);
      if (open.indexOf(id) !== i) problems.push(`${where} has two calls with the id ${id}`);
    }
    if (message.content == null && open.length === 0) problems.push(`${where} is an answer with nothing in it`);
  });
  if (open.length > 0) problems.push(`the messages end before the results of ${open.join(", ")}`);
}

function toolCallIds(message: Json): string[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.map((call: Json) => String(call.id ?? "")) : [];
}

function checkContent(message: Json, where: string, problems: string[]): void {
  const { content } = message;
  const texts = Array.isArray(content)
    ? content.filter((block) => isObject(block) && block.type === "text").map((block: Json) => block.text)
    : content == null && message.role === "assistant"
      ? []
      : [content];
  if (Array.isArray(content) && content.length === 0) problems.push(`${where} has no content`);
  for (const text of texts) {
    if (typeof text !== "string" || text.trim() === "") problems.push(`${where} (${message.role}) has a blank text`);
  }
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
