import * as Random from "./Random.ts"

/**
 * The crash tests, the tests that send secrets, and the mutants have thousands of cases, and one run of the gate
 * has time for only a third of them. The gate sets SATRAIL_TEST_TURN to the number of commits, which determines
 * which third is run. If the variable is not set, all cases are run.
 */
const turn = process.env["SATRAIL_TEST_TURN"]

/** Returns whether this run includes the case with this number. */
export const isInTurn = (number: number): boolean => turn === undefined || Random.derived(Number(turn), number) % 3 === 0
