// The version of the session format, free of schemas: the store writes it at every start.

/** The version that is written; files of versions 1 and 2 are migrated when they are opened. */
export const sessionVersion = 3;
