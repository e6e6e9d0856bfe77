import { describe, expect, test } from "bun:test";
import { endGroup, killAllGroups, killGroup, liveGroups, spawnGroup } from "../../src/util/process-group.ts";
import { waitUntil } from "../helpers/wait-until.ts";

function start(script: string) {
  return spawnGroup(["bash", "-c", script], { cwd: "/", env: process.env, output: "pipe" });
}

/** Resolves when the child has printed something; `ended` then does when no member holds its output any more. */
async function ready(child: ReturnType<typeof start>): Promise<{ text: string; ended: () => Promise<void> }> {
  const reader = child.stdout?.getReader();
  const { value } = (await reader?.read()) ?? {};
  return {
    text: new TextDecoder().decode(value),
    async ended() {
      while (!(await reader?.read())?.done);
    },
  };
}

test("a child leads its own group and session", async () => {
  const child = start("ps -o pgid=,sid= -p $$");
  expect((await ready(child)).text.trim().split(/\s+/)).toEqual([`${child.pid}`, `${child.pid}`]);
  expect(await child.exited).toEqual({ code: 0, signal: undefined });
});

describe("a signal", () => {
  test("reaches every member", async () => {
    const child = start("sleep 300 & echo ready; wait");
    const { ended } = await ready(child);
    expect(killGroup(child.pid, "SIGKILL")).toBe(true);
    expect(await child.exited).toEqual({ code: 137, signal: "SIGKILL" });
    await ended();
  });

  test.each([
    ["our own group", process.pid],
    ["our parent's", process.ppid],
    ["all processes", 1],
    ["our group by its other name", 0],
    ["the other way round", -1],
  ])("is never sent to a group we did not start: %s", (_, pid) => {
    expect(killGroup(pid, "SIGKILL")).toBe(false);
  });

  test("is never sent to a child that was started some other way", async () => {
    const other = Bun.spawn(["sleep", "300"], { detached: true, stdio: ["ignore", "ignore", "ignore"] });
    expect(killGroup(other.pid, "SIGKILL")).toBe(false);
    other.kill("SIGKILL");
    expect(await other.exited).toBe(137);
  });
});

describe("ending a group", () => {
  test("leaves it the time to end by itself", async () => {
    const child = start("trap 'exit 7' TERM; echo ready; while :; do :; done");
    await ready(child);
    await endGroup(child.pid, 3000);
    expect(await child.exited).toEqual({ code: 7, signal: undefined });
  });

  test("makes a group end that does not want to", async () => {
    const child = start("trap '' TERM; echo ready; while :; do :; done");
    await ready(child);
    await endGroup(child.pid, 50);
    expect(await child.exited).toEqual({ code: 137, signal: "SIGKILL" });
  });

  test("reaches members whose leader is gone", async () => {
    const child = start("trap '' TERM; (echo ready; while :; do sleep 0.01; done) & true");
    const { ended } = await ready(child);
    await child.exited;
    expect(liveGroups()).toContain(child.pid);
    await endGroup(child.pid, 50);
    await ended();
  });
});

test("killing all groups is done when the call returns, and can be repeated", async () => {
  const children = [start("echo ready; sleep 300"), start("trap '' TERM; echo ready; sleep 300 & wait")];
  await Promise.all(children.map(ready));
  killAllGroups();
  killAllGroups();
  expect(await Promise.all(children.map(({ exited }) => exited))).toEqual([
    { code: 137, signal: "SIGKILL" },
    { code: 137, signal: "SIGKILL" },
  ]);
});

test("a group is forgotten when its last member is gone", async () => {
  const child = start("true");
  await child.exited;
  await waitUntil(() => !liveGroups().includes(child.pid), "the group is empty");
  expect(killGroup(child.pid, "SIGKILL")).toBe(false);
});

test("a program that cannot be started throws and leaves no group", () => {
  const before = liveGroups();
  expect(() => spawnGroup(["/nowhere/at-all"], { cwd: "/", env: {}, output: "pipe" })).toThrow("ENOENT");
  expect(liveGroups()).toEqual(before);
});
