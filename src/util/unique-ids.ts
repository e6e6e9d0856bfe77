// Ids that nothing else has.

/** Gives `wanted` back the first time and a numbered form of it (`wanted_2`, …) afterwards. */
export function createUniqueIds(taken: Iterable<string> = []): (wanted: string) => string {
  const used = new Set(taken);
  return (wanted) => {
    const id = numbered(wanted, (form) => used.has(form));
    used.add(id);
    return id;
  };
}

/** `wanted`, or the first numbered form of it that is free. */
export function numbered(wanted: string, isTaken: (form: string) => boolean): string {
  let id = wanted;
  for (let n = 2; isTaken(id); n++) id = `${wanted}_${n}`;
  return id;
}
