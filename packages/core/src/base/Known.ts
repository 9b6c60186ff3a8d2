import { Effect } from "effect"

/**
 * How long a process goes on with what it read about an API key and its company's plan, so that a busy caller's every request does not ask the
 * store. A Change that closes a key or changes its permissions is answered only when that time is over, everywhere.
 */
export const knownMillis = 200

// Two processes' clocks do not run at exactly the same speed.
const marginMillis = 50

/** Returns when no process goes by what was so before. */
export const everywhere = Effect.sleep(knownMillis + marginMillis)
