import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import type { FailureReason } from "@satrail/core/nodes/LightningSender"
import { HashMap, Option } from "effect"
import type { Behaviour, Hop, LightningEvent } from "./Event.ts"
import * as Network from "./Network.ts"

/**
 * An invoice of a service, either ours or the neighbor's. An `accepted` payment is held along `hops` and can
 * still settle or fail. The invoice's text is derived instead of stored, because under load a sandbox has a
 * hundred thousand invoices.
 */
export interface Invoice extends Omit<
  Extract<LightningEvent, { readonly _tag: "InvoiceIssued" }>,
  "_tag" | "node"
> {
  readonly node: string
  readonly stage:
    | { readonly _tag: "open" }
    | { readonly _tag: "canceled" }
    | { readonly _tag: "accepted"; readonly hops: ReadonlyArray<Hop>; readonly endsAtHeight: number | null }
    | {
        readonly _tag: "settled"
        readonly received: Msat.Msat
        readonly atMillis: number
        /** Set if the node does not derive the preimage. */
        readonly preimage: Preimage.Preimage | undefined
      }
}

/** An external invoice, and the amount actually received for it. */
export interface PayeeInvoice {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly paymentRequest: string
  readonly payee: string
  /** Number of the external invoice, from which its preimage is derived. */
  readonly number: number
  readonly amount: Msat.Msat | null
  readonly behaviour: Behaviour
  readonly expiresAtMillis: number
  readonly times: number
  readonly received: Msat.Msat
}

/** A payment as its sending node stores it. */
export interface Sent {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly index: number
  readonly amount: Msat.Msat
  readonly fee: Msat.Msat
  readonly hops: ReadonlyArray<Hop>
  readonly stage:
    | { readonly _tag: "pending" }
    | { readonly _tag: "settled" }
    | { readonly _tag: "failed"; readonly reason: FailureReason }
}

/** Prefix of the invoice ids that our node creates for payments of our offers. */
export const ofOffer = "offer/"

/** An external offer. */
export type Offer = Omit<Extract<LightningEvent, { readonly _tag: "OfferPublished" }>, "_tag" | "offer">

/** An attempt to pay an offer, as the paying node stores it. */
export type Tried = Pick<
  Extract<LightningEvent, { readonly _tag: "OfferTried" }>,
  "offer" | "paymentHash" | "reason"
>

export interface State {
  readonly channels: HashMap.HashMap<string, Network.Balance>
  readonly invoices: HashMap.HashMap<PaymentHash.PaymentHash, Invoice>
  /** Settled invoices, keyed by settle index and by notification. A lost notification has no entry. */
  readonly settled: HashMap.HashMap<number, PaymentHash.PaymentHash>
  readonly notices: HashMap.HashMap<number, PaymentHash.PaymentHash>
  readonly settleIndex: number
  readonly losesNextNotice: boolean
  readonly payeeInvoices: HashMap.HashMap<PaymentHash.PaymentHash, PayeeInvoice>
  readonly payeeInvoiceCount: number
  /** Keyed by text. */
  readonly offers: HashMap.HashMap<string, Offer>
  /** Keyed by node and attempt. */
  readonly tried: HashMap.HashMap<string, Tried>
  /** Attempts that received an invoice, keyed by node and payment hash. */
  readonly attempts: HashMap.HashMap<string, string>
  /** Keyed by node and payment hash. */
  readonly sent: HashMap.HashMap<string, Sent>
  readonly sentCount: number
  /** The latest payments to become final (node and payment hash), by number. */
  readonly ends: HashMap.HashMap<number, readonly [node: string, paymentHash: PaymentHash.PaymentHash]>
  readonly endCount: number
  /** The held payments in both directions: accepted invoices and pending payments. */
  readonly held: HashMap.HashMap<string, Held>
  /** The last day on which unpaid invoices were deleted, as a number of days since 1970. */
  readonly sweptDay: number
}

/** A payment in flight, either `in` (to a service) or `out` (from a service). */
export interface Held {
  readonly direction: "in" | "out"
  readonly node: string
  readonly paymentHash: PaymentHash.PaymentHash
  readonly amount: Msat.Msat
}

/** Number of final payments kept for subscribers. */
const keptEnds = 1000

/** Number of days for which an unpaid invoice is kept after its expiry. Services stop polling it after one day. */
export const keptDays = 7

/** A network without payments. */
export const begin = (random: (channel: string) => number): State => ({
  channels: HashMap.fromIterable(Network.initial(random)),
  invoices: HashMap.empty(),
  settled: HashMap.empty(),
  notices: HashMap.empty(),
  settleIndex: 0,
  losesNextNotice: false,
  payeeInvoices: HashMap.empty(),
  payeeInvoiceCount: 0,
  offers: HashMap.empty(),
  tried: HashMap.empty(),
  attempts: HashMap.empty(),
  sent: HashMap.empty(),
  sentCount: 0,
  ends: HashMap.empty(),
  endCount: 0,
  held: HashMap.empty(),
  sweptDay: 0
})

