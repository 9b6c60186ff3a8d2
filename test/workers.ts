import { availableParallelism } from "node:os"

/** How many test files run at once: vitest by itself leaves one core free, which of two is half the machine. More than eight gain nothing here. */
export const workers = Math.min(availableParallelism(), 8)
