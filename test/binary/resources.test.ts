// Prompt templates and skills with the compiled binary: in every mode, and a project's only when it is trusted.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { connect } from "../helpers/rpc-client.ts";
import { runCli } from "../helpers/run-cli.ts";
import { plant } from "../helpers/tree.ts";

const hello: Reply = { turn: { text: "Hello." } };
const skill = "---\nname: pdf\ndescription: Work with PDFs\n---\nUse pdftotext.\n";

function place() {
  return plant({
    "home/.pi-ts/prompts/review.md": "Review $1.",
    "home/.pi-ts/skills/pdf/SKILL.md": skill,
    "work/.pi-ts/prompts/own.md": "The project's own.",
    "work/.pi-ts/skills/build/SKILL.md": "---\nname: build\ndescription: Build it\n---\nRun make.\n",
  });
}

test("RPC mode lists them, expands them, and the model may read a skill without asking", async () => {
  await using dir = place();
  const path = dir.file("home/.pi-ts/skills/pdf/SKILL.md");
  const reads: Reply = { turn: { calls: [{ id: "r", name: "read", arguments: { path } }] } };
  await using setup = await connect(
    [reads, hello, hello, hello],
    { home: dir.file("home"), cwd: dir.file("work") },
    [],
  );
  const { rpc, server } = setup;
  const { commands } = await rpc.ask("get_commands");
  expect(commands).toEqual([
    {
      name: "review",
      description: "Review $1.",
      source: "prompt",
      sourceInfo: {
        path: dir.file("home/.pi-ts/prompts/review.md"),
        source: "local",
        scope: "user",
        origin: "top-level",
      },
    },
    {
      name: "skill:pdf",
      description: "Work with PDFs",
      source: "skill",
      sourceInfo: { path, source: "local", scope: "user", origin: "top-level" },
    },
  ]);
  await rpc.prompt("/review parser.ts");
  expect(server.requests[0]?.body.messages[0].content).toContain(`- pdf: Work with PDFs (${path})`);
  expect(server.requests[0]?.body.messages[1].content).toBe("Review parser.ts.");
  expect(server.requests[1]?.body.messages.at(-1).content).toContain("Use pdftotext.");
  await rpc.prompt("/skill:pdf read a.pdf");
  expect(server.requests[2]?.body.messages.at(-1).content).toMatch(/Use pdftotext\..*read a\.pdf$/s);
  await rpc.prompt("/unknown thing");
  expect(server.requests[3]?.body.messages.at(-1).content).toBe("/unknown thing");
});

test("a project's count when it is trusted, and a one-shot run expands them too", async () => {
  await using dir = place();
  await using server = await startReplayServer([hello, hello]);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: server.url };
  const options = { env, home: dir.file("home"), cwd: dir.file("work") };
  for (const args of [
    ["-p", "/own"],
    ["-p", "--trust-project", "/own"],
  ])
    await runCli(args, options);
  const [plain, trusted] = server.requests.map(({ body }) => body.messages);
  expect(plain[1].content).toBe("/own");
  expect(plain[0].content).not.toContain("Build it");
  expect(trusted[1].content).toBe("The project's own.");
  expect(trusted[0].content).toContain("- build: Build it");
});

test("a one-shot task that begins like a command that there is not is told to be text", async () => {
  await using dir = place();
  await using server = await startReplayServer(() => hello);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: server.url };
  const options = { env, home: dir.file("home"), cwd: dir.file("work") };
  writeFileSync(dir.file("work/notes.md"), "");
  const own = (file: string) => `the project's ${dir.file(`work/.pi-ts/${file}`)} counts only when trusted`;
  const trial = "(--trust-project does, for one run)";
  const told: [task: string, notice: string | undefined][] = [
    ["/reviw parser.ts", "There is no prompt template or command /reviw; it is sent as text. Did you mean /review?"],
    ["/Überblick", "There is no prompt template or command /Überblick; it is sent as text"],
    ["/skill:unheard-of", "There is no skill /skill:unheard-of; it is sent as text"],
    ["/own\nand more", `/own is sent as text: ${own("prompts/own.md")} ${trial}`],
    ["/skill:build", `/skill:build is sent as text: ${own("skills/build/SKILL.md")} ${trial}`],
    ["/compact", "/compact is a command of conversations in a terminal; here it is sent as text"],
    ["/review parser.ts", undefined],
    ["/usr/bin/unknown", undefined],
    ["/etc/hosts explain", undefined],
    ["/tmp is full", undefined],
    ["/tmp: what is in there?", undefined],
    ["/notes.md is old", undefined],
    [`/${"long".repeat(30)} word`, undefined],
    ["/ is full", undefined],
    [" /unknown", undefined],
  ];
  for (const mode of ["text", "json"]) {
    const runs = told.map(async ([task]) => {
      const { stderr, code } = await runCli(["--mode", mode, "--no-session", task], options);
      return [task, code, /^warning: (.*)$/m.exec(stderr)?.[1]];
    });
    expect(await Promise.all(runs)).toEqual(told.map(([task, notice]) => [task, 0, notice]));
  }
  expect(await runCli(["-p", "--quiet", "/unknown"], options)).toMatchObject({ stderr: "", code: 0 });
  const trusted = await runCli(["-p", "--no-session", "--trust-project", "/own"], options);
  expect(trusted).toMatchObject({ stderr: "", code: 0 });
});
