import { it } from "@effect/vitest"
import { Cause, Context, Effect, type Layer } from "effect"

/** A port's guarantees. Each pairs a sentence with a test that fails if the guarantee is broken. */
export type Promises<R> = Readonly<Record<string, Effect.Effect<void, unknown, R>>>

/** Callback for each feature that a layer lacks. */
const Noted = Context.Reference<(lack: string) => void>("@satrail/contracts/Contract/Noted", {
  defaultValue: () => () => undefined
})

/**
 * Records a feature that this layer lacks, so that the feature's guarantee isn't counted as kept. The feature
 * is listed under `lacks` in the test's metadata, which is part of vitest's JSON report.
 */
export const lacks = (lack: string): Effect.Effect<void> => Effect.map(Noted, (note) => note(lack))

/** Runs an effect while the connection to the peer is cut, and always restores the connection afterward. */
export const withoutWire = <A, E, R>(
  { cut, mend }: { readonly cut: Effect.Effect<void, unknown>; readonly mend: Effect.Effect<void, unknown> },
  use: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    cut,
    () => use,
    () => Effect.orDie(mend)
  )

/**
 * Returns the title of a guarantee's test: the incidents that it prevents, the port, and the guarantee. The
 * title is readable on its own.
 */
const title = (port: string, promise: string) =>
  promise.replace(/^(?:(?:C\d+ )*C\d+: )?/, (incidents) => `${incidents}${port}: `)

/**
 * Returns a suite that tests any layer against a port's guarantees. A guarantee in `other` may be skipped for a
 * stated reason. A guarantee in `money` cannot be skipped, because breaking it loses or creates money.
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
       * Matches errors caused by an unreliable environment, such as a network that loses messages. After such
       * an error, the test runs once more from the beginning.
       */
      readonly again?: RegExp
    } = {}
  ): void =>
    // Use real time, because an adapter's driver, pool or server reads its own clock.
    it.layer(layer, { excludeTestServices: true })(`${port} (${name})`, (it) => {
      const told = (check: Effect.Effect<void, unknown, R>) =>
        Effect.catchCause(check, (cause) => {
          const error = Cause.squash(cause)
          return error instanceof Error && options.again?.test(error.message) === true
            ? check
            : Effect.failCause(cause)
        })
      const holds = (promise: string, check: Effect.Effect<void, unknown, R>) =>
        it.effect(title(port, promise), ({ task }) =>
          Effect.provideService(told(check), Noted, (lacks) => Object.assign(task.meta, { lacks }))
        )
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.money))
        holds(promise, check)
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.other)) {
        const reason = options.skip?.[promise]
        if (reason === undefined) holds(promise, check)
        else it.effect.skip(`${title(port, promise)} (skipped: ${reason})`, () => check)
      }
    })
