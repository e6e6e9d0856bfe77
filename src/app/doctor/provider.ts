// Whether a provider can be reached and takes the key: it is asked for its list of models, which costs no tokens.
import { connect } from "node:net";
import { type Config, requireKey } from "../../config/config.ts";
import { isTlsFailure } from "../../providers/http.ts";
import { askForModels, type ModelsAnswer } from "../../providers/list-models.ts";
import { chooseProxy } from "../../providers/network.ts";
import { loadTls } from "../../providers/tls.ts";
import { now } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { type AppError, toAppError } from "../../util/error.ts";
import { plural } from "../../util/plural.ts";
import { type Check, type Finding, fromError, notChecked, type Surroundings } from "./check.ts";

/** How long a server may take to answer in full, and to be connected to. */
const answerMs = 7000;
const connectMs = 2000;

export const providerCheck: Check = {
  name: "provider",
  run(surroundings) {
    const { providers } = surroundings;
    if (providers.length === 0) return notChecked;
    return Promise.all(providers.map((config, i) => checkProvider(config, i === 0, surroundings)));
  },
};

async function checkProvider(config: Config, isChosen: boolean, { env }: Surroundings): Promise<Finding> {
  const { name, baseUrl, api, headers, tls } = config.provider;
  const key = usableKey(config);
  if (!isChosen && key === undefined)
    return { verdict: "skipped", about: name, text: "not asked, since there is no key for it" };
  const begun = now();
  try {
    const options = { api, headers, env, tls: loadTls(tls, name, env), timeoutMs: answerMs, retries: 0 };
    const answer = await askForModels(baseUrl, key ?? "", options);
    const ms = Math.round(now() - begun);
    const finding = judge(answer, config, key, `${new URL(baseUrl).host} answers in ${ms} ms`);
    return { ...finding, about: name, facts: { provider: name, status: answer.status, ms, ...finding.facts } };
  } catch (thrown) {
    const error = toAppError(thrown);
    const step = error.code === "config" ? "settings" : await failedStep(error, baseUrl, env);
    return {
      ...fromError(error),
      ...(error.code === "timeout" ? slow(step) : {}),
      about: name,
      facts: { provider: name, step, code: error.code },
    };
  }
}

/** Undefined when there is none, or one that no request can carry; the check of keys tells that. */
function usableKey({ provider }: Config): string | undefined {
  try {
    return requireKey(provider);
  } catch {
    return undefined;
  }
}

function judge(answer: ModelsAnswer, { model }: Config, key: string | undefined, reached: string): Finding {
  const { status, ids, refusal } = answer;
  if (ids) {
    const found = ids.some((id) => isModel(id, model.id));
    const listed = `${reached} and lists ${plural(ids.length, "model")}`;
    const facts = { step: null, models: ids.length, listsModel: found };
    if (found) return { verdict: "ok", text: `${listed}, ${model.id} among them`, facts };
    const next = "Check its name with `pi-ts models --live`; some servers do not list all they have.";
    return { verdict: "warning", text: `${listed}, but not ${model.id}`, next, facts };
  }
  if (!refusal) {
    const next = "A page of a network's log-in, a proxy or another server answers in its place: check the base URL.";
    return { verdict: "failure", text: `${reached}, but not with a list of models`, next, facts: { step: "answer" } };
  }
  if (status === 401 || status === 403) {
    if (key === undefined) return { verdict: "ok", text: `${reached}; it waits for a key`, facts: { step: null } };
    return {
      ...fromError(refusal),
      text: `${reached} and refuses: ${refusal.message}`,
      facts: { step: "key", code: refusal.code },
    };
  }
  if (status === 404 || status === 405 || status === 501) {
    const next =
      "A server without such a list can still work. If tasks fail too, the base URL is wrong: most end in /v1.";
    return {
      verdict: "warning",
      text: `${reached}, but has no list of models (${status})`,
      next,
      facts: { step: null },
    };
  }
  const isPassing = refusal.code === "rate_limit";
  const finding = fromError(refusal, isPassing ? "warning" : "failure");
  return {
    ...finding,
    text: `${reached} and refuses: ${refusal.message}`,
    facts: { step: "answer", code: refusal.code },
  };
}

/** Some lists have a prefix before the names, and some only the dated form of a name. */
function isModel(listed: string, id: string): boolean {
  const name = listed.replace(/^models\//, "");
  return name === id || name.startsWith(`${id}-`);
}

export type Step = "settings" | "dns" | "connect" | "tls" | "proxy" | "answer";

/** How far a request came that got no answer. */
async function failedStep(error: AppError, baseUrl: string, env: Environment): Promise<Step> {
  if (error.code === "server") return "answer";
  const { code = "" } = (error.cause ?? {}) as { code?: string };
  if (isTlsFailure(code)) return "tls";
  const route = chooseProxy(baseUrl, env);
  if (error.code === "timeout") {
    const { hostname, port, protocol } = new URL(route === "direct" ? baseUrl : route.proxy);
    const connected = await connects(hostname, Number(port) || (protocol === "https:" ? 443 : 80));
    return connected ? "answer" : route === "direct" ? "connect" : "proxy";
  }
  if (route !== "direct") return "proxy";
  return code === "ENOTFOUND" || code === "EAI_AGAIN" ? "dns" : "connect";
}

/** What to do where something is slow, if the step tells more than the error. */
function slow(step: Step): Pick<Finding, "next"> {
  switch (step) {
    case "connect":
      return {
        next: "Nothing takes the connection: check the network, a firewall, and whether a proxy has to be set.",
      };
    case "proxy":
      return { next: "The proxy does not take the connection: check its address." };
    default:
      return {};
  }
}

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: host.replace(/^\[|\]$/g, ""), port, timeout: connectMs });
    const end = (connected: boolean) => {
      socket.destroy();
      resolve(connected);
    };
    socket
      .on("connect", () => end(true))
      .on("timeout", () => end(false))
      .on("error", () => end(false));
  });
}
