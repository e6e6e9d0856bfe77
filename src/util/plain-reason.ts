// Why a connection could not be made or broke, in words for people.
import { redact } from "./redact.ts";

/** Bun's codes in plainer words than its messages. */
const plainReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "no such host",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
  Malformed_HTTP_Response: "what came back is no HTTP",
  InvalidHTTPResponse: "what came back is no HTTP",
  ResponseHeadersTooLarge: "the headers of the answer are too large",
  UnrequestedUpgrade: "it changes to another protocol than HTTP",
  EMFILE: "there are as many open files as may be (ulimit -n)",
  ZlibError: "the answer is not compressed the way its headers say",
};

/** Without the address (which may hold a key) and without advice on calling fetch. */
export function plainReason(error: unknown, hide: (text: string) => string = redact): string {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  const words = message.replace(/ fetching "[^"]*"/, "").replace(/ For more information, pass `verbose: true`.*$/, "");
  return plainReasons[code] ?? hide(words);
}
