// Whether there is a key for each provider that is to be asked; of the others, which variables are set. Never a key or a part of one.
import { type Config, requireKey } from "../../config/config.ts";
import { catalog } from "../../providers/catalog.ts";
import { toAppError } from "../../util/error.ts";
import { type Check, type Finding, fromError, notChecked, type Surroundings } from "./check.ts";

export const keyCheck: Check = {
  name: "key",
  run(surroundings) {
    const [chosen, ...others] = surroundings.providers;
    if (!chosen) return notChecked;
    const rest = others.map((config) => {
      const finding = checkKey(config, surroundings);
      const isAbsent = finding.facts?.state === "absent";
      return isAbsent ? { ...finding, verdict: "skipped" as const, next: undefined } : finding;
    });
    const details = rest.length > 0 ? [] : listOthers(chosen, surroundings);
    return [{ ...checkKey(chosen, surroundings), details }, ...rest];
  },
};

function checkKey({ provider }: Config, { flags, env }: Surroundings): Finding {
  const { name: about, keyEnv, apiKey } = provider;
  const source = flags.apiKey === undefined ? `$${keyEnv}` : "--api-key";
  const facts = { provider: about, variable: keyEnv ?? null, source: apiKey === undefined ? null : source };
  try {
    if (requireKey(provider) === "")
      return { verdict: "ok", about, text: "needs no key", facts: { ...facts, state: "not needed" } };
    return { verdict: "ok", about, text: `${source} is set`, facts: { ...facts, state: "set" } };
  } catch (thrown) {
    const isSetEmpty = keyEnv !== undefined && env[keyEnv] === "";
    const error = toAppError(thrown);
    const finding = fromError(error);
    const text = isSetEmpty ? `${finding.text}, which is empty` : finding.text;
    const state = error.code === "missing_key" ? "absent" : "wrong";
    return { ...finding, about, text, facts: { ...facts, code: error.code, state } };
  }
}

/** The variables of providers that are not chosen: their absence is no fault. */
function listOthers({ provider, keyVariables }: Config, { env }: Surroundings) {
  const names = keyVariables.filter((name) => name !== provider.keyEnv);
  const list = (isSet: boolean) => names.filter((name) => Boolean(env[name]) === isSet).map((name) => `$${name}`);
  const rows = [
    { name: "also set", value: list(true).join(", ") },
    { name: "not set", value: list(false).join(", ") },
  ];
  return rows.filter(({ value }) => value !== "");
}

/** Every value in the environment that is known to be a key. */
export function keysIn({ config, env }: Surroundings): string[] {
  const variables = config?.keyVariables ?? catalog.map(({ keyEnv }) => keyEnv);
  return variables.flatMap((name) => env[name]?.trim() || []);
}
