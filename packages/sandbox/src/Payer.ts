import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Destination from "@satrail/core/sending/Destination"
import { Result } from "effect"
import type { Event } from "./Event.ts"
import * as Issuer from "./Issuer.ts"
import * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import * as Payee from "./Payee.ts"
import { invoiceOfOffer, isClosed, minFinalCltvExpiry, preimageOf } from "./Receiver.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"
import type { Decision, State, World } from "./World.ts"

/** A payment by the external wallet. */
export interface Ask {
  readonly paymentRequest: string
  /** Replaces the invoice's amount. The new amount must be at least that amount and at most twice as much (BOLT 4). */
  readonly amount?: Msat.Msat | undefined
  /** Holds the payment just before it settles, until it is released. Only for our node's invoices. */
  readonly hold?: boolean | undefined
}

/** `preimage` proves the payment to the payer. It is null while the payment is held. */
export interface Paid {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly preimage: Preimage.Preimage | null
}

type Verdict<A> = Result.Result<A, SandboxRefused>

const amountFor = (invoice: Bolt11.Bolt11, given: Msat.Msat | undefined): Verdict<Msat.Msat> => {
  const amount = given ?? invoice.amount
  if (amount === undefined)
    return refuse("amount_missing", "The invoice has no amount. Set the amount to pay")
  if (amount <= 0n || amount < (invoice.amount ?? 0n))
    return refuse(
      "amount_too_small",
      `The invoice's amount is ${invoice.amount ?? 1n} millisatoshis, not ${amount}`
    )
  if (invoice.amount !== undefined && amount > 2n * invoice.amount) {
    return refuse(
      "amount_too_large",
      `At most twice the invoice's ${invoice.amount} millisatoshis can be paid`
    )
  }
  return Result.succeed(amount)
}

const route = (state: Lightning.State, payee: string, amount: Msat.Msat): Verdict<Network.Route> => {
  // The external wallet pays any fee.
  const candidates = Network.routes(Lightning.balances(state), Network.payer, payee, amount, amount)
  const found = Network.passable(Lightning.balances(state), candidates)
  return found === undefined
    ? refuse("no_route", `No route to ${payee} has the liquidity for ${amount} millisatoshis`)
    : Result.succeed(found)
}

const payService = (
  world: World,
  state: Lightning.State,
  {
    node,
    paymentHash,
    amount,
    hold,
    height,
    nowMillis
  }: {
    readonly node: string
    readonly paymentHash: PaymentHash.PaymentHash
    readonly amount: Msat.Msat
    readonly hold: boolean
    readonly height: number
    readonly nowMillis: number
  }
): Verdict<Decision<Paid>> => {
  const invoice = Lightning.invoice(state, paymentHash)
  if (invoice?.node !== node) return refuse("invoice_unknown", "The node has no such invoice")
  if (invoice.stage._tag === "settled" || invoice.stage._tag === "accepted")
    return refuse("already_paid", "This invoice was already paid")
  if (isClosed(invoice, nowMillis)) return refuse("invoice_canceled", "The invoice was canceled")
  return Result.map(route(state, node, amount), ({ hops }) => {
    const isHold = invoice.isHold === true
    const accepted: Event = {
      _tag: "InvoiceAccepted",
      paymentHash,
      hops,
      ...(isHold && { endsAtHeight: height + minFinalCltvExpiry })
    }
    const isHeld = hold || isHold
    return {
      events: isHeld ? [accepted] : [accepted, { _tag: "InvoiceSettled", paymentHash, atMillis: nowMillis }],
      answer: () => ({ paymentHash, preimage: isHeld ? null : preimageOf(world, invoice.id) })
    }
  })
}

const payPayee = (
  world: World,
  state: Lightning.State,
  paymentHash: PaymentHash.PaymentHash,
  amount: Msat.Msat
): Verdict<Decision<Paid>> => {
  const invoice = Lightning.payeeInvoice(state, paymentHash)
  if (invoice === undefined) return refuse("invoice_unknown", "Not an invoice of the sandbox")
  if (invoice.times > 0) return refuse("already_paid", "This invoice was already paid")
  return Result.map(route(state, invoice.payee, amount), ({ hops }) => ({
    events: [{ _tag: "PayeePaid", paymentHash, hops }],
    answer: () => ({ paymentHash, preimage: Payee.preimageOf(world, invoice) })
  }))
}

/** Lifetime of the invoices that a node sends for its offers. */
const expirySeconds = 600

