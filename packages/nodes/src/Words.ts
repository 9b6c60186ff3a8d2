import { Schema } from "effect"

/**
 * Returns an error's message only, because a failed request contains the secret, and an invalid response may
 * contain a preimage. If an error only wraps its cause, returns the cause's message.
 */
export const wordsOf = (problem: unknown): string => {
  if (typeof problem === "string") return problem
  if (Schema.isSchemaError(problem)) return "an answer that the node does not give"
  if (!(problem instanceof Error)) return "an error without words"
  const inner: unknown = "reason" in problem && problem.reason instanceof Error ? problem.reason : problem.cause
  if (inner !== undefined) return wordsOf(inner)
  return "code" in problem && typeof problem.code === "string" && !problem.message.includes(problem.code)
    ? `${problem.code}: ${problem.message}`
    : problem.message
}
