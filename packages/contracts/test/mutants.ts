import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, type Layer } from "effect"
import { Patience } from "../src/Eventually.ts"

/** Mutants of a port by name, each with the guarantees that it must break. */
export type Mutants<R, E, Promise extends string> = {
  readonly [who: string]: readonly [mutant: Layer.Layer<R, E>, broken: ReadonlyArray<Promise>]
}

// A mutant never reaches the expected state, so don't wait long for it.
const impatient = { tries: 20, spacedMillis: 5 }

/**
 * Creates one test for each mutant and guarantee. The unchanged port must provide the guarantee, and the mutant
 * must break it.
 */
export const bites = <R, E, Promise extends string>(
  port: string,
  promises: { readonly [promise in Promise]: Effect.Effect<void, unknown, NoInfer<R>> },
  sound: Layer.Layer<R, E>,
  mutants: Mutants<R, E, Promise>
): void => {
  describe(`the ${port} contract detects mutants`, () => {
    for (const [who, [mutant, broken]] of Object.entries(mutants)) {
      for (const promise of broken) {
        const outcome = (layer: Layer.Layer<R, E>) =>
          Effect.exit(
            Effect.provideService(
              Effect.provide(promises[promise], layer, { local: true }),
              Patience,
              impatient
            )
          )
        it.live(`${port} contract: ${who} breaks: ${promise}`, () =>
          Effect.gen(function* () {
            assert.isTrue(
              Exit.isSuccess(yield* outcome(sound)),
              "without the defect, the guarantee must hold"
            )
            assert.isTrue(Exit.isFailure(yield* outcome(mutant)), "with the defect, the guarantee must fail")
          })
        )
      }
    }
  })
}