/** Has the external wallet request an invoice from the service's node that issued an offer, and pay that invoice. */
const payOffer = (
  world: World,
  { lightning, chain }: State,
  nowMillis: number,
  offer: Bolt12.Bolt12,
  amount: Msat.Msat | undefined
) =>
  Result.gen(function* () {
    const ours = Issuer.issued(world, offer)
    if (ours === undefined)
      return yield* refuse("invoice_unknown", "Not an offer of a service in the sandbox")
    if (amount === undefined || amount <= 0n)
      return yield* refuse("amount_missing", "The offer has no amount. Set the amount to pay")
    if (amount < (offer.amount ?? 1n))
      return yield* refuse("amount_too_small", `The offer asks for at least ${offer.amount} msat`)
    const { node } = ours
    const id = invoiceOfOffer(ours.id, lightning.settleIndex + 1)
    const paymentHash = Preimage.hashOf(preimageOf(world, id))
    const timestampSeconds = Math.floor(nowMillis / 1000)
    const description = { _tag: "Text", text: offer.description ?? "" } as const
    const invoice = { id, paymentHash, amount, description, timestampSeconds, expirySeconds }
    const invoiced: Event = { _tag: "InvoiceIssued", ...Network.notOurs(node), ...invoice }
    const asked = { node, paymentHash, amount, hold: false, height: chain.tip.height, nowMillis }
    const { events, answer } = yield* payService(world, Lightning.apply(lightning, invoiced), asked)
    return { events: [invoiced, ...events], answer }
  })

/** Has the external wallet pay any invoice (ours or a payee's), or one of our offers. */
export const pay =
  (world: World, { paymentRequest, amount: given, hold = false }: Ask) =>
  (state: State, nowMillis: number): Verdict<Decision<Paid>> =>
    Result.gen(function* () {
      const { lightning, chain } = state
      const read = Destination.invoiceIn(paymentRequest)
      const offer = Destination.offerIn(paymentRequest)
      if (Result.isFailure(read) && Result.isSuccess(offer))
        return yield* payOffer(world, state, nowMillis, offer.success, given)
      const invoice = yield* Result.orElse(read, ({ message }) =>
        refuse(
          "invoice_unreadable",
          Bolt12.isBolt12(paymentRequest) && Result.isFailure(offer) ? offer.failure.message : message
        )
      )
      if (invoice.network !== world.network) {
        return yield* refuse(
          "wrong_network",
          `This is a ${invoice.network} invoice, but the sandbox runs on ${world.network}`
        )
      }
      const { paymentHash } = invoice
      if (nowMillis >= Bolt11.expiresAtSeconds(invoice) * 1000)
        return yield* refuse("invoice_expired", "The invoice is expired")
      const amount = yield* amountFor(invoice, given)
      const node = Network.services.find((one) => world.keys.node(one).publicKey === invoice.payee)
      if (hold && node === undefined)
        return yield* refuse("not_ours", "Only a payment of our own node's invoice can be held by its payer")
      return yield* node === undefined
        ? payPayee(world, lightning, paymentHash, amount)
        : payService(world, lightning, {
            node,
            paymentHash,
            amount,
            hold,
            height: chain.tip.height,
            nowMillis
          })
    })

/**
 * Ends a held payment, either from a service to a payee that holds it or from the external wallet to a service.
 */
export const release =
  (paymentHash: PaymentHash.PaymentHash, outcome: "settle" | "fail") =>
  ({ lightning }: State, nowMillis: number): Verdict<Decision<void>> => {
    const payer = Lightning.payerOf(lightning, paymentHash)
    const events: ReadonlyArray<Event> =
      payer !== undefined
        ? [
            outcome === "settle"
              ? { _tag: "PaymentSettled", ...Network.notOurs(payer), paymentHash }
              : {
                  _tag: "PaymentFailed",
                  ...Network.notOurs(payer),
                  paymentHash,
                  reason: "incorrect_payment_details"
                }
          ]
        : Lightning.invoice(lightning, paymentHash)?.stage._tag === "accepted"
          ? [
              outcome === "settle"
                ? { _tag: "InvoiceSettled", paymentHash, atMillis: nowMillis }
                : { _tag: "InvoiceReleased", paymentHash }
            ]
          : []
    return events.length === 0
      ? refuse("not_held", `No payment of ${paymentHash} is held`)
      : Result.succeed({ events, answer: () => undefined })
  }
