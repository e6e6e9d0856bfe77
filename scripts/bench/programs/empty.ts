// The floor of start-up: a compiled program that does nothing.
export {};
