// What the model gets of the results of MCP tools.
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { McpToolSpec } from "../helpers/mcp-peer.ts";
import { call, type McpRun, type McpRunOptions, runWithServers } from "../helpers/mcp-run.ts";
import { mcpServer } from "../helpers/mcp-server.ts";
import { makePng } from "../helpers/png.ts";
import { tmp } from "../helpers/tmp.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

type Json = Record<string, unknown>;

const text = (words: string) => ({ type: "text", text: words });
const blob = Buffer.from("x".repeat(3000)).toString("base64");
const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

/** The tools of one server, each with its answer; all are called in one run. */
const tools = {
  structured: { result: { content: [], structuredContent: { temperature: 22.5, sky: ["blue"] } } },
  without_content: { result: { structuredContent: { n: 1 } } },
  twice: { result: { content: [text('{ "temperature": 22.5 }')], structuredContent: { temperature: 22.5 } } },
  beside: { result: { content: [text("It took 10 s, true to plan")], structuredContent: { count: 1, done: true } } },
  only_text: { outputSchema, result: { content: [text("only text")] } },
  wrong_type: { outputSchema, result: { content: [], structuredContent: { n: "seven" } } },
  failed: { result: { content: [text("no such city")], isError: true } },
  failed_silently: { result: { content: [], isError: true } },
  refused: { act: { kind: "error", code: -32602, message: "city is missing" } },
  embedded: {
    result: { content: [{ type: "resource", resource: { uri: "file:///notes.md", text: "# Notes" } }] },
  },
  named: {
    result: {
      content: [
        { type: "resource", resource: { uri: "file:///a.zip", mimeType: "application/zip", blob } },
        { type: "resource_link", uri: "file:///b.csv", name: "b.csv", description: "the numbers" },
        { type: "audio", mimeType: "audio/wav", data: blob },
      ],
    },
  },
  several: { result: { content: [text("one"), text("two")] } },
  empty: { result: { content: [] } },
  unknown_kind: { result: { content: [{ type: "hologram", data: blob }, text("the rest")] } },
  no_picture: { result: { content: [{ type: "image", mimeType: "image/png", data: "bm90IGEgcGljdHVyZQ==" }] } },
  no_base64: { result: { content: [{ type: "image", mimeType: "image/png", data: "%%%" }] } },
  no_data: { result: { content: [{ type: "image", mimeType: "image/png" }] } },
} satisfies Record<string, Omit<McpToolSpec, "name">>;

describe("the model is told", () => {
  const names = Object.keys(tools) as (keyof typeof tools)[];
  let run: McpRun;
  const told = (name: keyof typeof tools) => run.told[names.indexOf(name)] ?? "";

  beforeAll(async () => {
    run = await runWithServers({
      servers: { s: mcpServer({ tools: names.map((name) => ({ name, ...tools[name] })) }) },
      turns: [names.map((name) => call(`mcp__s__${name}`))],
    });
  });

  test("structured content as JSON when there is nothing else", () => {
    expect(JSON.parse(told("structured"))).toEqual({ temperature: 22.5, sky: ["blue"] });
    expect(JSON.parse(told("without_content"))).toEqual({ n: 1 });
  });

  test("structured content once when the text says the same", () => {
    expect(told("twice").match(/22\.5/g)).toHaveLength(1);
  });

  test("structured content too when the text only seems to say the same", () => {
    expect(told("beside")).toContain("It took 10 s");
    expect(told("beside")).toMatch(/"count": ?1\b/);
  });

  test("structured content also when it is not as the tool promised, and text in its place", () => {
    expect(told("only_text")).toBe("only text");
    expect(told("wrong_type")).toContain("seven");
  });

  test("a failure as one, with the server's words or without", () => {
    expect(told("failed")).toBe("Error: no such city");
    expect(told("failed_silently")).toStartWith("Error: ");
    expect(told("refused")).toStartWith("Error: ");
    expect(told("refused")).toContain("city is missing");
  });

  test("a resource's text, or a short line with its address, and never base64", () => {
    expect(told("embedded")).toContain("# Notes");
    for (const part of ["file:///a.zip", "application/zip", "3000 bytes", "file:///b.csv", "audio/wav"]) {
      expect(told("named")).toContain(part);
    }
    expect(told("named").length).toBeLessThan(500);
    expect(run.requests[1]?.text).not.toContain(blob.slice(0, 100));
  });

  test("several texts apart and in order", () => {
    expect(told("several")).toBe("one\ntwo");
  });

  test("that there is nothing, where there is nothing", () => {
    expect(told("empty")).not.toBe("");
  });

  test("of a kind of content that nobody knows yet its name, and all the rest", () => {
    expect(told("unknown_kind")).toContain("hologram");
    expect(told("unknown_kind")).toContain("the rest");
  });

  test("of a picture that is none a short line, so that no provider refuses the conversation", () => {
    for (const name of ["no_picture", "no_base64", "no_data"] as const) {
      expect(told(name)).toContain("image/png");
      expect(told(name).length).toBeLessThan(200);
    }
    expect(run.requests[1]?.text).not.toContain("data:image");
  });
});

