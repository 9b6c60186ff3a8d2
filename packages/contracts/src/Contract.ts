import { it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

/** What a port promises, in sentences, each with the program that fails when the promise is broken. */
export type Promises<R> = Readonly<Record<string, Effect.Effect<void, unknown, R>>>

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
    } = {}
  ): void =>
    // Real time: an adapter's driver, pool or server has clocks of its own.
    it.layer(layer, { excludeTestServices: true })(`${port} (${name})`, (it) => {
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.money))
        it.effect(title(port, promise), () => check)
      for (const [promise, check] of Object.entries<Effect.Effect<void, unknown, R>>(promises.other)) {
        const reason = options.skip?.[promise]
        if (reason === undefined) it.effect(title(port, promise), () => check)
        else it.effect.skip(`${title(port, promise)} (skipped: ${reason})`, () => check)
      }
    })
