// What the model is offered: the system prompt and the tools in force, which change between two turns when servers of tools do.
import type { Config } from "../config/config.ts";
import type { SystemMessage } from "../protocol/message.ts";
import type { ToolSet } from "../tools/tool.ts";
import type { Mcp } from "./mcp.ts";
import { type Permissions, withServerTools } from "./permissions.ts";
import { buildSystemMessage } from "./system-prompt.ts";

export interface OfferOptions {
  readonly cwd: string;
  readonly config: Pick<Config, "contextFiles" | "systemPrompt">;
  readonly permissions: Permissions;
  /** What is said of the skills. */
  readonly skills: string | undefined;
  readonly mcp: Mcp | undefined;
  readonly notify: (text: string) => void;
}

export interface Offer {
  system(): SystemMessage;
  tools(): ToolSet;
  /**
   * Waits for the servers, puts the tools they have by now in force, and tells what is to be told of them. Rejects when one that is required
   * is not there.
   */
  update(signal: AbortSignal): Promise<void>;
}

/** After this time the user is told which servers a prompt waits for. */
const serverNoticeMs = 3000;

export function createOffer({ cwd, config, permissions, skills, mcp, notify }: OfferOptions): Offer {
  const { contextFiles, systemPrompt } = config;
  const startedAt = new Date();
  let { tools } = permissions;
  /** What servers say of themselves. */
  let instructions: string | undefined;
  let system = makeSystem();

  function makeSystem(): SystemMessage {
    const { specs } = tools;
    return buildSystemMessage({
      cwd,
      tools: specs,
      contextFiles,
      systemPrompt,
      skills,
      servers: instructions,
      now: startedAt,
    });
  }

  async function update(signal: AbortSignal): Promise<void> {
    if (!mcp) return;
    const notice = setTimeout(() => {
      const names = mcp.pending().join(", ");
      if (names !== "") notify(`Waiting for MCP servers to start: ${names}`);
    }, serverNoticeMs);
    try {
      await mcp.ready(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearTimeout(notice);
      for (const text of mcp.takeNotices()) notify(text);
    }
    const next = withServerTools(permissions, mcp.tools());
    const isSame = JSON.stringify(next.specs) === JSON.stringify(tools.specs);
    // What is the same to the model stays so to the byte, whatever process is behind it.
    tools = isSame ? { specs: tools.specs, load: next.load } : next;
    const says = mcp.instructions();
    if (isSame && says === instructions) return;
    instructions = says;
    system = makeSystem();
  }

  return { system: () => system, tools: () => tools, update };
}
