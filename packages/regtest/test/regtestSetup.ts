import { Effect, Exit, Layer, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as Network from "../src/Network.ts"
import * as Real from "../src/Real.ts"
import * as Shared from "../src/Shared.ts"

/** Before the first test that needs it the network is started; after the last it ends. Where it cannot be started, every test that needs it fails, and says why. */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (!Real.isHere(["btcd", "lnd"])) return undefined
  const scope = Scope.makeUnsafe()
  const start = Effect.flatMap(Layer.buildWithScope(Network.layer, scope), (network) =>
    Effect.provideContext(Scope.provide(Shared.lend, scope), network)
  )
  const place = Effect.match(start, { onSuccess: (place) => place, onFailure: ({ message }) => ({ failed: message }) })
  project.provide("regtest", await Effect.runPromise(place))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
