// Ids that are free in a conversation or an answer.

/** Gives `wanted` back the first time and a numbered form of it (`wanted_2`, …) afterwards. */
export function createUniqueIds(taken: Iterable<string> = []): (wanted: string) => string {
  const used = new Set(taken);
  return (wanted) => {
    let id = wanted;
    for (let n = 2; used.has(id); n++) id = `${wanted}_${n}`;
    used.add(id);
    return id;
  };
}
