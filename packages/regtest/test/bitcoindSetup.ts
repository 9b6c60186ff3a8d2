import { Effect } from "effect"
import * as Binaries from "../src/Binaries.ts"
import * as Real from "../src/Real.ts"

/**
 * Before the first test that needs them: bitcoind is fetched where it was not yet, and the Lightning nodes on it are built. Without bitcoind a line says why, and
 * its tests are skipped.
 */
export const setup = async (): Promise<void> => {
  if (!(await Real.isMade("bitcoind")) || !Real.isHere(["lnd", "ldk"])) return
  for (const name of ["ldk", "lnd"] as const) await Effect.runPromise(Binaries.ensure(name))
}