export const balances =
  (state: State): Network.Balances =>
  (channel) =>
    HashMap.getUnsafe(state.channels, channel)

/** Returns the amount that the last hop delivers. */
export const delivered = (hops: ReadonlyArray<Hop>): Msat.Msat => hops.at(-1)?.amount ?? Msat.zero

type Side = (hop: Hop) => "a" | "b"
const sender: Side = (hop) => hop.from

const move = (state: State, hops: ReadonlyArray<Hop>, side: Side, sign: 1n | -1n): State["channels"] =>
  hops.reduce((channels, hop) => {
    const balance = HashMap.getUnsafe(channels, hop.channel)
    const end = side(hop)
    return HashMap.set(channels, hop.channel, {
      ...balance,
      [end]: Msat.make(balance[end] + sign * hop.amount)
    })
  }, state.channels)

/**
 * While in flight, an amount belongs to no node. Afterward it belongs to the hop's receiver, or returns to its
 * sender.
 */
const lock = (state: State, hops: ReadonlyArray<Hop>) => move(state, hops, sender, -1n)
const deliver = (state: State, hops: ReadonlyArray<Hop>) => move(state, hops, Network.receiving, 1n)
const giveBack = (state: State, hops: ReadonlyArray<Hop>) => move(state, hops, sender, 1n)

const open = { _tag: "open" } as const

const staged = (
  state: State,
  paymentHash: PaymentHash.PaymentHash,
  stage: Invoice["stage"]
): State["invoices"] => HashMap.modify(state.invoices, paymentHash, (invoice) => ({ ...invoice, stage }))

const heldHops = ({ stage }: Invoice): ReadonlyArray<Hop> => (stage._tag === "accepted" ? stage.hops : [])

const paidOnce = (
  state: State,
  paymentHash: PaymentHash.PaymentHash,
  amount: Msat.Msat
): State["payeeInvoices"] =>
  HashMap.modify(state.payeeInvoices, paymentHash, (one) => ({
    ...one,
    times: one.times + 1,
    received: Msat.sum(one.received, amount)
  }))

const sentAt = ({
  node = Network.us,
  paymentHash
}: {
  readonly node?: string
  readonly paymentHash: PaymentHash.PaymentHash
}): string => `${node}/${paymentHash}`

const heldIn = (paymentHash: PaymentHash.PaymentHash): string => `in/${paymentHash}`
const heldOut = (event: Parameters<typeof sentAt>[0]): string => `out/${sentAt(event)}`

const withEnd = (
  state: State,
  {
    node = Network.us,
    paymentHash
  }: { readonly node?: string; readonly paymentHash: PaymentHash.PaymentHash }
): State => {
  const endCount = state.endCount + 1
  return {
    ...state,
    endCount,
    ends: HashMap.set(HashMap.remove(state.ends, endCount - keptEnds), endCount, [node, paymentHash])
  }
}

/** Deletes unpaid invoices once a day. Like all state, the result depends only on the events. */
const swept = (state: State, nowMillis: number): State => {
  const day = Math.floor(nowMillis / 86_400_000)
  if (day <= state.sweptDay) return state
  const longAgoMillis = nowMillis - keptDays * 86_400_000
  const isUnpaid = ({ stage }: Invoice) => stage._tag === "open" || stage._tag === "canceled"
  const isPending = (paymentHash: PaymentHash.PaymentHash) =>
    Network.services.some((node) => HashMap.has(state.held, heldOut({ node, paymentHash })))
  return {
    ...state,
    sweptDay: day,
    invoices: HashMap.filter(
      state.invoices,
      (one) => !isUnpaid(one) || Bolt11.expiresAtSeconds(one) * 1000 > longAgoMillis
    ),
    payeeInvoices: HashMap.filter(
      state.payeeInvoices,
      ({ times, expiresAtMillis, paymentHash }) =>
        times > 0 || expiresAtMillis > longAgoMillis || isPending(paymentHash)
    )
  }
}

/** Applies an event, which must have been decided on this state. */
export const apply = (state: State, event: LightningEvent): State => {
  switch (event._tag) {
    case "InvoiceIssued":
      return applied(swept(state, event.timestampSeconds * 1000), event)
    case "PaymentBegun":
      return paid(swept(state, event.atMillis), event)
    case "PaymentSettled":
    case "PaymentFailed":
      return paid(state, event)
    case "OfferPublished":
    case "OfferTried":
      return offered(state, event)
    default:
      return applied(state, event)
  }
}

