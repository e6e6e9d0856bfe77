/** The variables of a process, or of one to come. */
export type Environment = Readonly<Record<string, string | undefined>>;
