import { Schema } from "effect"

/**
 * What went wrong, in words alone: a failed request has the secret in it, and an answer that is not understood may have a preimage.
 * The words of an error that only says what it was caused by are its cause's.
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
