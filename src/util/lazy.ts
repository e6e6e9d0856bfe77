// Values that are made when they are first asked for.

/** Gives what `make` gives, and calls it at most once; should it throw, the next call tries again. */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
