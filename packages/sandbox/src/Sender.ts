import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import {
  type FailureReason,
  LightningSender,
  type NotSent,
  type Payment
} from "@satrail/core/nodes/LightningSender"
import { Effect, Option, Stream } from "effect"
import type { Event } from "./Event.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as Payee from "./Payee.ts"
import * as Receiver from "./Receiver.ts"
import type { State, World } from "./World.ts"
import { decided } from "./World.ts"

interface Ask {
  readonly invoice: Bolt11
  readonly amount: Msat.Msat
  readonly feeLimit: Msat.Msat
}

export const away = (operation: string) =>
  new NodeUnavailable({ operation, cause: new Error("The sandbox node is paused") })

/** How many lookups of a payment to an `unknown_then_…` payee get no response. */
export const lostAnswers = 2

/** Returns the preimage of an invoice of any issuer. */
const preimageOf = (
  world: World,
  state: Lightning.State,
  paymentHash: PaymentHash.PaymentHash
): Preimage.Preimage | undefined => {
  const asked = Lightning.payeeInvoice(state, paymentHash)
  const invoice = Lightning.invoice(state, paymentHash)
  if (asked !== undefined) return Payee.preimageOf(world, asked)
  return invoice && Receiver.proofOf(world, invoice)
}

export const stageOf = (
  world: World,
  state: Lightning.State,
  node: string,
  paymentHash: PaymentHash.PaymentHash
): Payment | { readonly _tag: "notFound" } => {
  const sent = Lightning.sent(state, paymentHash, node)
  if (sent === undefined) return { _tag: "notFound" }
  if (sent.stage._tag !== "settled") return sent.stage
  const preimage = preimageOf(world, state, paymentHash)
  return preimage === undefined
    ? { _tag: "unknown" }
    : { _tag: "settled", preimage, fee: sent.fee, index: String(sent.index) }
}

const targetOf = (world: World, payee: string): string | undefined =>
  [...Network.allPayees, ...Network.services].find((name) => world.keys.node(name).publicKey === payee)

/** Returns the routes to a node, by its key. */
export const routesTo = (
  world: World,
  state: Lightning.State,
  node: string,
  nodeId: string,
  amount: Msat.Msat,
  feeLimit: Msat.Msat
): ReadonlyArray<Network.Route> => {
  const target = targetOf(world, nodeId)
  return target === undefined ? [] : Network.routes(Lightning.balances(state), node, target, amount, feeLimit)
}

const routesFor = (world: World, state: Lightning.State, node: string, { invoice, amount, feeLimit }: Ask) =>
  routesTo(world, state, node, invoice.payee, amount, feeLimit)

/**
 * The amount must be at least the invoice's and at most twice as much (BOLT 4). If the invoice has none, the
 * payer chooses it.
 */
const isEnough = (asked: Msat.Msat | null, amount: Msat.Msat): boolean =>
  asked === null ? amount >= 1n : amount >= asked && amount <= 2n * asked

/** Returns the payee's reason for failing a payment that reached it. */
const refusal = (
  world: World,
  state: Lightning.State,
  { invoice, amount }: Ask,
  nowMillis: number
): FailureReason | undefined => {
  const asked = Lightning.payeeInvoice(state, invoice.paymentHash)
  const isTheirs = asked !== undefined && asked.payee === targetOf(world, invoice.payee)
  if (!isTheirs || asked.times > 0 || nowMillis >= asked.expiresAtMillis) return "incorrect_payment_details"
  if (!isEnough(asked.amount, amount)) return "incorrect_payment_details"
  switch (asked.behaviour) {
    case "fail":
      return "incorrect_payment_details"
    case "unknown_then_fail":
      return "timeout"
    case "insufficient_liquidity":
      return "insufficient_balance"
    case "canceled":
      return "canceled"
    case "node_error":
      return "error"
    case "channel_closed":
      return "channel_closed"
    default:
      return undefined
  }
}

