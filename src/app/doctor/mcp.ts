// Whether the MCP servers of a run can be used: each that it would start is started, asked for its tools, and ended.
import { findProjectMcpFile } from "../../config/project.ts";
import type { McpServer } from "../../util/mcp-server.ts";
import { plural } from "../../util/plural.ts";
import { checkMcpServers, configuredServers, isUsable, type McpReport } from "../mcp.ts";
import { loadProjectMcp } from "../project.ts";
import { type Check, type Finding, hideSecretsIn, notChecked, type Surroundings } from "./check.ts";

/** A server may have longer for its start in a run; here the rest is left for its end. */
const startMs = 8000;

export const mcpCheck: Check = {
  name: "mcp",
  async run(surroundings, signal) {
    const { cwd, env, trust, mcp, config } = surroundings;
    if (!config) return notChecked;
    if (!mcp) return { verdict: "skipped", text: "not checked, since --no-mcp leaves servers out" };
    const servers = await configuredServers(config, { cwd, env, trust, files: mcp.files, notify: () => {} });
    const findings = new Map<McpServer, Finding>();
    const used = servers.filter((server) => {
      if (!server.enabled || isUsable(server, config)) return true;
      const text = "not started: the run offers none of its tools";
      findings.set(server, { verdict: "skipped", text, facts: factsOf(server, "unused") });
      return false;
    });
    const wait = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
    await checkMcpServers(used, { cwd, env, signal: wait, config }, (server, report) => {
      findings.set(server, describe(server, report));
    });
    const told = servers.flatMap((server) => {
      const finding = findings.get(server);
      return finding ? hideSecretsIn({ ...finding, about: server.name }, server.secrets) : [];
    });
    const all = [...(await checkProjectFile(surroundings)), ...told];
    return all.length > 0 ? all : { verdict: "skipped", text: "no servers are configured" };
  },
};

/** What of a project's `.mcp.json` does not count. */
async function checkProjectFile({ cwd, env, trust }: Surroundings): Promise<Finding[]> {
  const notes: string[] = [];
  const file = await findProjectMcpFile(cwd);
  const servers = await loadProjectMcp({ cwd, env, trust, notify: (text) => notes.push(text) });
  if (!file) return [];
  const { path } = file;
  if (servers)
    return servers.problems.map((text) => ({ verdict: "warning", text, next: `Correct ${path}.`, facts: { path } }));
  const text = notes.at(-1) ?? `${path} is not in force`;
  return [{ verdict: "warning", text, facts: { path } }];
}

function describe(server: McpServer, report: McpReport): Finding {
  const { state, tools, prompts, hasResources, error, notes } = report;
  const facts = factsOf(server, state);
  switch (state) {
    case "disabled":
      return { verdict: "skipped", text: "disabled", facts };
    case "starting": {
      const text = `has not named its tools within ${startMs / 1000} s; a run waits ${server.startupMs / 1000} s for it`;
      return { verdict: "warning", text, next: "`pi-ts mcp check` waits as long as a run.", facts };
    }
    case "failed": {
      const [text = "", ...said] = (error ?? "").split("\n");
      const next = `Correct it in ${server.source}, or set enabled = false there.`;
      const details = said.map((line) => ({ name: "", value: line }));
      return { verdict: "failure", text, next, details, facts: { ...facts, error } };
    }
    case "ready": {
      const parts = [plural(tools.length, "tool")];
      if (prompts.length > 0) parts.push(plural(prompts.length, "prompt"));
      if (hasResources) parts.push("resources");
      const names = { tools: tools.map(({ offeredAs }) => offeredAs), prompts: prompts.map(({ name }) => name) };
      const details = notes.map((note) => ({ name: "", value: note }));
      const verdict = notes.length > 0 ? "warning" : "ok";
      return { verdict, text: `answers, with ${parts.join(", ")}`, details, facts: { ...facts, ...names, notes } };
    }
  }
}

function factsOf({ source, required, transport }: McpServer, state: McpReport["state"] | "unused") {
  return { source, required, transport: transport?.kind ?? null, state };
}
