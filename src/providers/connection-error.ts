// The error of a connection that broke while the answer came.
import { AppError } from "../util/error.ts";
import { plainReason } from "../util/plain-reason.ts";

export function connectionLost(error: unknown, hide?: (text: string) => string): AppError {
  return new AppError("network", `The connection broke during the answer: ${plainReason(error, hide)}`, {
    retryable: true,
    cause: error,
  });
}
