/**
 * Every crash test has hundreds of cases, and one run of the gate has time for a third of them: it sets
 * SATRAIL_TEST_TURN to the number of commits, so that three commits in a row run them all. Without the
 * variable, each run has all cases.
 */
const turn = process.env["SATRAIL_TEST_TURN"]

/** Whether this run includes the case with this number. */
export const isInTurn = (number: number): boolean => turn === undefined || number % 3 === Number(turn) % 3
