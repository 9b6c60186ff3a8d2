import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { NotSent } from "@satrail/core/nodes/LightningSender"
import { type OfferAsk, type OfferPayment, OfferSender } from "@satrail/core/nodes/OfferSender"
import { Effect, Result, Stream } from "effect"
import type { Behaviour, Event, LightningEvent } from "./Event.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as Payee from "./Payee.ts"
import * as Sender from "./Sender.ts"
import type { State, World } from "./World.ts"
import { decided } from "./World.ts"

/** Lifetime of issuers' invoices. */
const expirySeconds = 600

type Published = Extract<LightningEvent, { readonly _tag: "OfferPublished" }>
type Tried = Extract<LightningEvent, { readonly _tag: "OfferTried" }>

/** An external offer. `seconds` is its lifetime. */
export const published = (
  world: World,
  state: Lightning.State,
  ask: Pick<Payee.Ask, "amount" | "behaviour" | "payee" | "nowMillis"> & {
    readonly seconds: number | undefined
  }
): Published => {
  const { amount, behaviour, seconds, nowMillis } = ask
  const number = Lightning.offerCount(state)
  const payee = ask.payee ?? Payee.turn(behaviour, number)
  // The only input is the amount, which is validated.
  const offer = Result.getOrThrow(
    Bolt12.encode({
      networks: [world.network],
      description: `Sandbox ${behaviour}`,
      metadata: number.toString(16).padStart(8, "0"),
      issuerId: world.keys.node(payee).publicKey,
      ...(amount !== undefined && { amount }),
      ...(seconds !== undefined && { absoluteExpirySeconds: Math.floor(nowMillis / 1000) + seconds })
    })
  )
  return { _tag: "OfferPublished", offer, payee, behaviour }
}

const stageOf = (
  world: World,
  state: Lightning.State,
  node: string,
  attempt: string
): OfferPayment | { readonly _tag: "notFound" } => {
  const tried = Lightning.tried(state, attempt, node)
  if (tried === undefined) return { _tag: "notFound" }
  const { paymentHash, reason } = tried
  if (reason !== null) return { _tag: "failed", reason }
  const stage = paymentHash === null ? undefined : Sender.stageOf(world, state, node, paymentHash)
  if (stage?._tag === "settled" && paymentHash !== null) return { ...stage, paymentHash }
  return stage === undefined || stage._tag === "notFound" || stage._tag === "settled"
    ? { _tag: "unknown" }
    : stage
}

/** Returns the reason an issuer sends no invoice, if any. */
const refusal = (
  found: { readonly behaviour: Behaviour } | undefined,
  { offer, amount }: OfferAsk,
  nowMillis: number
): NonNullable<Tried["reason"]> | undefined => {
  if (found === undefined) return "no_route"
  if (offer.absoluteExpirySeconds !== undefined && nowMillis >= offer.absoluteExpirySeconds * 1000)
    return "error"
  if (amount < (offer.amount ?? 1n) || found.behaviour === "refuse") return "incorrect_payment_details"
  return found.behaviour === "unreachable" ? "timeout" : undefined
}

/** Makes one attempt: requests one invoice from the issuer and pays it. */
const begun = (
  world: World,
  state: State,
  node: string,
  ask: OfferAsk,
  nowMillis: number
): ReadonlyArray<Event> => {
  const { attempt, offer, amount, feeLimit } = ask
  const tried = (how: Pick<Tried, "paymentHash" | "reason">): Tried => ({
    _tag: "OfferTried",
    ...Network.notOurs(node),
    attempt,
    offer: offer.offer,
    ...how
  })
  const found = Lightning.offer(state.lightning, offer.offer)
  const reason = refusal(found, ask, nowMillis)
  if (found === undefined || reason !== undefined)
    return [tried({ paymentHash: null, reason: reason ?? "no_route" })]
  const invoiced = Payee.invoiced(world, state.lightning, {
    amount,
    behaviour: found.behaviour,
    payee: found.payee,
    description: { _tag: "Text", text: offer.description ?? "" },
    expirySeconds,
    nowMillis
  })
  const invoice = Result.getOrThrow(Bolt11.decode(invoiced.paymentRequest))
  const asked = { ...state, lightning: Lightning.apply(state.lightning, invoiced) }
  return [
    invoiced,
    tried({ paymentHash: invoiced.paymentHash, reason: null }),
    ...Sender.attempt(world, asked, node, { invoice, amount, feeLimit }, nowMillis)
  ]
}

const pay = (world: World, node: string, ask: OfferAsk) => (state: State, nowMillis: number) => {
  const isNew = Lightning.tried(state.lightning, ask.attempt, node) === undefined
  return decided(isNew ? begun(world, state, node, ask, nowMillis) : [], (after): OfferPayment => {
    const stage = stageOf(world, after.lightning, node, ask.attempt)
    return stage._tag === "notFound" ? { _tag: "unknown" } : stage
  })
}

/** The payments of a service's node to offers. Defaults to our node. */
export const make = (world: World, node = Network.us): OfferSender["Service"] => {
  const lightning = () => world.state().lightning
  // Not stored with the node's state, because only responses are lost. After a restart, no more responses are
  // lost. The same is true of payments to invoices.
  const unanswered = new Map<string, number>()
  const losesAnswers = ({ offer }: OfferAsk) =>
    Lightning.offer(lightning(), offer.offer)?.behaviour.startsWith("unknown_") === true

  return OfferSender.of({
    graceMillis: 0,
    payOffer: (ask) =>
      Effect.suspend((): Effect.Effect<OfferPayment | NotSent> => {
        if (world.isPaused("node")) return Effect.succeed({ _tag: "notSent" })
        if ((unanswered.get(ask.attempt) ?? 0) > 0) return Effect.succeed({ _tag: "unknown" })
        const isNew = Lightning.tried(lightning(), ask.attempt, node) === undefined
        return Effect.map(world.commit(pay(world, node, ask)), (payment) => {
          if (!isNew || !losesAnswers(ask)) return payment
          unanswered.set(ask.attempt, Sender.lostAnswers)
          return { _tag: "unknown" }
        })
      }),
    lookupOffer: (attempt) =>
      Effect.sync(() => {
        if (world.isPaused("node")) return { _tag: "unknown" }
        const left = unanswered.get(attempt) ?? 0
        if (left === 0) return stageOf(world, lightning(), node, attempt)
        unanswered.set(attempt, left - 1)
        return { _tag: "unknown" }
      }),
    ends: Stream.flatMap(Sender.ends(world, node), (paymentHash) => {
      const attempt = Lightning.attemptOf(lightning(), paymentHash, node)
      return attempt === undefined ? Stream.empty : Stream.succeed(attempt)
    }),
    quote: ({ offer, amount, feeLimit }) =>
      Effect.suspend(() => {
        if (world.isPaused("node")) return Effect.fail(Sender.away("quote"))
        const [best] =
          offer.issuerId === undefined
            ? []
            : Sender.routesTo(world, lightning(), node, offer.issuerId, amount, feeLimit)
        return Effect.succeed(best && { fee: best.fee, probability: best.probability })
      })
  })
}
