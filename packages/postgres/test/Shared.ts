import { afterAll } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"

/** Builds a layer once for all suites of a test file and closes it after them. */
export const shared = async <A, E>(layer: Layer.Layer<A, E>): Promise<Layer.Layer<A>> => {
  const scope = Effect.runSync(Scope.make())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Layer.succeedContext(await Effect.runPromise(Layer.buildWithScope(layer, scope)))
}
