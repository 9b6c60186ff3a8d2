import { Schema } from "effect"

/** The words of a response that has another form than expected. */
export const unreadable = "an invalid response"

/**
 * Returns only an error's message, because the error object of a failed request contains the macaroon, and that
 * of an invalid response may contain a preimage. If an error only wraps its cause, returns the cause's message.
 */
export const wordsOf = (problem: unknown): string => {
  if (typeof problem === "string") return problem
  if (Schema.isSchemaError(problem)) return unreadable
  if (!(problem instanceof Error)) return "an error without a message"
  const inner: unknown =
    "reason" in problem && problem.reason instanceof Error ? problem.reason : problem.cause
  if (inner !== undefined) return wordsOf(inner)
  return "code" in problem && typeof problem.code === "string" && !problem.message.includes(problem.code)
    ? `${problem.code}: ${problem.message}`
    : problem.message
}
