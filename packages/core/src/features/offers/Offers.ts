import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Bounds } from "../../accounts/Bounds.ts"
import { type Paused, Stops } from "../../accounts/Stops.ts"
import type * as CompanyId from "../../base/CompanyId.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import { Invalid } from "../../base/Invalid.ts"
import * as Metadata from "../../base/Metadata.ts"
import * as Answer from "../../ledger/Answer.ts"
import * as Answers from "../../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Page from "../../ledger/Page.ts"
import { LightningReceiver, type NodeUnavailable } from "../../nodes/LightningReceiver.ts"
import * as OfferIssuer from "../../nodes/OfferIssuer.ts"
import * as LightningAddress from "../../receiving/LightningAddress.ts"
import { descriptionIssue } from "../../receiving/Invoices.ts"
import * as Offer from "./Offer.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"

/** Gives out offers (BOLT 12) of our node, any number, each to one company and never again. */
export class Offers extends Context.Service<
  Offers,
  {
    /** `amount`: what each payment must be at least; null lets the payer decide. An offer with an amount needs a memo (BOLT 12). `lightningAddressId`: to be published under that address of the company, which has none yet. Invalid where the node issues no offers. */
    readonly create: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly memo: string
      readonly amount: Msat.Msat | null
      readonly metadata: Metadata.Metadata
      readonly lightningAddressId: string | null
      readonly request?: Answer.Request<Offer.Offer>
    }) => Effect.Effect<
      Answer.Outcome<Offer.Offer>,
      Invalid | Paused | NotFound | NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Offer.Offer, NotFound | StoreUnavailable>
    /** A page, the newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<
      { readonly offers: ReadonlyArray<Offer.Offer>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
  }
>()("@satrail/core/features/offers/Offers") {}

/** How many offers a page has. */
export const limit = Page.limit

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const { nodeId } = yield* LightningReceiver
  const issuer = yield* OfferIssuer.available
  const stops = yield* Stops
  const { minAmount, maxInvoice } = yield* Bounds
  const entropy = yield* Entropy
  const nouns = yield* NounReads

  /** The address of this company's that is to have the offer. */
  const addressOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string | null) {
    if (id === null) return null
    const found = Id.is(id) ? yield* receiving.lightningAddressById(companyId, id) : Option.none()
    if (Option.isNone(found) || found.value.deletedAtMillis !== null) return yield* new NotFound({ what: "Lightning address", id })
    if (Option.isSome(yield* nouns.named(Offer.noun, { lightningAddressId: id })))
      return yield* new Invalid({ path: "lightning_address_id", message: "The address has an offer already: it does not end" })
    return found.value
  })

  return Offers.of({
    get: Effect.fnUntraced(function* (companyId, id) {
      const found = Id.is(id) ? yield* nouns.get(Offer.noun, companyId, id) : Option.none()
      return Option.isSome(found) ? found.value : yield* new NotFound({ what: "offer", id })
    }),
    list: Effect.fnUntraced(function* (companyId, query) {
      const { rows, next } = yield* Page.read(query, (before, limit) => nouns.newestFirst(Offer.noun, companyId, before, limit))
      return { offers: rows, next }
    }),
    create: Effect.fnUntraced(function* ({ companyId, memo, amount, metadata, lightningAddressId, request }) {
      if (issuer === undefined)
        return yield* new Invalid({ path: "offer", message: "None: the node of this service issues no BOLT 12 offers" })
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("receiving")
      const issue = descriptionIssue(memo)
      if (issue !== undefined) return yield* new Invalid({ path: "description", message: issue })
      if (amount !== null && memo === "")
        return yield* new Invalid({ path: "description", message: "description is required when amount is set" })
      if (amount !== null && (amount < minAmount || amount > maxInvoice))
        return yield* new Invalid({
          path: "amount",
          message: `amount must be between ${Msat.toSats(minAmount)} and ${Msat.toSats(maxInvoice)} sats (got ${Msat.toSats(amount)})`
        })
      yield* Metadata.check(metadata)
      const address = yield* addressOf(companyId, lightningAddressId)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const id = Id.fromMillis(createdAtMillis, entropy)
      const offer: Offer.Offer = {
        id,
        companyId,
        nodeId,
        // Nobody has it before it is stored whose it is: one that is not is never paid.
        offer: yield* issuer.createOffer({ id, description: memo, amount }),
        memo,
        metadata,
        lightningAddressId,
        lightningAddress: address && LightningAddress.text(address),
        createdAtMillis
      }
      const once = Answer.once(companyId, request, offer, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Offer.created(offer, once)), offer)
    })
  })
})

export const layer = Layer.effect(Offers, make)
