import { Effect, Exit, Layer, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as Network from "../src/Network.ts"
import * as Real from "../src/Real.ts"
import * as Shared from "../src/Shared.ts"

/** Before the first test that needs it the network is started; after the last it ends. */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (!Real.isHere(["btcd", "lnd"])) return undefined
  const scope = Scope.makeUnsafe()
  const network = await Effect.runPromise(Layer.buildWithScope(Network.layer, scope))
  project.provide("regtest", await Effect.runPromise(Effect.provideContext(Scope.provide(Shared.lend, scope), network)))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
