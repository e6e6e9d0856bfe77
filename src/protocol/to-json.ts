// Events and entries as lines of JSON. A message is told several times in a row, as it ends, with its turn and with its run, and it is stored:
// its JSON is made once for all of that.

interface WithMessages {
  readonly type: string;
  readonly message?: unknown;
  readonly messages?: unknown;
}

/** The message asked for last. None changes once it has been told. */
let last: { readonly message: unknown; readonly json: string } = { message: null, json: "null" };

function messageJson(message: unknown): string {
  if (last.message !== message) last = { message, json: JSON.stringify(message) };
  return last.json;
}

/** What `JSON.stringify` gives. */
export function toJson(record: WithMessages): string {
  if (record.message === undefined && !Array.isArray(record.messages)) return JSON.stringify(record);
  const fields: string[] = [];
  for (const [key, value] of Object.entries(record)) {
    if (value !== undefined) fields.push(`${JSON.stringify(key)}:${fieldJson(key, value)}`);
  }
  return `{${fields.join(",")}}`;
}

function fieldJson(key: string, value: unknown): string {
  if (key === "message") return messageJson(value);
  if (key === "messages" && Array.isArray(value)) return `[${value.map(knownJson).join(",")}]`;
  return JSON.stringify(value);
}

/** Of several messages at most one is known, and stays so. */
function knownJson(message: unknown): string {
  return message === last.message ? last.json : (JSON.stringify(message) ?? "null");
}
