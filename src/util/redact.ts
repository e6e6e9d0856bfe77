// Hides keys in text that a user, a log or a model will see.

const hidden = "[key hidden]";
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

/** `text` without the given secrets, and otherwise as it is. */
export function hideSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let result = text;
  // The longest first: one may hold another.
  for (const secret of [...secrets].sort((a, b) => (b?.length ?? 0) - (a?.length ?? 0))) {
    if (secret && secret.length >= 4) result = result.replaceAll(secret, hidden);
  }
  return result;
}
