import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Fiber, Layer, Metric, Option } from "effect"
import * as Measure from "../base/Measure.ts"
import { isYoung } from "../base/ReadCache.ts"
import type { Words } from "../base/Outage.ts"
import { type Capacity, LightningBooks } from "./LightningBooks.ts"

/** Time for which the node's response is cached. The node is never queried more often. */
export const keptMillis = 10_000
/** Timeout of a query to the node. */
export const answerMillis = 2000
/** Liquidity is low if it is below 1/`littleShare` of the total channel capacity. */
export const littleShare = 10n

/**
 * A problem with the channels that an operator should fix. The service keeps running, because on-chain
 * payments do not need channels.
 */
export interface Warning extends Required<Words> {
  readonly code:
    | "no_active_channel"
    | "inbound_low"
    | "outbound_low"
    | "channels_inactive"
    | "channels_force_closing"
}

const warning = (code: Warning["code"], reason: string, remedy: string): Warning => ({ code, reason, remedy })

const warnings = {
  none: warning(
    "no_active_channel",
    "the Lightning node has no active channel, so Lightning payments can be neither sent nor received",
    "Open a channel, and have one opened to your node."
  ),
  inbound: warning(
    "inbound_low",
    "the channels can receive less than a tenth of their capacity, so larger Lightning invoices cannot be paid",
    "Have a channel opened to your node, or send payments through your channels."
  ),
  outbound: warning(
    "outbound_low",
    "the channels can send less than a tenth of their capacity, so larger Lightning withdrawals fail",
    "Open a channel, or receive payments through your channels."
  ),
  inactive: warning(
    "channels_inactive",
    "some Lightning channels are inactive",
    "Check whether their peers are online. Close the channels of a peer that does not return."
  ),
  forced: warning(
    "channels_force_closing",
    "a Lightning channel is being force-closed",
    "Keep the node online until the money is back in its wallet, and find the cause in the node's log."
  )
} as const

/** Returns warnings for this state of the channels. */
export const judge = ({ outgoing, incoming, channels }: Capacity): ReadonlyArray<Warning> => {
  const isUsable = channels === undefined || channels.active > 0
  const all = Msat.sum(outgoing, incoming)
  return [
    ...(isUsable ? [] : [warnings.none]),
    ...(isUsable && incoming * littleShare < all ? [warnings.inbound] : []),
    ...(isUsable && outgoing * littleShare < all ? [warnings.outbound] : []),
    ...(channels !== undefined && channels.inactive > 0 ? [warnings.inactive] : []),
    ...(channels !== undefined && channels.forceClosing > 0 ? [warnings.forced] : [])
  ]
}

const gauges = {
  channels: Measure.gauge("satrail_channels", "Lightning channels by state", ["status"]),
  capacity: Measure.gauge(
    "satrail_channel_sats",
    "Total that the Lightning channels can send (outgoing) and receive (incoming)",
    ["side"]
  )
}
const beyond = Measure.counter(
  "satrail_invoices_beyond_inbound_total",
  "Lightning invoices issued for more than the channels could receive at that moment"
)({})

const measured = Effect.fnUntraced(function* ({ outgoing, incoming, channels }: Capacity) {
  yield* Metric.update(gauges.capacity({ side: "outgoing" }), Msat.toDecimalSats(outgoing))
  yield* Metric.update(gauges.capacity({ side: "incoming" }), Msat.toDecimalSats(incoming))
  if (channels === undefined) return
  const { forceClosing, ...others } = channels
  for (const [status, count] of Object.entries({ ...others, force_closing: forceClosing }))
    yield* Metric.update(gauges.channels({ status }), count)
})

/** Reports the state of the node's channels. */
export class Channels extends Context.Service<
  Channels,
  {
    /** null if unknown, because the node did not respond in time or provides no statement. */
    readonly now: Effect.Effect<Capacity | null>
    /** Empty if the state is unknown. */
    readonly warnings: Effect.Effect<ReadonlyArray<Warning>>
    /**
     * Logs a warning if the channels cannot receive this amount. Called after an invoice is issued. Does not
     * block.
     */
    readonly issued: (amount: Msat.Msat) => Effect.Effect<void>
  }
>()("@satrail/core/nodes/Channels") {}

export const make = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const books = yield* Effect.serviceOption(LightningBooks)
  let newest: { readonly fiber: Fiber.Fiber<Capacity | null>; readonly beganMillis: number } | undefined
  let told: ReadonlyArray<Warning> = []
  let isBeyond = false
  // Prometheus sees no increase in a counter that begins at 1.
  yield* Metric.update(beyond, 0)

  const logged = Effect.fnUntraced(function* (found: ReadonlyArray<Warning>) {
    const [begun, over] = [
      found.filter((one) => !told.includes(one)),
      told.filter((one) => !found.includes(one))
    ]
    told = found
    for (const { reason, remedy } of begun) yield* Effect.logWarning(`channels: ${reason}. ${remedy}`)
    for (const { reason } of over) yield* Effect.logInfo(`channels: resolved: ${reason}`)
  })

  const ask = Option.match(books, {
    onNone: () => Effect.succeed(null),
    onSome: ({ capacity }) =>
      capacity.pipe(
        Effect.timeoutOption(answerMillis),
        Effect.catch(() => Effect.succeedNone), // the adapter reports the outage itself
        Effect.map(Option.getOrNull),
        Effect.tap((found) =>
          found === null ? Effect.void : Effect.andThen(measured(found), logged(judge(found)))
        )
      )
  })

  // Run in a separate fiber, so that an interrupted caller does not cancel the query for the others.
  const now = Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    if (newest === undefined || !isYoung(newest.beganMillis, nowMillis, keptMillis)) {
      newest = { fiber: yield* Effect.forkIn(ask, scope), beganMillis: nowMillis }
    }
    return yield* Fiber.join(newest.fiber)
  })

  const issued = Effect.fnUntraced(function* (amount: Msat.Msat) {
    const found = yield* now
    if (found === null) return
    const receivable = found.channels?.active === 0 ? Msat.zero : found.incoming
    const wasBeyond = isBeyond
    isBeyond = amount > receivable
    if (!isBeyond) return
    yield* Metric.update(beyond, 1)
    if (wasBeyond) return
    yield* Effect.logWarning(
      "invoice: cannot be paid over the network, because the channels can receive less. Have a channel opened to your node.",
      {
        amount_sats: Msat.toDecimalSats(amount),
        receivable_sats: Msat.toDecimalSats(receivable)
      }
    )
  })

  return Channels.of({
    now,
    warnings: Effect.map(now, (found) => (found === null ? [] : judge(found))),
    issued: (amount) =>
      Option.isNone(books) ? Effect.void : Effect.asVoid(Effect.forkIn(issued(amount), scope))
  })
})

export const layer = Layer.effect(Channels, make)
