import { availableParallelism } from "node:os"

/**
 * The number of concurrent test files. By default vitest leaves one core free, which is half of a machine
 * with two. More than eight gain nothing here.
 */
export const workers = Math.min(availableParallelism(), 8)
