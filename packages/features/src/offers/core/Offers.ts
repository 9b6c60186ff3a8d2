import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { Bounds } from "@satrail/core/accounts/Bounds"
import { type Paused, Stops } from "@satrail/core/accounts/Stops"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import { LightningReceiver, type NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as OfferIssuer from "@satrail/core/nodes/OfferIssuer"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { descriptionIssue } from "@satrail/core/receiving/Invoices"
import * as IssuedOffer from "./IssuedOffer.ts"

/**
 * Issues any number of BOLT 12 offers from our node. Each offer permanently belongs to one company.
 */
export class Offers extends Context.Service<
  Offers,
  {
    /**
     * `amount` is the minimum of each payment in msat; null lets the payer choose. An offer with an amount
     * requires a memo (BOLT 12). `lightningAddressId` publishes the offer under this Lightning address of the
     * company. The address must not have an offer yet. Fails with `Invalid` if the node cannot issue offers.
     */
    readonly create: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly memo: string
      readonly amount: Msat.Msat | null
      readonly metadata: Metadata.Metadata
      readonly lightningAddressId: string | null
      readonly request?: Answer.Request<IssuedOffer.IssuedOffer>
    }) => Effect.Effect<
      Answer.Outcome<IssuedOffer.IssuedOffer>,
      Invalid | Paused | NotFound | NodeUnavailable | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<IssuedOffer.IssuedOffer, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first. `next` is the start of the following page, or undefined on the last one.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated
    ) => Effect.Effect<Page.Page<IssuedOffer.IssuedOffer>, Invalid | StoreUnavailable>
  }
>()("@satrail/features/offers/core/Offers") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const { nodeId } = yield* LightningReceiver
  const issuer = yield* OfferIssuer.available
  const stops = yield* Stops
  const { minAmount, maxInvoice } = yield* Bounds
  const entropy = yield* Entropy
  const nouns = yield* NounReads

  /** Returns the company's address that will publish the offer. */
  const addressOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string | null) {
    if (id === null) return null
    const open = Option.filter<LightningAddress.LightningAddress>(
      ({ deletedAtMillis }) => deletedAtMillis === null
    )
    const address = yield* found(
      "Lightning address",
      id,
      Effect.map(nouns.get(LightningAddress.noun, companyId, id), open)
    )
    if (Option.isSome(yield* nouns.named(IssuedOffer.noun, { lightningAddressId: id })))
      return yield* new Invalid({
        path: "lightning_address_id",
        message: "must be a Lightning address without an offer"
      })
    return address
  })

  return Offers.of({
    get: (companyId, id) => found("offer", id, nouns.get(IssuedOffer.noun, companyId, id)),
    list: (companyId, query) =>
      Page.read(query, (before, limit) => nouns.newestFirst(IssuedOffer.noun, companyId, before, limit)),
    create: Effect.fnUntraced(function* ({ companyId, memo, amount, metadata, lightningAddressId, request }) {
      if (issuer === undefined)
        return yield* new Invalid({
          path: "offer",
          message: "requires a node that can issue BOLT 12 offers; this service's node cannot"
        })
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("receiving")
      const issue = descriptionIssue(memo)
      if (issue !== undefined) return yield* new Invalid({ path: "description", message: issue })
      if (amount !== null && memo === "")
        return yield* new Invalid({ path: "description", message: "is required when amount is set" })
      if (amount !== null && (amount < minAmount || amount > maxInvoice))
        return yield* new Invalid({
          path: "amount",
          message: `must be between ${Msat.toSats(minAmount)} and ${Msat.toSats(maxInvoice)} sats (got ${Msat.toSats(amount)})`
        })
      yield* Metadata.check(metadata)
      return yield* Effect.gen(function* () {
        const address = yield* addressOf(companyId, lightningAddressId)
        const createdAtMillis = yield* Clock.currentTimeMillis
        const id = Id.fromMillis(createdAtMillis, entropy)
        const offer: IssuedOffer.IssuedOffer = {
          id,
          companyId,
          nodeId,
          // The offer is returned only after its owner is stored, so nobody can pay an offer without a stored
          // owner.
          offer: yield* issuer.createOffer({ id, description: memo, amount }),
          memo,
          metadata,
          lightningAddressId,
          lightningAddress: address && LightningAddress.text(address),
          createdAtMillis
        }
        const once = Answer.once(companyId, request, offer, createdAtMillis + Answer.keptMillis)
        return Answers.outcome(yield* journal.commit(IssuedOffer.created(offer, once)), offer)
      }).pipe(Answers.orEarlier(ledger, companyId, request))
    })
  })
})

export const layer = Layer.effect(Offers, make)
