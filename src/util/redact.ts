// Hides keys in text that a user, a log or a model will see.

/** What stands where a key stood. */
export const hidden = "[key hidden]";
const keyShapes =
  /\b(?:sk|pk|rk|org|key|gsk|xai)-[A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/g;
// A password may hold an @ of its own, so everything up to the last one goes.
const urlCredentials = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"<>]+@/gi;
// Headers as a server or a proxy echoes them: plain lines, JSON, or `name=value`; the value perhaps behind its scheme.
const keyHeaders =
  /((?:\b(?:proxy-)?authorization|\b(?:x-)?(?:goog-)?api-key)\\?["']?\s*[:=]\s*\\?["']?)(?!(?:\w+\s+)?\[key hidden\])(?:(?:basic|bearer|digest|token)\s+)?[^\s"'\\,;)}\]]+/gi;

/** `text` without the given secrets, without anything shaped like an API key or a header that carries one, and without credentials in URLs. */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  return hideSecrets(text, secrets)
    .replace(keyHeaders, `$1${hidden}`)
    .replace(keyShapes, hidden)
    .replace(urlCredentials, "$1[hidden]@");
}

/** Plain data with `redact` done to every text in it. */
export function redactAll<Value>(value: Value, secrets: readonly (string | undefined)[]): Value {
  const hide = (inner: unknown): unknown => {
    if (typeof inner === "string") return redact(inner, secrets);
    if (Array.isArray(inner)) return inner.map(hide);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, hide(each)]));
  };
  return hide(value) as Value;
}

/** What headers, variables and parameters are called whose values are keys. */
const secretName = /key|token|secret|auth|credential|cookie|password/i;

/** The values that are secret by their names, whole and without the scheme in front of a token. */
export function namedSecrets(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    secretName.test(name) ? [value, value.replace(/^(?:basic|bearer|digest|token)\s+/i, "")] : [],
  );
}

/** `text` without the given secrets, also where JSON or JSON in JSON holds them, and otherwise as it is. */
export function hideSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let result = text;
  for (const form of formsOf(secrets)) result = result.replaceAll(form, hidden);
  return result;
}

/** Secrets long enough to be hidden, each as it may be written; the longest first, since one may hold another. */
export function formsOf(secrets: readonly (string | undefined)[]): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = secrets.flatMap((secret) =>
    secret && secret.length >= 4 ? [secret, inJson(secret), inJson(inJson(secret))] : [],
  );
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}
