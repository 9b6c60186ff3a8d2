import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Patience } from "../src/Eventually.ts"
import * as Peers from "../../sandbox/test/Peers.ts"

/** The sandbox as it should be, with the other side of every contract. */
export const sound = Layer.provideMerge(Peers.layer, Sandbox.layer({ seed: "bite", network: "regtest" }))
type Sound = Layer.Success<typeof sound>

/** The same with one port spoiled. The other side is not. */
export const sabotage = <I extends Sound, S extends object>(
  port: Context.Key<I, S>,
  spoil: (port: S, sandbox: Sandbox.Sandbox["Service"]) => Partial<S>
): Layer.Layer<Sound, Sandbox.LogUnusable> =>
  Layer.provide(
    Layer.effectContext(
      Effect.map(Effect.context<Sound>(), (context): Context.Context<Sound> => {
        const service = Context.get(context, port)
        return Context.add(context, port, { ...service, ...spoil(service, Context.get(context, Sandbox.Sandbox)) })
      })
    ),
    sound
  )

// A spoiled layer never comes so far: no use in waiting long for it.
const impatient = { tries: 20, spacedMillis: 5 }

/** Spoiled layers, each with promises that it must break, and that the layer as it should be keeps. */
export const bites = <R extends Sound, Promise extends string>(
  port: string,
  promises: { readonly [promise in Promise]: Effect.Effect<void, unknown, R> },
  spoiled: { readonly [who: string]: readonly [Layer.Layer<Sound, Sandbox.LogUnusable>, ReadonlyArray<Promise>] }
): void => {
  describe(`the ${port} contract bites`, () => {
    for (const [who, [layer, broken]] of Object.entries(spoiled)) {
      for (const promise of broken) {
        const check: Effect.Effect<void, unknown, Sound> = promises[promise]
        const outcome = (layer: Layer.Layer<Sound, Sandbox.LogUnusable>) =>
          Effect.exit(Effect.provideService(Effect.provide(check, layer, { local: true }), Patience, impatient))
        it.live(`${port} contract: ${who} breaks: ${promise}`, () =>
          Effect.gen(function* () {
            assert.isTrue(Exit.isSuccess(yield* outcome(sound)), "nothing is spoiled, and it is kept")
            assert.isTrue(Exit.isFailure(yield* outcome(layer)), "it is spoiled, and it is broken")
          })
        )
      }
    }
  })
}