type OfOffer = Extract<LightningEvent, { readonly _tag: "OfferPublished" | "OfferTried" }>
type OfPayment = Extract<
  LightningEvent,
  { readonly _tag: "PaymentBegun" | "PaymentSettled" | "PaymentFailed" }
>

const paid = (state: State, event: OfPayment): State => {
  switch (event._tag) {
    case "PaymentBegun": {
      const { paymentHash, amount, fee, hops } = event
      const index = state.sentCount + 1
      return {
        ...state,
        channels: lock(state, hops),
        sent: HashMap.set(state.sent, sentAt(event), {
          paymentHash,
          index,
          amount,
          fee,
          hops,
          stage: { _tag: "pending" }
        }),
        sentCount: index,
        held: HashMap.set(state.held, heldOut(event), {
          direction: "out",
          node: event.node ?? Network.us,
          paymentHash,
          amount
        })
      }
    }
    case "PaymentSettled": {
      const one = HashMap.getUnsafe(state.sent, sentAt(event))
      return {
        ...withEnd(state, event),
        channels: deliver(state, one.hops),
        sent: HashMap.set(state.sent, sentAt(event), { ...one, stage: { _tag: "settled" } }),
        held: HashMap.remove(state.held, heldOut(event)),
        payeeInvoices: paidOnce(state, event.paymentHash, delivered(one.hops))
      }
    }
    case "PaymentFailed": {
      const one = HashMap.getUnsafe(state.sent, sentAt(event))
      return {
        ...withEnd(state, event),
        channels: giveBack(state, one.hops),
        sent: HashMap.set(state.sent, sentAt(event), {
          ...one,
          stage: { _tag: "failed", reason: event.reason }
        }),
        held: HashMap.remove(state.held, heldOut(event))
      }
    }
  }
}

const offered = (state: State, event: OfOffer): State => {
  if (event._tag === "OfferPublished") {
    const { _tag: _, offer, ...rest } = event
    return { ...state, offers: HashMap.set(state.offers, offer, rest) }
  }
  const { node = Network.us, attempt, offer, paymentHash, reason } = event
  return {
    ...state,
    tried: HashMap.set(state.tried, `${node}/${attempt}`, { offer, paymentHash, reason }),
    attempts:
      paymentHash === null
        ? state.attempts
        : HashMap.set(state.attempts, sentAt({ node, paymentHash }), attempt)
  }
}

const applied = (state: State, event: Exclude<LightningEvent, OfOffer | OfPayment>): State => {
  switch (event._tag) {
    case "InvoiceIssued": {
      const { _tag: _, node = Network.us, ...invoice } = event
      return {
        ...state,
        invoices: HashMap.set(state.invoices, invoice.paymentHash, { ...invoice, node, stage: open })
      }
    }
    case "InvoiceAccepted":
      return {
        ...state,
        channels: lock(state, event.hops),
        invoices: staged(state, event.paymentHash, {
          _tag: "accepted",
          hops: event.hops,
          endsAtHeight: event.endsAtHeight ?? null
        }),
        held: HashMap.set(state.held, heldIn(event.paymentHash), {
          direction: "in",
          node: HashMap.getUnsafe(state.invoices, event.paymentHash).node,
          paymentHash: event.paymentHash,
          amount: delivered(event.hops)
        })
      }
    case "InvoiceReleased": {
      const hops = heldHops(HashMap.getUnsafe(state.invoices, event.paymentHash))
      return {
        ...state,
        channels: giveBack(state, hops),
        invoices: staged(state, event.paymentHash, open),
        held: HashMap.remove(state.held, heldIn(event.paymentHash))
      }
    }
    case "InvoiceSettled": {
      const invoice = HashMap.getUnsafe(state.invoices, event.paymentHash)
      const hops = heldHops(invoice)
      const settleIndex = state.settleIndex + 1
      // Only the notification reports a payment of an offer, so such a notification is never lost.
      const isLost = state.losesNextNotice && !invoice.id.startsWith(ofOffer)
      return {
        ...state,
        channels: deliver(state, hops),
        invoices: staged(state, event.paymentHash, {
          _tag: "settled",
          received: delivered(hops),
          atMillis: event.atMillis,
          preimage: event.preimage
        }),
        held: HashMap.remove(state.held, heldIn(event.paymentHash)),
        settleIndex,
        settled: HashMap.set(state.settled, settleIndex, event.paymentHash),
        notices: isLost ? state.notices : HashMap.set(state.notices, settleIndex, event.paymentHash),
        losesNextNotice: state.losesNextNotice && !isLost
      }
    }
    case "InvoiceCanceled":
      return { ...state, invoices: staged(state, event.paymentHash, { _tag: "canceled" }) }
    case "NoticeLossOrdered":
      return { ...state, losesNextNotice: true }
    case "PayeeInvoiced": {
      const { _tag: _, ...invoice } = event
      return {
        ...state,
        payeeInvoices: HashMap.set(state.payeeInvoices, invoice.paymentHash, {
          ...invoice,
          times: 0,
          received: Msat.zero
        }),
        // A compacted log contains fewer invoices.
        payeeInvoiceCount: Math.max(state.payeeInvoiceCount, invoice.number) + 1
      }
    }
    case "PayeePaid": {
      const locked = { ...state, channels: lock(state, event.hops) }
      return {
        ...state,
        channels: deliver(locked, event.hops),
        payeeInvoices: paidOnce(state, event.paymentHash, delivered(event.hops))
      }
    }
  }
}

