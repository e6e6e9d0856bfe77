// Calling what a program has handed in: what it throws is the program's own uncaught error, and keeps nothing else from being told.

export function guarded<Argument>(listener: (argument: Argument) => void, argument: Argument): void {
  try {
    listener(argument);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
