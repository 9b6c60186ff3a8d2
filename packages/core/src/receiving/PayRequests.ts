import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Context, Effect, Layer } from "effect"
import { Bounds } from "../accounts/Bounds.ts"
import { Installation } from "../accounts/Installation.ts"
import * as ServedDomains from "../accounts/ServedDomains.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import type { Conflict, StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import { LightningReceiver, NodeUnavailable } from "../nodes/LightningReceiver.ts"
import * as AskRates from "./AskRates.ts"
import type { Callback, Invoice } from "./Invoice.ts"
import { Invoices } from "./Invoices.ts"
import * as LightningAddress from "./LightningAddress.ts"
import { commentCharacters, LnurlOptions, payerDataBytes } from "./LnurlOptions.ts"
import * as PayRequest from "./PayRequest.ts"
import { PublicReceipts } from "./PublicReceipts.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"
import * as Rated from "../base/Rated.ts"

/** Parameters that a wallet sends to the callback, as received; null if not sent. */
export interface Ask {
  readonly amount: string | null
  readonly comment: string | null
  readonly payerData: string | null
  readonly nostr: string | null
  /** The caller's IP address. The number of invoices per caller's network is limited. */
  readonly caller: string
}

/** An invoice for a wallet, and the message that the wallet may show after the payment. */
export interface Answered {
  readonly invoice: Invoice
  readonly successMessage: string | null
  /** URL at which the wallet can check whether the invoice was paid (LUD-21). */
  readonly verify: string
}

/** Receives payments at our Lightning addresses from any wallet that supports LNURL. */
export class PayRequests extends Context.Service<
  PayRequests,
  {
    /** Returns the payment terms of a Lightning address. */
    readonly offer: (
      place: PayRequest.Place
    ) => Effect.Effect<PayRequest.PayRequest, PayRequest.PayRequestRefused | StoreUnavailable>
    /** Creates an invoice for the requested amount, exact to the msat. */
    readonly invoice: (
      place: PayRequest.Place,
      ask: Ask
    ) => Effect.Effect<Answered, PayRequest.PayRequestRefused | NodeUnavailable | Conflict | StoreUnavailable>
    /**
     * Returns an invoice that a wallet requested at this address. Anyone who knows its hash can see its
     * preimage, but only after the invoice is settled.
     */
    readonly verify: (
      place: PayRequest.Place,
      paymentHash: PaymentHash.PaymentHash
    ) => Effect.Effect<Invoice, PayRequest.PayRequestRefused | StoreUnavailable>
  }
>()("@satrail/core/receiving/PayRequests") {}

export const make = Effect.gen(function* () {
  const receiver = yield* LightningReceiver
  const servedAt = yield* ServedDomains.make
  const receiving = yield* ReceivingReads
  const nouns = yield* NounReads
  const invoices = yield* Invoices
  const own = yield* Installation
  const bounds = yield* Bounds
  const { lnurl } = yield* LnurlOptions
  const receipts = yield* PublicReceipts
  const rates = yield* AskRates.make

  /**
   * Returns the requested address, even if it was deleted. Fails if its domain does not belong, or no longer
   * belongs, to the address's company.
   */
  const find = Effect.fnUntraced(function* (place: PayRequest.Place) {
    const target = yield* Effect.fromResult(PayRequest.targetOf(place, own))
    const found = yield* nouns.named(LightningAddress.noun, { handle: target.handle, domain: target.domain })
    if (found._tag === "None") return yield* PayRequest.notFound
    if (!(yield* servedAt(target.domain)).isOf(found.value.companyId)) return yield* PayRequest.notFound
    return { target, address: found.value }
  })

  const payable = Effect.fnUntraced(function* (place: PayRequest.Place) {
    const found = yield* find(place)
    return found.address.deletedAtMillis === null ? found : yield* PayRequest.notFound
  })

  const late = Effect.fail(
    new NodeUnavailable({
      operation: "createInvoice",
      cause: new Error(`no invoice within ${lnurl.timeoutMillis} ms`)
    })
  )

  const show = (
    target: PayRequest.Target,
    address: LightningAddress.LightningAddress
  ): PayRequest.PayRequest => ({
    callback: `${target.url}/callback`,
    ...PayRequest.limitsOf(address, bounds),
    metadata: PayRequest.metadataOf(target),
    commentAllowed: commentCharacters,
    nostrPubkey: receipts.signedBy
  })

  return PayRequests.of({
    offer: Effect.fnUntraced(function* (place) {
      const { target, address } = yield* payable(place)
      return show(target, address)
    }),
    invoice: Effect.fnUntraced(function* (place, ask) {
      const { target, address } = yield* payable(place)
      const shown = show(target, address)
      const amount = yield* Effect.fromResult(
        PayRequest.checkAmount(ask.amount, shown, receiver.lacks?.has("millisatoshis") === true)
      )
      const callback: Callback = {
        metadata: shown.metadata,
        comment: yield* Effect.fromResult(PayRequest.checkComment(ask.comment, commentCharacters)),
        payerData: yield* Effect.fromResult(PayRequest.checkPayerData(ask.payerData, payerDataBytes)),
        zapRequest: yield* Effect.fromResult(receipts.check(ask.nostr, amount))
      }
      yield* rates.check(address, ask.caller)
      const issued = yield* invoices
        .issue({
          companyId: address.companyId,
          amount,
          minAmount: null,
          maxAmount: null,
          memo: `Pay to ${PayRequest.identifier(target)}`,
          description: { _tag: "Hash", sha256: PayRequest.descriptionHash(callback) },
          expirySeconds: lnurl.expirySeconds,
          metadata: Metadata.empty,
          lightningAddressId: address.id,
          ...Purpose.none,
          apiKeyId: null,
          callback,
          ...Rated.none
        })
        .pipe(
          Effect.catchTags({
            IdempotencyMismatch: Effect.die,
            Paused: () =>
              new PayRequest.PayRequestRefused({
                code: "stopped",
                message: "Payments are not accepted right now. Try again later"
              })
          }),
          Effect.timeoutOrElse({ duration: lnurl.timeoutMillis, orElse: () => late })
        )
      const invoice = yield* Answer.made(issued)
      yield* rates.issued(address, ask.caller, invoice)
      return {
        invoice,
        successMessage: address.successMessage,
        verify: `${target.url}/verify/${invoice.paymentHash}`
      }
    }),
    verify: Effect.fnUntraced(function* (place, paymentHash) {
      const { address } = yield* find(place)
      const found = yield* receiving.invoiceByHash(paymentHash)
      if (found._tag === "Some" && found.value.lightningAddressId === address.id) return found.value
      return yield* new PayRequest.PayRequestRefused({ code: "not_found", message: "Not found" })
    })
  })
})

export const layer = Layer.effect(PayRequests, make)