/** Calls a tool whose answer is in a file; gives the run, and what the model was told as text. */
async function resultOf(content: readonly Json[], options: McpRunOptions = {}) {
  await using dir = tmp();
  writeFileSync(dir.file("result.json"), JSON.stringify({ content }));
  const run = await runWithServers({
    servers: { s: mcpServer({ tools: [{ name: "t", resultFile: dir.file("result.json") }] }) },
    turns: [[call("mcp__s__t")]],
    ...options,
  });
  expect(run.code).toBe(0);
  return { ...run, text: run.told[0] ?? "" };
}

/** A picture of a megabyte, since noise does not get smaller. */
function bigPicture(): string {
  const [width, height] = [600, 1700];
  const pixels = new Uint8Array((width + 1) * height);
  let state = 1;
  for (let i = 0; i < pixels.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    pixels[i] = i % (width + 1) === 0 ? 0 : state >>> 24;
  }
  return Buffer.from(makePng(width, height, pixels)).toString("base64");
}

describe("a picture of a megabyte", () => {
  const data = bigPicture();
  const content = [text("a chart"), { type: "image", mimeType: "image/png", data }];

  test("is a picture for a model that takes them", async () => {
    expect(data.length).toBeGreaterThan(1_000_000);
    const { text, requests } = await resultOf(content);
    expect(text).toContain("a chart");
    expect(text.length).toBeLessThan(500);
    const images = requests[1]?.body.messages.flatMap((message: Json) =>
      Array.isArray(message.content) ? message.content.filter(({ type }: Json) => type === "image_url") : [],
    );
    expect(images).toHaveLength(1);
    expect(images[0].image_url.url).toMatch(/^data:image\/\w+;base64,/);
  });

  test("is a short line for another model, and its bytes are never text", async () => {
    const { text, requests } = await resultOf(content, {
      config: { providers: { openai: { models: [{ id: "text-only", input: ["text"] }] } } },
      flags: ["-p", "--yolo", "--model", "text-only"],
    });
    expect(text).toContain("a chart");
    expect(text).toContain("image/png");
    expect(text.length).toBeLessThan(500);
    expect(requests[1]?.text).not.toContain(data.slice(5000, 5100));
    expect(requests[1]?.text.length).toBeLessThan(100_000);
  });
});

test("a long text is cut like that of any tool", async () => {
  const { text: told } = await resultOf([text(`begin${"x".repeat(300_000)}`)], {
    flags: ["-p", "--yolo", "--max-tool-output", "1000"],
  });
  expect(told).toStartWith("begin");
  expect(told.length).toBeLessThan(1300);
});

test("a failed result is one for programs too", async () => {
  const { stdout } = await runWithServers({
    servers: { s: mcpServer({ tools: [{ name: "t", ...tools.failed }] }) },
    turns: [[call("mcp__s__t")]],
    flags: ["--mode", "json", "--yolo"],
  });
  const records = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(records.find(({ type }) => type === "tool_execution_end")).toMatchObject({
    toolName: "mcp__s__t",
    isError: true,
  });
});
