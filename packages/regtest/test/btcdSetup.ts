import { Effect } from "effect"
import * as Binaries from "../src/Binaries.ts"
import * as Real from "../src/Real.ts"

/** Before the first test that needs btcd, builds it if it is missing. */
export const setup = async (): Promise<void> => {
  if (Real.isHere(["btcd"])) await Effect.runPromise(Binaries.ensure("btcd"))
}
