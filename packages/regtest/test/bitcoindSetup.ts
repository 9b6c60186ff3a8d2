import * as Real from "../src/Real.ts"

/** Before the first test that needs it: bitcoind is fetched where it was not yet. Without it a line says why, and its tests are skipped. */
export const setup = async (): Promise<void> => {
  await Real.isMade("bitcoind")
}
