import { Effect } from "effect"
import * as Binaries from "../src/Binaries.ts"
import * as Real from "../src/Real.ts"

/**
 * Before the first test that needs them, downloads bitcoind if it is missing, and builds the Lightning nodes
 * that use it. If there is no bitcoind, logs the reason, and the tests are skipped.
 */
export const setup = async (): Promise<void> => {
  if (!(await Real.isMade("bitcoind")) || !Real.isHere(["lnd", "ldk"])) return
  for (const name of ["ldk", "lnd"] as const) await Effect.runPromise(Binaries.ensure(name))
}
