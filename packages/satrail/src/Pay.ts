import type { Consumer, OnOptions } from "@satrail/client/Consumers"
import type { Schemas } from "@satrail/client/Schemas"
import type { Layer, ManagedRuntime } from "effect"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type * as Events from "./Events.ts"
import type { Handler } from "./Handler.ts"
import type { Method } from "./Method.ts"
import type { Methods } from "./Methods.ts"
import type { Sats } from "./Money.ts"
import type { Provided } from "./Nouns.ts"

/** Named strings that callers attach to invoices, addresses, checkouts and withdrawals. */
export type Metadata = Readonly<Record<string, string>>

export type { Consumer, OnOptions }

export interface EventsOptions {
  /**
   * The id of the event after which to begin, or `"now"`. Defaults to the oldest stored event.
   */
  readonly after?: string
  /** Only events of this company. */
  readonly company?: string | { readonly id: string }
}

/** The service that runs in this process. */
export interface Pay<M extends Metadata | Schemas = Metadata> extends Methods<M> {
  /**
   * Handles every event of a type at least once and in order per record, even after a crash. If a handler
   * throws, it is retried at growing intervals, while other records' events and other handlers continue. If
   * several processes share a database, only one of them handles events at a time.
   *
   * @example
   * pay.on("deposit.settled", async (event) => ship(event.data.metadata.order), { name: "shipping" })
   */
  readonly on: <T extends Events.EventType>(
    type: T | ReadonlyArray<T>,
    handler: (event: { readonly [K in T]: Events.Event<K, M> }[T]) => unknown,
    options?: OnOptions
  ) => Consumer
  /**
   * Yields every event, oldest first, and then new events as they happen. Store the `id` of the last event that
   * you handled and pass it as `after`.
   *
   * @example
   * for await (const event of pay.events({ after })) console.log(event.type, event.subject)
   */
  readonly events: (options?: EventsOptions) => AsyncIterable<Events.AnyEvent<M>>
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

type Simulated<M> = {
  readonly [K in Exclude<keyof Sandbox.Sandbox["Service"], "pay" | "state">]: Method<
    Sandbox.Sandbox["Service"][K],
    undefined,
    M
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
export interface Outside<M = Metadata> extends Simulated<M> {
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
  readonly outside: Outside<M>
}
