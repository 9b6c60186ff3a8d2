import { maxDescriptionBytes } from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Bounds, checkRange } from "../accounts/Bounds.ts"
import type { AmountInvalid } from "../base/Amount.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import type { RateUnavailable } from "../nodes/ExchangeRates.ts"
import { type Description, LightningReceiver, type NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { type Asked, Prices } from "../nodes/Prices.ts"
import * as Closing from "./Closing.ts"
import * as Invoice from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** An invoice that is to be. Of `description` the node puts in what it is given: a text, or only its hash. */
export interface Draft extends Pick<
  Invoice.Invoice,
  "companyId" | "amount" | "minAmount" | "maxAmount" | "memo" | "metadata" | "lightningAddressId" | "callback" | "rate" | "rateAtMillis"
> {
  readonly description: Description
  readonly expirySeconds: number
  readonly request?: Answer.Request<Invoice.Invoice> | undefined
}

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
        readonly request?: Answer.Request<Invoice.Invoice>
      }
    ) => Effect.Effect<
      Answer.Outcome<Invoice.Invoice>,
      AmountInvalid | Invalid | RateUnavailable | NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /** The same for what was checked and priced before. */
    readonly issue: (
      draft: Draft
    ) => Effect.Effect<Answer.Outcome<Invoice.Invoice>, NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable>
    /** As it stands now. */
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Invoice.Shown, NotFound | StoreUnavailable>
    /**
     * Nobody is to pay it any more. Canceling it again changes nothing; one that was paid, is being paid or has expired is refused. The node is told right after the
     * commit, and again later where it is away. A payment that was on its way may settle it all the same, and is credited: then it is `settled`, with the time at which it was canceled.
     */
    readonly cancel: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<Invoice.Shown, NotFound | Invoice.InvoiceNotPayable | StoreUnavailable>
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

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* ReceivingReads
  const receiver = yield* LightningReceiver
  const prices = yield* Prices
  const bounds = yield* Bounds
  const { minAmount, maxInvoice } = bounds
  const entropy = yield* Entropy
  const { close } = yield* Closing.make

  const issue = Effect.fnUntraced(function* ({ description, expirySeconds, request, ...asked }: Draft) {
    const createdAtMillis = yield* Clock.currentTimeMillis
    const id = Id.fromMillis(createdAtMillis, entropy)
    const issued = yield* receiver.createInvoice({ id, amount: asked.amount, description, expirySeconds })
    const invoice: Invoice.Invoice = {
      id,
      nodeId: receiver.nodeId,
      ...asked,
      ...issued,
      status: "pending",
      received: null,
      preimage: null,
      claimedBy: null,
      createdAtMillis,
      expiresAtMillis: createdAtMillis + expirySeconds * 1000,
      settledAtMillis: null,
      canceledAtMillis: null
    }
    const once = Answer.once(asked.companyId, request, invoice, createdAtMillis + Answer.keptMillis)
    return Answers.outcome(yield* journal.commit(Invoice.created(invoice, once)), invoice)
  })

  /** What a payer is asked for: an amount, or one of his own within what is expected. */
  const priced = Effect.fnUntraced(function* (ask: Asked | AskedAny) {
    if (ask.amount !== null) {
      const price = yield* prices.price(ask)
      if (price.amount < minAmount || price.amount > maxInvoice)
        return yield* new Invalid({ path: "amount", message: `From ${Msat.toSats(minAmount)} to ${Msat.toSats(maxInvoice)} sats` })
      return { ...price, minAmount: null, maxAmount: null }
    }
    if (receiver.lacks?.has("amountless") === true)
      return yield* new Invalid({ path: "amount", message: "An amount: the node of this service makes no invoice without one" })
    yield* checkRange({ min: ask.minAmount, max: ask.maxAmount }, bounds)
    return { amount: null, minAmount: ask.minAmount, maxAmount: ask.maxAmount, rate: null, rateAtMillis: null }
  })

  /** As it stands now, with the deposit that it became. */
  const show = Effect.fnUntraced(function* (invoice: Invoice.Invoice) {
    const deposit = invoice.status === "settled" ? yield* records.depositOfInvoice(invoice.companyId, invoice.id) : Option.none()
    return Invoice.shown(invoice, yield* Clock.currentTimeMillis, Option.getOrNull(deposit)?.id)
  })

  const find = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* records.invoice(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "invoice", id })
  })
  const get = (companyId: CompanyId.CompanyId, id: string) => Effect.flatMap(find(companyId, id), show)

  return Invoices.of({
    create: Effect.fnUntraced(function* (ask) {
      const before = yield* Answers.earlier(ledger, ask.companyId, ask.request)
      if (before !== undefined) return before
      yield* check(ask)
      return yield* issue({
        companyId: ask.companyId,
        ...(yield* priced(ask)),
        memo: ask.description,
        description: { _tag: "Text", text: ask.description },
        expirySeconds: ask.expirySeconds,
        metadata: ask.metadata,
        lightningAddressId: null,
        callback: null,
        request: ask.request
      })
    }),
    issue,
    get,
    cancel: Effect.fnUntraced(function* (companyId, id) {
      const invoice = yield* find(companyId, id)
      const nowMillis = yield* Clock.currentTimeMillis
      const standing = Invoice.standing(invoice, nowMillis)
      if (standing !== "open" && standing !== "canceled") return yield* new Invoice.InvoiceNotPayable({ invoiceId: id, status: standing })
      if (standing === "open") yield* journal.commit(Invoice.canceled(invoice, nowMillis))
      // It is canceled, whatever becomes of this: open invoices are looked up, and closed then.
      const later = (outage: NodeUnavailable | StoreUnavailable) =>
        Effect.logInfo("invoice: canceled, and to be closed at the node later", outage)
      if (invoice.status !== "canceled") yield* Effect.catchTags(close(invoice), { NodeUnavailable: later, StoreUnavailable: later })
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
