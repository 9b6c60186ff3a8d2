import { maxDescriptionBytes } from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Bounds, checkRange } from "../accounts/Bounds.ts"
import type { Paused } from "../accounts/Stops.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import type * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import type * as Change from "../ledger/Change.ts"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { type Asked, Prices } from "../nodes/Prices.ts"
import * as CreditShares from "./CreditShares.ts"
import * as NodeCancellation from "./NodeCancellation.ts"
import * as Invoice from "./Invoice.ts"
import * as InvoiceIssuer from "./InvoiceIssuer.ts"
import * as InvoiceLookup from "./InvoiceLookup.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"
import * as Rated from "../base/Rated.ts"

/** The texts and the lifetime of an invoice or a link. */
export interface Words {
  readonly description: string
  readonly expirySeconds: number
  readonly metadata: Metadata.Metadata
}

/** An invoice without a fixed amount. The limits for the payer are in msat, and either may be null. */
export interface AskedAny extends Pick<Invoice.Invoice, "minAmount" | "maxAmount"> {
  readonly amount: null
}

/** Creates and manages Lightning invoices. */
export class Invoices extends Context.Service<
  Invoices,
  {
    /** Creates an invoice at the node and in the records. No money moves. */
    readonly create: (
      ask: (Asked | AskedAny) &
        Partial<Purpose.Purpose> &
        Words & {
          readonly companyId: CompanyId.CompanyId
          readonly apiKeyId?: string
          /**
           * If given, payments are held at the node until the invoice is settled or canceled. Otherwise they
           * are credited immediately.
           */
          readonly hold?: InvoiceIssuer.HoldRequest | undefined
          readonly request?: Answer.Request<Invoice.Invoice>
        }
    ) => Effect.Effect<
      Answer.Outcome<Invoice.Invoice>,
      | AmountInvalid
      | Invalid
      | Invoice.TooManyHeld
      | Paused
      | RateUnavailable
      | NodeUnavailable
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /** Creates an invoice from a draft that was already validated and priced. */
    readonly issue: (
      draft: InvoiceIssuer.Draft
    ) => Effect.Effect<
      Answer.Outcome<Invoice.Invoice>,
      Paused | NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /** Returns an invoice with its current status. */
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Invoice.Shown, NotFound | StoreUnavailable>
    /**
     * Cancels an invoice so that it can no longer be paid. Canceling it again changes nothing. A paid, accepted
     * or expired invoice is rejected. The node is notified right after the commit, and again later if it is
     * unavailable. A payment already in flight may still settle the invoice and is credited; the invoice is
     * then `settled`, with the time of its cancellation. A payment held for a hold invoice is returned. A hold
     * invoice that its company has settled is rejected. If `next` is given, its job is enqueued in the same
     * commit, unless the invoice was already canceled.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string,
      next?: (atMillis: number) => Change.Enqueue
    ) => Effect.Effect<Invoice.Shown, NotFound | Invoice.InvoiceNotPayable | StoreUnavailable>
    /**
     * Settles the payment held for a hold invoice, with its preimage if the company supplied the hash. The
     * node is notified right after the commit, and again later if it is unavailable. Until the node has the
     * funds, nothing is credited and the invoice is `accepted`. Settling it again changes nothing. An invoice
     * without a held payment is rejected.
     */
    readonly settle: (
      companyId: CompanyId.CompanyId,
      id: string,
      preimage: Preimage.Preimage | null
    ) => Effect.Effect<Invoice.Shown, Invalid | NotFound | Invoice.InvoiceNotHeld | StoreUnavailable>
    /**
     * Returns a page of invoices with their current status, newest first. `next` is the start of the following
     * page, or undefined on the last one. If a filter has to skip very many invoices, a page may have fewer
     * than `limit` rows, or none, and still have a `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Omit<Invoice.Query, "atMillis">
    ) => Effect.Effect<Page.Page<Invoice.Shown>, Invalid | StoreUnavailable>
  }
>()("@satrail/core/receiving/Invoices") {}

/** Returns why a description cannot be used in an invoice, or undefined if it can. */
export const descriptionIssue = (description: string): string | undefined => {
  const bytes = new TextEncoder().encode(description).length
  if (bytes > maxDescriptionBytes)
    return `must have at most ${maxDescriptionBytes} bytes of UTF-8 (got ${bytes})`
  return Metadata.isText(description) ? undefined : "must be well-formed text without NUL characters"
}

/** Validates the texts and the lifetime, which must be in this range. */
export const checkWords = Effect.fnUntraced(function* (
  { description, expirySeconds, metadata }: Words,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number }
) {
  const message = descriptionIssue(description)
  if (message !== undefined) return yield* new Invalid({ path: "description", message })
  if (!Number.isInteger(expirySeconds) || expirySeconds < minimum || expirySeconds > maximum) {
    return yield* new Invalid({
      path: "expiry_seconds",
      message: `must be a whole number of seconds from ${minimum} to ${maximum}`
    })
  }
  yield* Metadata.check(metadata)
})

