// Which way a request takes: directly or through a proxy, by the usual variables. Pure; the answer is always passed to fetch in full,
// so the runtime's own reading of the environment decides nothing.
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";

/** `proxy` is an http or https URL, perhaps with credentials; `variable` is where it was found. */
export type Route = "direct" | { readonly proxy: string; readonly variable: string };

/**
 * The way to `url`, an http or https URL. `https_proxy` or `http_proxy` by its scheme, else `all_proxy`; each in lower case before upper
 * case, as curl has it, and empty counts as unset. Loopback never takes a proxy, nor does what `no_proxy` lists, separated by commas or
 * blanks: `*`, a domain with all below it (`corp`, `.corp`, `*.corp`), an address, a CIDR block; each but the last also with `:port`.
 * Throws `AppError` `config` for a proxy of a kind that is not supported.
 */
export function chooseProxy(url: string, env: Environment): Route {
  return explainRoute(url, env).route;
}

export interface ExplainedRoute {
  readonly route: Route;
  /** Why a request goes directly, in words. */
  readonly reason: string;
}

/** The way to `url` with its reason; throws as `chooseProxy` does. */
export function explainRoute(url: string, env: Environment): ExplainedRoute {
  const { protocol, hostname, port } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const found = lookUp(env, `${scheme}_proxy`) ?? lookUp(env, "all_proxy");
  if (!found) return { route: "direct", reason: "no proxy is set for it" };
  const host = toHost(hostname);
  if (isLoopback(host)) return { route: "direct", reason: "it is this machine" };
  const target = { host, port: Number(port) || (scheme === "https" ? 443 : 80) };
  const exceptions = lookUp(env, "no_proxy");
  const entries = exceptions?.value.split(/[\s,]+/) ?? [];
  const entry = entries.find((text) => text !== "" && covers(text.toLowerCase(), target));
  if (entry !== undefined) return { route: "direct", reason: `$${exceptions?.variable} lists ${entry}` };
  return { route: { proxy: checkProxy(found), variable: found.variable }, reason: `$${found.variable}` };
}

/** The variables that say which way requests take, as far as they are set, in the order they are looked up in. */
export function proxyVariables(env: Environment): string[] {
  const names = ["https_proxy", "http_proxy", "all_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  return names.filter((name) => env[name]?.trim());
}

/** The route in the form fetch takes. */
export function toFetchProxy(route: Route): false | { url: string; respectNoProxy: false } {
  return route === "direct" ? false : { url: route.proxy, respectNoProxy: false };
}

/** The proxy without its credentials, and the variable that names it. */
export function describeProxy({ proxy, variable }: Exclude<Route, "direct">): string {
  return `${new URL(proxy).origin} (${variable})`;
}

/** The target's scheme, host and port, and the proxy on the way: never a path, a query or credentials. */
export function describeTarget(url: string, route: Route): string {
  const { origin } = new URL(url);
  return route === "direct" ? origin : `${origin} through the proxy ${describeProxy(route)}`;
}

/** What must not be shown of a proxy's URL, in each form it may be echoed in. */
export function proxySecrets(route: Route): string[] {
  if (route === "direct") return [];
  const { username, password } = new URL(route.proxy);
  const secret = password || username;
  if (secret === "") return [];
  return [secret, decode(secret), btoa(unescapeBytes(`${username}:${password}`))];
}

interface Setting {
  readonly variable: string;
  readonly value: string;
}

function lookUp(env: Environment, lower: string): Setting | undefined {
  for (const variable of [lower, lower.toUpperCase()]) {
    const value = env[variable]?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}

function checkProxy({ variable, value }: Setting): string {
  const proxy = value.includes("://") ? value : `http://${value}`;
  // Without an `@` behind the scheme, which would be taken for a password and hidden.
  const supported =
    "Supported are http://host:port and https://…, the host perhaps behind user:password@; NO_PROXY lists what to reach directly.";
  if (!URL.canParse(proxy)) throw new AppError("config", `$${variable} is not the URL of a proxy`, { hint: supported });
  const { protocol } = new URL(proxy);
  if (protocol === "http:" || protocol === "https:") return proxy;
  throw new AppError("config", `$${variable} names a ${protocol.slice(0, -1)} proxy, which is not supported`, {
    hint: supported,
  });
}

interface Host {
  /** In lower case, without brackets or a trailing dot. */
  readonly name: string;
  readonly address: bigint | undefined;
}

function toHost(text: string): Host {
  const name = text.replace(/^\[|\]$|\.$/g, "");
  return { name, address: toAddress(name) };
}

function isLoopback({ name, address }: Host): boolean {
  if (address !== undefined) return isInBlock(address, "127.0.0.0", 8) || isInBlock(address, "::1", 128);
  return name === "localhost" || name.endsWith(".localhost");
}

/** Whether an entry of `no_proxy`, in lower case, covers the target. */
function covers(entry: string, target: { host: Host; port: number }): boolean {
  const { host } = target;
  const [, network, bits] = /^\[?([^\]/]+)\]?\/(\d+)$/.exec(entry) ?? [];
  if (network !== undefined) return host.address !== undefined && isInBlock(host.address, network, Number(bits));
  const [, before = entry, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (port !== undefined && Number(port) !== target.port) return false;
  if (before === "*") return true;
  const listed = toHost(before.replace(/^\*?\./, ""));
  if (listed.address !== undefined || host.address !== undefined) return listed.address === host.address;
  return host.name === listed.name || host.name.endsWith(`.${listed.name}`);
}

/** Whether `address` shares the first `bits` bits with `network`, counted in the network's own family. */
function isInBlock(address: bigint, network: string, bits: number): boolean {
  const base = toAddress(network);
  const skipped = (network.includes(":") ? 128 : 32) - bits;
  return base !== undefined && skipped >= 0 && address >> BigInt(skipped) === base >> BigInt(skipped);
}

/** An IP address as a number of 128 bits, IPv4 as its mapped form (RFC 4291, 2.5.5.2); undefined for anything else. */
function toAddress(text: string): bigint | undefined {
  if (/^\d+(?:\.\d+){3}$/.test(text)) return URL.canParse(`http://${text}`) ? fromGroups(`::ffff:${text}`) : undefined;
  return text.includes(":") && URL.canParse(`http://[${text}]`) ? fromGroups(text) : undefined;
}

function fromGroups(text: string): bigint {
  // The URL parser writes every form as groups of hex digits with at most one `::`.
  const [left = "", right] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const groups = (part = "") => (part === "" ? [] : part.split(":"));
  const [head, tail] = [groups(left), groups(right)];
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return BigInt(`0x${[...head, ...zeros, ...tail].map((group) => group.padStart(4, "0")).join("")}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Percent-escapes as the bytes they stand for, one character each. */
function unescapeBytes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
