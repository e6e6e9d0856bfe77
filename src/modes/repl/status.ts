// The status line while a run is on: what it waits for, for how long, and the tokens it has cost so far.
import type { AgentEvent } from "../../protocol/event.ts";
import { now } from "../../util/clock.ts";
import { visibleLine } from "../../util/sanitize.ts";
import { cutStart, cutToWidth } from "../layout.ts";
import { describeCall } from "../show.ts";
import type { Style } from "../style.ts";
import type { Screen } from "./screen.ts";

export interface Status {
  /** Begins with a run; `model` is whom it waits for, behind servers that are still starting. */
  start(model: string, serversFirst: boolean): void;
  follow(event: AgentEvent): void;
  /** While a person is asked; the time does not count. */
  pause(): void;
  resume(): void;
  stop(): void;
  /** What was typed meanwhile has changed; it is shown at once. */
  type(): void;
  /** Milliseconds in which a person was asked since the last tool began. */
  askedMs(): number;
}

/** The least time between two redraws. */
const redrawMs = 250;
/** How long an answer may stand still in the middle of a line before the status line shows up under it. */
const stallMs = 1500;
const frames = ["|", "/", "-", "\\"];
const inputMark = "  > ";

export interface StatusOptions {
  /** Otherwise it only keeps the time. */
  readonly enabled: boolean;
  /** What was typed since the run began, in one line; it waits for the run's end. */
  typed(): string;
}

export function createStatus(screen: Screen, style: Style, { enabled, typed }: StatusOptions): Status {
  let model = "";
  let activity = "";
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = -Infinity;
  let frame = 0;
  let running = false;
  /** What runs is a compaction that the user asked for, outside of any run. */
  let compacting = false;
  let pausedAt: number | undefined;
  let asked = 0;
  /** Tokens of finished answers, and the characters of the one that is coming. */
  let input = 0;
  let output = 0;
  let characters = 0;

  function schedule(): void {
    if (timer !== undefined || !running || pausedAt !== undefined) return;
    timer = setTimeout(draw, Math.max(0, drawnAt + redrawMs - now())).unref();
  }

  function draw(): void {
    show(screen.atLineStart || screen.quietMs > stallMs);
  }

  function show(fits: boolean): void {
    timer = undefined;
    if (fits) screen.showStatus(compose());
    drawnAt = now();
    frame++;
    schedule();
  }

  function compose(): string {
    const seconds = Math.floor((now() - since - asked) / 1000);
    const written = output + Math.round(characters / 4);
    const tokens = [input > 0 ? `${shortCount(input)} in` : "", written > 0 ? `${shortCount(written)} out` : ""];
    const tail = ["", `${seconds} s`, ...tokens].filter((part, i) => i === 0 || part !== "").join("  ");
    const columns = screen.columns - 4;
    const text = typed();
    const besides = text === "" ? 0 : Math.min(Bun.stringWidth(text), Math.floor(columns / 2)) + inputMark.length;
    const room = columns - Bun.stringWidth(tail) - besides;
    const line = cutToWidth(`${cutToWidth(activity, Math.max(8, room))}${tail}`, columns);
    const rest = columns - Bun.stringWidth(line) - inputMark.length;
    const shown = text === "" || rest < 1 ? "" : `${inputMark}${cutStart(text, rest)}`;
    return `${style.cyan(frames[frame % frames.length] ?? "")} ${style.dim(line)}${shown}`;
  }

  function wait(what: string): void {
    if (what === activity) return;
    activity = what;
    since = now();
    asked = 0;
    schedule();
  }

  function halt(): void {
    clearTimeout(timer);
    timer = undefined;
    screen.hideStatus();
  }

  function follow(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
        wait(`waiting for ${model}`);
        return;
      case "message_update": {
        const step = event.assistantMessageEvent;
        if ("delta" in step) characters += step.delta.length;
        if (step.type === "text_start") wait(`${model} is answering`);
        else if (step.type === "thinking_start") wait(`${model} is thinking`);
        else if (step.type === "toolcall_start") wait(`preparing ${visibleLine(step.toolName)}`);
        return;
      }
      case "message_end":
        if (event.message.role !== "assistant") return;
        input += event.message.usage.totalTokens - event.message.usage.output;
        output += event.message.usage.output || Math.round(characters / 4);
        characters = 0;
        return;
      case "tool_execution_start":
        // A call like the one before is waited for anew.
        activity = "";
        wait(describeCall(event.toolName, event.args));
        return;
      case "auto_retry_start":
        wait("waiting to try again");
        return;
      case "tool_execution_end":
        wait("going on");
        return;
      case "compaction_start":
        if (!running) begin();
        compacting = event.reason === "manual";
        wait("compacting the conversation");
        return;
      case "compaction_end":
        if (compacting) stop();
        else wait(`waiting for ${model}`);
        return;
    }
  }

  function begin(): void {
    running = enabled;
    activity = "";
    input = output = characters = 0;
  }

  function stop(): void {
    running = compacting = false;
    pausedAt = undefined;
    halt();
  }

  return {
    start(name, serversFirst) {
      begin();
      model = visibleLine(name);
      wait(`waiting for ${serversFirst ? "MCP servers" : model}`);
    },
    follow,
    pause() {
      pausedAt ??= now();
      halt();
    },
    resume() {
      if (pausedAt !== undefined) asked += now() - pausedAt;
      pausedAt = undefined;
      schedule();
    },
    stop,
    type() {
      if (!running || pausedAt !== undefined) return;
      clearTimeout(timer);
      show(true);
    },
    askedMs: () => asked,
  };
}

/** `950`, `1.2k`, `34k`, `1.2M`. */
function shortCount(count: number): string {
  if (count < 1000) return `${count}`;
  const [value, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}
