import type * as Msat from "@satrail/bitcoin/Msat"
import type { CompanyRef } from "@satrail/client/Calls"
import type { OperatorClient } from "@satrail/client/Client"
import type { Money, Sats } from "@satrail/client/Plain"
import type { Schemas } from "@satrail/client/Schemas"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Satrail from "@satrail/service/core/Satrail"
import type { Effect, Layer, ManagedRuntime } from "effect"
import type { Handler } from "@satrail/server/serving/Handler"

/** Named strings that callers attach to invoices, addresses, checkouts and withdrawals. */
export type Metadata = Readonly<Record<string, string>>

/** The services that `Satrail.layer` provides. */
type Provided = Layer.Success<ReturnType<typeof Satrail.layer>>

/** A value that JSON can represent. */
export type Json =
  | string
  | number
  | boolean
  | null
  | undefined
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }

/** The service that runs in this process. */
export interface Pay<M extends Metadata | Schemas = Metadata> extends OperatorClient<M> {
  /**
   * Runs `work` once for each key of a company, and returns its result. A repetition within 30 days gets the stored
   * result; concurrent calls wait for it, also in other processes. If `work` throws, or its process dies, the next call
   * runs it, so pass the key on to what must not happen twice. The result is stored as JSON, not encrypted, at most
   * 65,536 bytes. `key` has 1 to 255 visible ASCII characters.
   *
   * @example
   * const shipment = await pay.once(shop, invoice.paymentHash, () => ship(order))
   */
  readonly once: <A extends Json>(company: CompanyRef, key: string, work: () => A | Promise<A>) => Promise<A>
  /**
   * Serves the HTTP API, payment pages and the console for a web `Request` or for Node's request and
   * response.
   *
   * @example
   * app.use("/pay", pay.handler)
   */
  readonly handler: Handler
  /** Finishes running work, including the handlers of `on`, which must not await it, and stops. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
  /** Runs Effect programs with these services. */
  readonly runtime: ManagedRuntime.ManagedRuntime<Provided, never>
  /** The services, for use in an Effect program. */
  readonly layer: Layer.Layer<Provided>
}

/** A duration: milliseconds, or a string such as `"1 hour"`. */
export type Span = number | `${number} ${"second" | "minute" | "hour" | "day"}${"" | "s"}`

/** The clock of the service and of its simulated network. */
export interface Clock {
  readonly now: () => Date
  /**
   * Advances the clock, which expires invoices and wakes the scheduled work that becomes due. Wait for its
   * events to see what it did.
   *
   * @example
   * await pay.clock.advance("1 hour")
   */
  readonly advance: (span: Span) => Promise<Date>
}

/** A value of the sandbox with amounts as `Money`. */
type Shown<T> = T extends Msat.Msat
  ? Money
  : T extends string
    ? string
    : T extends ReadonlyArray<infer A>
      ? ReadonlyArray<Shown<A>>
      : T extends object
        ? { readonly [K in keyof T]: Shown<T[K]> }
        : T

/** A request to the sandbox with amounts as in all methods. */
type Given<T> = T extends Msat.Msat
  ? Sats
  : T extends string & { readonly "~effect/Brand": unknown }
    ? string
    : T extends object
      ? { readonly [K in keyof T]: Given<T[K]> }
      : T

type Called<F> =
  F extends Effect.Effect<infer A, unknown>
    ? () => Promise<Shown<A>>
    : F extends (...asked: infer Asked) => Effect.Effect<infer A, unknown>
      ? (...asked: { [K in keyof Asked]: Given<Asked[K]> }) => Promise<Shown<A>>
      : never

type Simulated = {
  readonly [K in Exclude<keyof Sandbox.Sandbox["Service"], "pay" | "state">]: Called<
    Sandbox.Sandbox["Service"][K]
  >
}

export interface PayOptions {
  readonly amount?: Sats
  readonly hold?: boolean
}

/**
 * The other parties on the simulated network. As in all methods, amounts in requests are satoshis or a `Money`
 * from a response, and amounts in responses are `{ msat, sats }`.
 */
export interface Outside extends Simulated {
  /**
   * Pays an invoice from an external wallet. If this service issued the invoice, the payment has been credited
   * when this returns, or is held if it is a hold invoice.
   *
   * @example
   * await pay.outside.pay(invoice)
   */
  readonly pay: {
    (
      invoice: string | { readonly paymentRequest: string },
      options?: PayOptions
    ): Promise<{ readonly paymentHash: string; readonly preimage: string | null }>
    /**
     * Pays an address on-chain and mines six blocks. If this service issued the address, the payment has been
     * credited when this returns.
     *
     * @example
     * await pay.outside.pay(address, "0.001 btc")
     */
    (
      address: string | { readonly address: string },
      amount: Sats | `${number} ${"btc" | "sats"}`
    ): Promise<{ readonly txId: string }>
  }
}

/** The service on a simulated network. */
export interface SimulatedPay<M extends Metadata | Schemas = Metadata> extends Pay<M> {
  readonly clock: Clock
  readonly outside: Outside
}