/** Requires a valid preimage if the company supplied the payment hash, and none otherwise. */
const checkPreimage = Effect.fnUntraced(function* (
  { hold, paymentHash }: Invoice.Invoice,
  preimage: Preimage.Preimage | null
) {
  const invalid = (message: string) => new Invalid({ path: "preimage", message })
  if (hold !== "company")
    return preimage === null
      ? undefined
      : yield* invalid(
          "must be omitted: this service has the preimage of an invoice created without payment_hash"
        )
  if (preimage === null || !Preimage.proves(preimage, paymentHash))
    return yield* invalid("must be 32 bytes in hex whose SHA-256 is the invoice's r_hash")
})

/**
 * Notifies the node now. An outage does no harm, because the decision is committed and a job notifies the node
 * later.
 */
const orLater = <A>(what: string, told: Effect.Effect<A, NodeUnavailable | StoreUnavailable>) => {
  const later = (outage: NodeUnavailable | StoreUnavailable) =>
    Effect.logInfo(`invoice: ${what}; will notify the node later`, outage)
  return Effect.catchTags(told, { NodeUnavailable: later, StoreUnavailable: later })
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* ReceivingReads
  const [prices, bounds] = [yield* Prices, yield* Bounds]
  const { minAmount, maxInvoice } = bounds
  const [{ cancelAtNode }, { lookUp }] = [yield* NodeCancellation.make, yield* InvoiceLookup.make]
  const { issue, issueHold } = yield* InvoiceIssuer.make
  const checkSplits = yield* CreditShares.checking

  /** Returns the amount to request, or the limits for a payer who chooses the amount. */
  const priced = Effect.fnUntraced(function* (ask: Asked | AskedAny) {
    if (ask.amount !== null) {
      const price = yield* prices.price(ask)
      if (price.amount < minAmount || price.amount > maxInvoice)
        return yield* new Invalid({
          path: "amount",
          message: `must be between ${Msat.toSats(minAmount)} and ${Msat.toSats(maxInvoice)} sats`
        })
      return { ...price, minAmount: null, maxAmount: null }
    }
    yield* checkRange({ min: ask.minAmount, max: ask.maxAmount }, bounds)
    return {
      amount: null,
      minAmount: ask.minAmount,
      maxAmount: ask.maxAmount,
      ...Rated.none
    }
  })

  const show = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const deposit =
      invoice.status === "settled"
        ? yield* records.depositOfInvoice(invoice.companyId, invoice.id)
        : Option.none()
    return Invoice.shown(invoice, yield* Clock.currentTimeMillis, Option.getOrNull(deposit)?.id)
  })

  const find = (companyId: CompanyId.CompanyId, id: string) =>
    found("invoice", id, records.invoiceWithDeposit(companyId, id))
  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const { invoice, depositId } = yield* find(companyId, id)
    return Invoice.shown(invoice, yield* Clock.currentTimeMillis, depositId)
  })

  return Invoices.of({
    create: Effect.fnUntraced(function* (ask) {
      const before = yield* Answers.earlier(ledger, ask.companyId, ask.request)
      if (before !== undefined) return before
      yield* checkWords(ask, Invoice.expirySeconds)
      yield* checkSplits(ask.companyId, ask.splits ?? null)
      const draft: InvoiceIssuer.Draft = {
        companyId: ask.companyId,
        ...(yield* priced(ask)),
        memo: ask.description,
        description: { _tag: "Text", text: ask.description },
        expirySeconds: ask.expirySeconds,
        metadata: ask.metadata,
        lightningAddressId: null,
        ...Purpose.of(ask),
        apiKeyId: ask.apiKeyId ?? null,
        callback: null,
        request: ask.request
      }
      if (ask.hold === undefined) return yield* issue(draft)
      return yield* issueHold(draft, ask.hold).pipe(Answers.orEarlier(ledger, ask.companyId, ask.request))
    }),
    issue,
    get,
    cancel: Effect.fnUntraced(function* (companyId, id, next) {
      const { invoice } = yield* find(companyId, id)
      const nowMillis = yield* Clock.currentTimeMillis
      const standing = Invoice.standing(invoice, nowMillis)
      const isOpen = standing === "open" || invoice.status === "held"
      if (!isOpen && standing !== "canceled")
        return yield* new Invoice.InvoiceNotPayable({ invoiceId: id, status: standing })
      if (isOpen)
        yield* journal.commit(
          Invoice.canceled(invoice, nowMillis, next === undefined ? [] : [next(nowMillis)])
        )
      // The cancellation is committed even if this fails. The poll of open invoices closes the invoice at the
      // node later.
      if (invoice.status !== "canceled") yield* orLater("canceled", cancelAtNode(invoice))
      return yield* get(companyId, id)
    }),
    settle: Effect.fnUntraced(function* (companyId, id, preimage) {
      const { invoice: before } = yield* find(companyId, id)
      yield* checkPreimage(before, preimage)
      // A payment that has just arrived may not have been recorded yet.
      if (before.hold !== null && before.status === "pending") yield* orLater("looked up", lookUp(before))
      const { invoice } = yield* find(companyId, id)
      const refused = Effect.flatMap(get(companyId, id), ({ standing }) =>
        Effect.fail(new Invoice.InvoiceNotHeld({ invoiceId: id, status: standing }))
      )
      if (invoice.hold === null) return yield* refused
      if (invoice.status !== "settled") {
        yield* Effect.catchTag(
          journal.commit(Invoice.settling(invoice, preimage, yield* Clock.currentTimeMillis)),
          "InvoiceNotPayable",
          () => refused
        )
        // The decision is committed even if this fails. The invoice's job notifies the node later.
        yield* orLater("settled", lookUp((yield* find(companyId, id)).invoice))
      }
      return yield* get(companyId, id)
    }),
    list: Effect.fnUntraced(function* (companyId, query) {
      if (query.label !== undefined) yield* Metadata.checkLabel(query.label)
      if (query.lightningAddressId !== undefined && !Id.is(query.lightningAddressId))
        return yield* new Invalid({
          path: "lightning_address_id",
          message: "must be the id of a Lightning address"
        })
      const atMillis = yield* Clock.currentTimeMillis
      const { rows, next } = yield* Page.pick(
        query.limit,
        (limit, after) =>
          records.invoicesOf(
            companyId,
            { ...query, atMillis, limit, before: after?.id ?? query.before },
            Page.looks
          ),
        Page.ofMetadata
      )
      return { rows: yield* Page.shown(companyId, rows, show), next }
    })
  })
})

export const layer = Layer.effect(Invoices, make)
