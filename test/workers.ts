import { availableParallelism } from "node:os"

/**
 * The number of concurrent test files: one more than there are cores, because some tests wait. More than eight
 * gain nothing here. The gate runs three sets of tests concurrently, and their waits overlap.
 */
export const workers = Math.min(
  availableParallelism() + (process.env["SATRAIL_TEST_TURN"] === undefined ? 1 : 0),
  8
)
