// Which way requests take, and whose certificates are believed.
import { readFileSync, statSync } from "node:fs";
import { delimiter } from "node:path";
import type { Config } from "../../config/config.ts";
import { authorityVariables, holdsCertificate } from "../../providers/authorities.ts";
import { describeProxy, explainRoute, proxyVariables } from "../../providers/network.ts";
import { loadTls } from "../../providers/tls.ts";
import type { Environment } from "../../util/environment.ts";
import { toAppError } from "../../util/error.ts";
import { type Check, type Detail, type Finding, fromError, notChecked } from "./check.ts";

/** With 1, the runtime takes the system's authorities too. */
const systemVariable = "NODE_USE_SYSTEM_CA";
/** Variables of other programs, which mean nothing here. */
const foreignVariables = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "GIT_SSL_CAINFO"] as const;

export const proxyCheck: Check = {
  name: "proxy",
  run({ env, providers }) {
    if (providers.length === 0) return { ...notChecked, details: proxyDetails(env) };
    return providers.map((config, i) => ({ ...checkRoute(config, env), details: i === 0 ? proxyDetails(env) : [] }));
  },
};

function checkRoute({ provider }: Config, env: Environment): Finding {
  const about = provider.name;
  try {
    const { route, reason } = explainRoute(provider.baseUrl, env);
    const host = new URL(provider.baseUrl).host;
    const text =
      route === "direct"
        ? `${host} is reached directly: ${reason}`
        : `${host} is reached through ${describeProxy(route)}`;
    const proxy = route === "direct" ? null : new URL(route.proxy).origin;
    return { verdict: "ok", about, text, facts: { provider: about, proxy, reason, variables: proxyVariables(env) } };
  } catch (error) {
    return { ...fromError(toAppError(error)), about };
  }
}

function proxyDetails(env: Environment): Detail[] {
  return proxyVariables(env).map((name) => {
    const value = env[name]?.trim() ?? "";
    return { name: `$${name}`, value: /^no_proxy$/i.test(name) ? value : withoutCredentials(value) };
  });
}

/** A proxy's scheme, host and port. */
function withoutCredentials(text: string): string {
  const url = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(url)) return "(no URL)";
  const { protocol, host, username, password } = new URL(url);
  return `${protocol}//${host}${username || password ? " (with a user name or password)" : ""}`;
}

export const certificatesCheck: Check = {
  name: "certificates",
  run({ env, providers }) {
    const problems = authorityVariables.flatMap((name) => problemOf(name, env) ?? []);
    const own = [
      ...authorityVariables.filter((name) => env[name]),
      ...(env[systemVariable] === "1" ? [systemVariable] : []),
    ];
    const foreign = own.length > 0 ? [] : foreignVariables.filter((name) => env[name]);
    const set = [...own, ...foreign];
    const details = set.map((name, i) => {
      return { name: `$${name}`, value: env[name] ?? "", note: i < own.length ? undefined : "not read by pi-ts" };
    });
    const facts = { variables: set };
    const [first] = problems;
    if (first) return { ...first, details, facts };
    for (const { provider } of providers) {
      try {
        loadTls(provider.tls, provider.name, env);
      } catch (error) {
        return { ...fromError(toAppError(error)), about: provider.name, details, facts };
      }
    }
    if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
      const text = "$NODE_TLS_REJECT_UNAUTHORIZED is 0: whoever is on the way can read your keys";
      return {
        verdict: "warning",
        text,
        next: "Unset it, and name the authority in $NODE_EXTRA_CA_CERTS.",
        details,
        facts,
      };
    }
    const tables = providers.flatMap(({ provider }) => (provider.tls.ca ? [`providers.${provider.name}.ca`] : []));
    const further = [...own.map((name) => `$${name}`), ...tables];
    const text = `the built-in authorities${further.length > 0 ? ` and those of ${further.join(", ")}` : ""}`;
    return { verdict: "ok", text, details, facts };
  },
};

/** The runtime passes over what it cannot read. */
function problemOf(name: (typeof authorityVariables)[number], env: Environment): Finding | undefined {
  const path = env[name];
  if (!path) return undefined;
  const wrong = (what: string): Finding => ({
    verdict: "failure",
    text: `$${name}: ${path} ${what}`,
    next: `Correct $${name}, or unset it.`,
  });
  const statOf = (file: string) => statSync(file, { throwIfNoEntry: false });
  try {
    if (name === "SSL_CERT_DIR")
      return path.split(delimiter).some((folder) => statOf(folder)?.isDirectory()) ? undefined : wrong("is no folder");
    const stat = statOf(path);
    if (!stat) return wrong("is not there");
    // A FIFO would be waited for.
    if (!stat.isFile()) return wrong("is no regular file");
    return holdsCertificate(readFileSync(path, "utf8"))
      ? undefined
      : wrong("holds no PEM certificate that can be read");
  } catch (error) {
    return wrong(`cannot be read: ${(error as Error).message}`);
  }
}