/** Returns the amount in flight through a channel. */
export const onItsWay = (state: State, channel: string): Msat.Msat => {
  const held = HashMap.toValues(state.invoices).flatMap(heldHops)
  const pending = HashMap.toValues(state.sent).flatMap(({ stage, hops }) =>
    stage._tag === "pending" ? hops : []
  )
  return Msat.sum(...[...held, ...pending].filter((hop) => hop.channel === channel).map((hop) => hop.amount))
}

/**
 * Returns whether the balances and payments in flight of every channel add up to its capacity. Scans the whole
 * state.
 */
export const isWhole = (state: State): boolean =>
  HashMap.toEntries(state.channels).every(
    ([channel, balance]) =>
      balance.a >= 0n && balance.b >= 0n && Network.isWhole(channel, balance, onItsWay(state, channel))
  )

export const invoice = (state: State, paymentHash: PaymentHash.PaymentHash): Invoice | undefined =>
  Option.getOrUndefined(HashMap.get(state.invoices, paymentHash))
export const payeeInvoice = (state: State, paymentHash: PaymentHash.PaymentHash): PayeeInvoice | undefined =>
  Option.getOrUndefined(HashMap.get(state.payeeInvoices, paymentHash))
export const sent = (
  state: State,
  paymentHash: PaymentHash.PaymentHash,
  node = Network.us
): Sent | undefined => Option.getOrUndefined(HashMap.get(state.sent, sentAt({ node, paymentHash })))

export const offerCount = (state: State): number => HashMap.size(state.offers)
export const offer = (state: State, text: string): Offer | undefined =>
  Option.getOrUndefined(HashMap.get(state.offers, text))
export const tried = (state: State, attempt: string, node = Network.us): Tried | undefined =>
  Option.getOrUndefined(HashMap.get(state.tried, `${node}/${attempt}`))
/** Returns the attempt to pay an offer that sent a payment with this hash, if any. */
export const attemptOf = (
  state: State,
  paymentHash: PaymentHash.PaymentHash,
  node = Network.us
): string | undefined => Option.getOrUndefined(HashMap.get(state.attempts, sentAt({ node, paymentHash })))

/** Returns the service whose payment with this hash is in flight, if any. */
export const payerOf = (state: State, paymentHash: PaymentHash.PaymentHash): string | undefined =>
  Network.services.find((node) => sent(state, paymentHash, node)?.stage._tag === "pending")

/** Returns every payment that a node sent, as the node stores it. */
export const sentBy = (state: State, node: string): ReadonlyArray<Sent> =>
  HashMap.toEntries(state.sent).flatMap(([at, one]) => (at.startsWith(`${node}/`) ? [one] : []))

/** Returns a node's payments that became final after this number, and the number from which to continue. */
export const endedAfter = (
  { ends, endCount }: State,
  node: string,
  number: number
): readonly [ReadonlyArray<PaymentHash.PaymentHash>, number] => {
  const first = Math.max(number, endCount - keptEnds) + 1
  const told = Array.from({ length: endCount - first + 1 }, (_, at) => HashMap.getUnsafe(ends, first + at))
  return [told.flatMap(([whose, paymentHash]) => (whose === node ? [paymentHash] : [])), endCount]
}

/** Returns every payment that a node received, in settlement order. */
export const takenBy = (
  state: State,
  node: string
): ReadonlyArray<{
  readonly index: number
  readonly paymentHash: PaymentHash.PaymentHash
  readonly received: Msat.Msat
}> =>
  HashMap.toEntries(state.settled).flatMap(([index, paymentHash]) => {
    const { stage, node: owner } = HashMap.getUnsafe(state.invoices, paymentHash)
    return stage._tag === "settled" && owner === node
      ? [{ index, paymentHash, received: stage.received }]
      : []
  })
