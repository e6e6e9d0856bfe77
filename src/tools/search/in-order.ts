// Slow steps for many items, some at a time, with their results in the items' order.

/** Each item with what `work` made of it, or the error it threw. At most `atOnce` are under way or waiting to be taken. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<readonly [Item, Result | Error]> {
  const begin = (item: Item) =>
    work(item).catch((error: unknown) => (error instanceof Error ? error : new Error(`${error}`)));
  const waiting: Promise<Result | Error>[] = [];
  let next = 0;
  for (const item of items) {
    while (next < items.length && waiting.length < atOnce) waiting.push(begin(items[next++]!));
    const result = await waiting.shift()!;
    yield [item, result];
  }
}
