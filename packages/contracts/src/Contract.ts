import { it } from "@effect/vitest"
import { Cause, Context, Effect, type Layer } from "effect"

/** What a port promises, in sentences, each with the program that fails when the promise is broken. */
export type Promises<R> = Readonly<Record<string, Effect.Effect<void, unknown, R>>>

/** Is told what a layer lacks, as it says itself. */
const Noted = Context.Reference<(lack: string) => void>("@satrail/contracts/Contract/Noted", { defaultValue: () => () => undefined })

/**
 * Notes with the test what this layer lacks, as it says itself, so that a promise that it cannot keep is not taken for a kept one: `lacks` in the test's meta
 * data, which vitest's JSON report has.
 */
export const lacks = (lack: string): Effect.Effect<void> => Effect.map(Noted, (note) => note(lack))

/** Does something with the wire to the other side cut. It is mended again however that ends. */
export const withoutWire = <A, E, R>(
  { cut, mend }: { readonly cut: Effect.Effect<void, unknown>; readonly mend: Effect.Effect<void, unknown> },
  use: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    cut,
    () => use,
    () => Effect.orDie(mend)
  )

/** What a test of a promise is called, so that it can be read alone: the incidents that it prevents, the port, the promise. */
const title = (port: string, promise: string) => promise.replace(/^(?:(?:C\d+ )*C\d+: )?/, (incidents) => `${incidents}${port}: `)

/**
 * A suite that holds any layer to a port's promises. A promise of `other` may be skipped, for a reason given in words;
 * one of `money` cannot be: breaking it loses a customer's money or makes some up.
 */
export const suite =
  <R, Money extends Promises<R>, Other extends Promises<R>>(
    port: string,
    promises: {
      readonly money: Money
      readonly other: Other
    }
  ) =>
  <E>(
    name: string,
    layer: Layer.Layer<R, E>,
    options: {
      readonly skip?: { readonly [promise in keyof Other]?: string }
      /**
       * What goes wrong between the layer and others now and then, by what a test says of it then: a network that loses messages. The promise is told once more,
       * from its beginning.
       */
      readonly again?: RegExp
    } = {}
  ): void =>
    // Real time: an adapter's driver, pool or server has clocks of its own.
    it.layer(layer, { excludeTestServices: true })(`${port} (${name})`, (it) => {
      const told = (check: Effect.Effect<void, unknown, R>) =>
        Effect.catchCause(check, (cause) => {
          const error = Cause.squash(cause)
          return error instanceof Error && options.again?.test(error.message) === true ? check : Effect.failCause(cause)
        })
      const holds = (promise: string, check: Effect.Effect<void, unknown, R>) =>
        it.effect(title(port, promise), ({ task }) =>
          Effect.provideService(told(check), Noted, (lacks) => Object.assign(task.meta, { lacks }))
        )
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.money)) holds(promise, check)
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.other)) {
        const reason = options.skip?.[promise]
        if (reason === undefined) holds(promise, check)
        else it.effect.skip(`${title(port, promise)} (skipped: ${reason})`, () => check)
      }
    })
