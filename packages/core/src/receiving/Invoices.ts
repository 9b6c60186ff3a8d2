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
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { type Asked, Prices } from "../nodes/Prices.ts"
import * as Closing from "./Closing.ts"
import * as Invoice from "./Invoice.ts"
import * as Issuing from "./Issuing.ts"
import * as Looking from "./Looking.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** An invoice without an amount, and what is expected of its payer, who decides. Either end may be open. */
export interface AskedAny extends Pick<Invoice.Invoice, "minAmount" | "maxAmount"> {
  readonly amount: null
}

/** Asks to be paid over Lightning. */
export class Invoices extends Context.Service<
  Invoices,
  {
    /** An invoice at the node and in the records. No money moves. */
    readonly create: (
      ask: (Asked | AskedAny) & {
        readonly companyId: CompanyId.CompanyId
        readonly description: string
        readonly expirySeconds: number
        readonly metadata: Metadata.Metadata
        readonly checkoutId?: string
        readonly apiKeyId?: string
        /** What is paid waits at the node until the invoice is settled or canceled. Absent: it is credited at once. */
        readonly hold?: Issuing.AskedHold | undefined
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
    /** The same for what was checked and priced before. */
    readonly issue: (
      draft: Issuing.Draft
    ) => Effect.Effect<Answer.Outcome<Invoice.Invoice>, Paused | NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable>
    /** As it stands now. */
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Invoice.Shown, NotFound | StoreUnavailable>
    /**
     * Nobody is to pay it any more. Canceling it again changes nothing; one that was paid, is being paid or has expired is refused. The node is told right after the
     * commit, and again later where it is away. A payment that was on its way may settle it all the same, and is credited: then it is `settled`, with the time at which it was canceled.
     * What is held for a hold invoice goes back; one that its company has settled is refused. With `next`, this job begins in the same commit: not where it is canceled already.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string,
      next?: (atMillis: number) => Change.Enqueue
    ) => Effect.Effect<Invoice.Shown, NotFound | Invoice.InvoiceNotPayable | StoreUnavailable>
    /**
     * Takes what is held for a hold invoice, with its preimage where that is the company's. The node is told right after the commit, and again later where it is away:
     * until it has the money nothing is credited, and the invoice is `accepted`. Settling it again changes nothing. One for which nothing is held, or not any more, is refused.
     */
    readonly settle: (
      companyId: CompanyId.CompanyId,
      id: string,
      preimage: Preimage.Preimage | null
    ) => Effect.Effect<Invoice.Shown, Invalid | NotFound | Invoice.InvoiceNotHeld | StoreUnavailable>
    /**
     * A page, the newest first, as they stand now; `next` is where the page after it starts, undefined when there is none. Of what is picked among very many, a page
     * may have fewer than `limit` rows, or none, and yet a `next`.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Omit<Invoice.Query, "atMillis">
    ) => Effect.Effect<
      { readonly invoices: ReadonlyArray<Invoice.Shown>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
  }
>()("@satrail/core/receiving/Invoices") {}

/** Why a description cannot be put into an invoice, undefined when it can. */
export const descriptionIssue = (description: string): string | undefined => {
  const bytes = new TextEncoder().encode(description).length
  if (bytes > maxDescriptionBytes) return `At most ${maxDescriptionBytes} bytes of UTF-8, this has ${bytes}`
  return Metadata.isText(description) ? undefined : "Well-formed text without NUL characters"
}

/** What an invoice may ask for and say. */
const check = Effect.fnUntraced(function* (ask: {
  readonly description: string
  readonly expirySeconds: number
  readonly metadata: Metadata.Metadata
}) {
  const message = descriptionIssue(ask.description)
  if (message !== undefined) return yield* new Invalid({ path: "description", message })
  const { minimum, maximum } = Invoice.expirySeconds
  if (!Number.isInteger(ask.expirySeconds) || ask.expirySeconds < minimum || ask.expirySeconds > maximum) {
    return yield* new Invalid({ path: "expiry_seconds", message: `A whole number of seconds from ${minimum} to ${maximum}` })
  }
  yield* Metadata.check(ask.metadata)
})

/** A company that keeps the preimage gives it when it settles, and no other one does. */
const checkPreimage = Effect.fnUntraced(function* ({ hold, paymentHash }: Invoice.Invoice, preimage: Preimage.Preimage | null) {
  const invalid = (message: string) => new Invalid({ path: "preimage", message })
  if (hold !== "company")
    return preimage === null ? undefined : yield* invalid("None: only an invoice that was made with a payment_hash has one of yours")
  if (preimage === null || !Preimage.proves(preimage, paymentHash))
    return yield* invalid("The 32 bytes whose SHA-256 is the invoice's r_hash, in hex")
})

/** Notifies the node now. An outage changes nothing: the decision is committed, and a job notifies the node later. */
const orLater = <A>(what: string, told: Effect.Effect<A, NodeUnavailable | StoreUnavailable>) => {
  const later = (outage: NodeUnavailable | StoreUnavailable) => Effect.logInfo(`invoice: ${what}; will notify the node later`, outage)
  return Effect.catchTags(told, { NodeUnavailable: later, StoreUnavailable: later })
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* ReceivingReads
  const [prices, bounds] = [yield* Prices, yield* Bounds]
  const { minAmount, maxInvoice } = bounds
  const [{ close }, { look }] = [yield* Closing.make, yield* Looking.make]
  const { issue, issueHold } = yield* Issuing.make

  /** What a payer is asked for: an amount, or one of his own within what is expected. */
  const priced = Effect.fnUntraced(function* (ask: Asked | AskedAny) {
    if (ask.amount !== null) {
      const price = yield* prices.price(ask)
      if (price.amount < minAmount || price.amount > maxInvoice)
        return yield* new Invalid({ path: "amount", message: `From ${Msat.toSats(minAmount)} to ${Msat.toSats(maxInvoice)} sats` })
      return { ...price, minAmount: null, maxAmount: null }
    }
    yield* checkRange({ min: ask.minAmount, max: ask.maxAmount }, bounds)
    return { amount: null, minAmount: ask.minAmount, maxAmount: ask.maxAmount, rate: null, rateAtMillis: null }
  })

  /** As it stands now, with the deposit that it became. */
  const show = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const deposit = invoice.status === "settled" ? yield* records.depositOfInvoice(invoice.companyId, invoice.id) : Option.none()
    return Invoice.shown(invoice, yield* Clock.currentTimeMillis, Option.getOrNull(deposit)?.id)
  })

  const find = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.invoiceWithDeposit(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "invoice", id })
  })
  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const { invoice, depositId } = yield* find(companyId, id)
    return Invoice.shown(invoice, yield* Clock.currentTimeMillis, depositId)
  })

  return Invoices.of({
    create: Effect.fnUntraced(function* (ask) {
      const before = yield* Answers.earlier(ledger, ask.companyId, ask.request)
      if (before !== undefined) return before
      yield* check(ask)
      const draft: Issuing.Draft = {
        companyId: ask.companyId,
        ...(yield* priced(ask)),
        memo: ask.description,
        description: { _tag: "Text", text: ask.description },
        expirySeconds: ask.expirySeconds,
        metadata: ask.metadata,
        lightningAddressId: null,
        checkoutId: ask.checkoutId ?? null,
        apiKeyId: ask.apiKeyId ?? null,
        callback: null,
        request: ask.request
      }
      return yield* ask.hold === undefined ? issue(draft) : issueHold(draft, ask.hold)
    }),
    issue,
    get,
    cancel: Effect.fnUntraced(function* (companyId, id, next) {
      const { invoice } = yield* find(companyId, id)
      const nowMillis = yield* Clock.currentTimeMillis
      const standing = Invoice.standing(invoice, nowMillis)
      const isOpen = standing === "open" || invoice.status === "held"
      if (!isOpen && standing !== "canceled") return yield* new Invoice.InvoiceNotPayable({ invoiceId: id, status: standing })
      if (isOpen) yield* journal.commit(Invoice.canceled(invoice, nowMillis, next === undefined ? [] : [next(nowMillis)]))
      // It is canceled, whatever becomes of this: open invoices are looked up, and closed then.
      if (invoice.status !== "canceled") yield* orLater("canceled", close(invoice))
      return yield* get(companyId, id)
    }),
    settle: Effect.fnUntraced(function* (companyId, id, preimage) {
      const { invoice: before } = yield* find(companyId, id)
      yield* checkPreimage(before, preimage)
      // What was paid a moment ago may not have been noticed yet.
      if (before.hold !== null && before.status === "pending") yield* orLater("looked at", look(before))
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
        // It is decided, whatever becomes of this: the job of the invoice tells the node as well.
        yield* orLater("settled", look((yield* find(companyId, id)).invoice))
      }
      return yield* get(companyId, id)
    }),
    list: Effect.fnUntraced(function* (companyId, query) {
      if (query.label !== undefined) yield* Metadata.checkLabel(query.label)
      if (query.lightningAddressId !== undefined && !Id.is(query.lightningAddressId))
        return yield* new Invalid({ path: "lightning_address_id", message: "The id of a Lightning address" })
      const atMillis = yield* Clock.currentTimeMillis
      const { rows, next } = yield* Page.pick(query.limit, (limit) =>
        records.invoicesOf(companyId, { ...query, atMillis, limit }, Page.looks)
      )
      return { invoices: yield* Effect.forEach(rows, show, { concurrency: "unbounded" }), next }
    })
  })
})

export const layer = Layer.effect(Invoices, make)
