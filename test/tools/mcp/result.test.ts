// Answers of servers as results for the model, without any server.
import { describe, expect, test } from "bun:test";
import { toToolOutput } from "../../../src/tools/mcp/result.ts";
import { makePng } from "../../helpers/png.ts";

const sees = { acceptsImages: true, maxOutput: 1000 };
const blind = { acceptsImages: false, maxOutput: 1000 };
const text = (value: string) => ({ type: "text", text: value });
const data = Buffer.from(makePng(2, 2)).toString("base64");

describe("structured content", () => {
  test.each([
    ["its JSON, spaced in another way", [text('{ "n" : 1 }')], { n: 1 }],
    ["the one result that it wraps", [text("hello")], { result: "hello" }],
    ["the one text that it wraps, whatever it calls it", [text("# Notes\n")], { content: "# Notes\n" }],
    ["a number that it wraps", [text("5")], { result: 5 }],
    ["the parts of a list that it wraps", [text("a"), text("b")], { result: ["a", "b"] }],
    ["the JSON of a list that it wraps", [text('[{"a":1}]')], { result: [{ a: 1 }] }],
  ])("is not told again beside %s", async (_, content, structuredContent) => {
    const { text: told } = await toToolOutput({ content, structuredContent }, sees);
    expect(told).toBe(content.map((block) => block.text).join("\n"));
  });

  test.each([
    ["other words", [text("done")], { n: 1 }],
    ["a text that only holds its values", [text("10 of 10")], { n: 10 }],
    ["one of two results", [text("a")], { result: ["a", "b"] }],
    ["an empty list", [text("nothing found")], { result: [] }],
  ])("is told beside %s", async (_, content, structuredContent) => {
    const { text: told, structuredContent: kept } = await toToolOutput({ content, structuredContent }, sees);
    expect(told).toStartWith(`${content[0]?.text}\n{`);
    expect(told).toEndWith(JSON.stringify(structuredContent, null, 2));
    expect(kept).toEqual(structuredContent);
  });
});

describe("a picture", () => {
  test("comes with a line that says what it is", async () => {
    const output = await toToolOutput({ content: [{ type: "image", mimeType: "image/png", data }] }, sees);
    expect(output.images).toEqual([{ type: "image", mimeType: "image/png", data }]);
    expect(output.text).toContain("2x2");
  });

  test("of a resource is one too", async () => {
    const resource = { uri: "img://1", mimeType: "image/png", blob: data };
    const output = await toToolOutput({ content: [{ type: "resource", resource }] }, sees);
    expect(output.images).toHaveLength(1);
    expect(output.text).toStartWith("[resource img://1]");
  });

  test("is the line alone for a model that takes none", async () => {
    const output = await toToolOutput({ content: [{ type: "image", mimeType: "image/png", data }] }, blind);
    expect(output.images).toBeUndefined();
    expect(output.text).toContain("takes no images");
  });

  test("too many are counted", async () => {
    const content = Array.from({ length: 20 }, () => ({ type: "image", mimeType: "image/png", data }));
    const output = await toToolOutput({ content }, sees);
    expect(output.images).toHaveLength(16);
    expect(output.text).toEndWith("[4 more images, not shown]");
  });
});

test.each([
  ["nothing", {}, "(no output)", undefined],
  ["a failure without words", { isError: true }, "Error: the tool failed and did not say why", true],
  ["a failure", { isError: true, content: [text("no")] }, "Error: no", true],
  [
    "blocks that are none",
    { content: [null, 7, { type: "text" }, text("rest")] },
    "[content that is no object]\n[content that is no object]\nrest",
    undefined,
  ],
])("%s has words", async (_, result, told, isError) => {
  const output = await toToolOutput(result, sees);
  expect({ text: output.text, isError: output.isError }).toEqual({ text: told, isError });
});
