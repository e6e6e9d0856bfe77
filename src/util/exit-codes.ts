// Exit codes of a program that a signal ended: 128 and the signal's number, which is the same on every system for these.
export const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
