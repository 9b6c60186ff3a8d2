import { Effect, Exit, Layer, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as Network from "../src/Network.ts"
import * as Real from "../src/Real.ts"
import * as Shared from "../src/Shared.ts"

/**
 * Starts the network before the first test that needs it, and stops it after the last one. If it cannot start,
 * every test that needs it fails with the reason.
 */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (!Real.isHere(["btcd", "lnd"])) return undefined
  const scope = Scope.makeUnsafe()
  const start = Effect.flatMap(Layer.buildWithScope(Network.layer, scope), (network) =>
    Effect.provideContext(Scope.provide(Shared.lend, scope), network)
  )
  const place = Effect.match(start, {
    onSuccess: (place) => place,
    onFailure: ({ message }) => ({ failed: message })
  })
  project.provide("regtest", await Effect.runPromise(place))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
