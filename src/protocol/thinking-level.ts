// The names of the thinking levels, free of schemas: the configuration checks a flag against them at every start.

/** How hard a model is asked to think, from none to the most it can. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
