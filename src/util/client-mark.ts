/** In the environment of an agent that the SDK starts: the id of the client's process, by which an agent sees that nobody is there any more. */
export const clientMark = "PI_TS_CLIENT_PID";