/** Makes one attempt, which ends by settling, failing or being held. */
export const attempt = (
  world: World,
  { lightning: state, chain }: State,
  node: string,
  ask: Ask,
  nowMillis: number
): ReadonlyArray<Event> => {
  const {
    invoice: { paymentHash, payee },
    amount
  } = ask
  const whose = Network.notOurs(node)
  const begun = (route?: Pick<Network.Route, "fee" | "hops">): Event => ({
    _tag: "PaymentBegun",
    ...whose,
    paymentHash,
    amount,
    fee: route?.fee ?? Msat.zero,
    hops: route?.hops ?? [],
    atMillis: nowMillis
  })
  const failed = (reason: FailureReason): Event => ({ _tag: "PaymentFailed", ...whose, paymentHash, reason })
  const settled: Event = { _tag: "PaymentSettled", ...whose, paymentHash }
  // A node cannot pay itself, because nothing would move.
  if (payee === world.keys.node(node).publicKey) return [begun(), failed("error")]
  if (Network.funds(Lightning.balances(state), node) < amount)
    return [begun(), failed("insufficient_balance")]
  const route = Network.passable(Lightning.balances(state), routesFor(world, state, node, ask))
  if (route === undefined) return [begun(), failed("no_route")]
  const invoice = Lightning.invoice(state, paymentHash)
  if (invoice !== undefined && invoice.node === targetOf(world, payee)) {
    if (
      invoice.stage._tag !== "open" ||
      Receiver.isClosed(invoice, nowMillis) ||
      !isEnough(invoice.amount, amount)
    )
      return [begun(route), failed("incorrect_payment_details")]
    // A payment between two services is counted as in flight only once, with the invoice.
    const onItsWay = begun({ fee: route.fee, hops: [] })
    const accepted: Event = { _tag: "InvoiceAccepted", paymentHash, hops: route.hops }
    if (invoice.isHold === true)
      return [onItsWay, { ...accepted, endsAtHeight: chain.tip.height + Receiver.minFinalCltvExpiry }]
    return [onItsWay, accepted, { _tag: "InvoiceSettled", paymentHash, atMillis: nowMillis }, settled]
  }
  const reason = refusal(world, state, ask, nowMillis)
  if (reason !== undefined) return [begun(route), failed(reason)]
  const holds = Lightning.payeeInvoice(state, paymentHash)?.behaviour === "hold"
  return holds ? [begun(route)] : [begun(route), settled]
}

const pay = (world: World, node: string, ask: Ask) => (state: State, nowMillis: number) => {
  const { paymentHash } = ask.invoice
  const before = Lightning.sent(state.lightning, paymentHash, node)
  const again = before !== undefined && before.stage._tag !== "failed"
  return decided(again ? [] : attempt(world, state, node, ask, nowMillis), (after): Payment => {
    const stage = stageOf(world, after.lightning, node, paymentHash)
    return stage._tag === "notFound" ? { _tag: "unknown" } : stage
  })
}

/** Streams the hashes of a node's payments as they become final. */
export const ends = (world: World, node: string) =>
  Stream.suspend(() =>
    Stream.paginate(world.state().lightning.endCount, (after) => {
      const more: Effect.Effect<
        readonly [ReadonlyArray<PaymentHash.PaymentHash>, Option.Option<number>],
        NodeUnavailable
      > = Effect.suspend(() => {
        if (world.isPaused("node")) return Effect.fail(away("ends"))
        const [told, last] = Lightning.endedAfter(world.state().lightning, node, after)
        return last > after
          ? Effect.succeed([told, Option.some(last)])
          : Effect.andThen(world.changed(), more)
      })
      return more
    })
  )

/** The sending side of a service's node. Defaults to our node. */
export const make = (world: World, node = Network.us): LightningSender["Service"] => {
  // Not stored with the node's state, because only responses are lost. After a restart of the service, no more
  // responses are lost.
  const unanswered = new Map<PaymentHash.PaymentHash, number>()
  const isUnanswered = (paymentHash: PaymentHash.PaymentHash) => (unanswered.get(paymentHash) ?? 0) > 0
  const losesAnswers = (paymentHash: PaymentHash.PaymentHash) =>
    Lightning.payeeInvoice(world.state().lightning, paymentHash)?.behaviour.startsWith("unknown_") === true

  return LightningSender.of({
    graceMillis: 0,
    pay: (ask) =>
      Effect.suspend((): Effect.Effect<Payment | NotSent> => {
        const { paymentHash } = ask.invoice
        if (world.isPaused("node")) return Effect.succeed({ _tag: "notSent" })
        if (isUnanswered(paymentHash)) return Effect.succeed({ _tag: "unknown" })
        const isNew = Lightning.sent(world.state().lightning, paymentHash, node)?.stage._tag !== "settled"
        return Effect.map(world.commit(pay(world, node, ask)), (payment) => {
          if (!isNew || !losesAnswers(paymentHash)) return payment
          unanswered.set(paymentHash, lostAnswers)
          return { _tag: "unknown" }
        })
      }),
    lookupPayment: (paymentHash) =>
      Effect.sync(() => {
        if (world.isPaused("node")) return { _tag: "unknown" }
        const left = unanswered.get(paymentHash) ?? 0
        if (left === 0) return stageOf(world, world.state().lightning, node, paymentHash)
        unanswered.set(paymentHash, left - 1)
        return { _tag: "unknown" }
      }),
    ends: ends(world, node),
    quote: (ask) =>
      Effect.suspend(() => {
        if (world.isPaused("node")) return Effect.fail(away("quote"))
        const [best] = routesFor(world, world.state().lightning, node, ask)
        return Effect.succeed(best && { fee: best.fee, probability: best.probability })
      })
  })
}
