import * as Random from "./Random.ts"

/**
 * The crash tests, the tests that send secrets, and the mutants have thousands of cases, and one run of the gate
 * has time for only an eighth of them. Some other tests take turns too: those that show the same promise on another
 * installation, such as another framework, and those that close a channel in another way. The gate sets
 * SATRAIL_TEST_TURN to the number of commits, which determines what is run. If the variable is not set,
 * everything is run.
 */
const turn = process.env["SATRAIL_TEST_TURN"]

/** Returns whether this run includes the case with this number. */
export const isInTurn = (number: number): boolean =>
  turn === undefined || Random.derived(Number(turn), number) % 8 === 0

/** Returns whether it is the turn of this group of `groups`, which take turns from run to run. */
export const isTurnOf = (group: number, groups: number): boolean =>
  turn === undefined || Number(turn) % groups === group % groups
