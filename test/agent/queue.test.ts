import { expect, test } from "bun:test";
import { createQueue, type QueueState } from "../../src/agent/queue.ts";

test("messages are due one at a time or all at once, and every change is told", () => {
  const changes: QueueState[] = [];
  const queue = createQueue((state) => changes.push(state));
  queue.add("steering", "a");
  queue.add("steering", "b");
  queue.add("followUp", "c");
  expect([queue.due("steering"), queue.due("followUp"), queue.size()]).toEqual([1, 1, 3]);
  queue.setMode("steering", "all");
  expect(queue.due("steering")).toBe(2);
  expect(queue.take("steering")?.content).toEqual([{ type: "text", text: "a" }]);
  expect(queue.clear()).toEqual({ steering: ["b"], followUp: ["c"] });
  expect(queue.take("steering")).toBeUndefined();
  expect(changes).toEqual([
    { steering: ["a"], followUp: [] },
    { steering: ["a", "b"], followUp: [] },
    { steering: ["a", "b"], followUp: ["c"] },
    { steering: ["b"], followUp: ["c"] },
    { steering: [], followUp: [] },
  ]);
});
