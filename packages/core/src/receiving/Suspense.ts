import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import { Installation } from "../accounts/Installation.ts"
import type { CompanyId } from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import { type Conflict, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import * as Assignment from "./Assignment.ts"
import * as Deposit from "./Deposit.ts"
import type { Unmatched } from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** A payment that came to lie in suspense, and what became of it: null while it lies there. */
export interface Suspended extends Unmatched {
  readonly assignment: Assignment.Assignment | null
}

/** Money that arrived and belongs to no company as far as is known, until an operator says whose it is. */
export class Suspense extends Context.Service<
  Suspense,
  {
    /** All that ever came to lie there, the newest first, from after this one on. */
    readonly list: (query: {
      readonly limit: number
      readonly after: Page.Position | null
    }) => Effect.Effect<Page.Page<Suspended>, Invalid | StoreUnavailable>
    /** It becomes a deposit of the company's, which can be refunded as any. The same company again is answered as the first time. */
    readonly assign: (ask: {
      readonly id: string
      readonly companyId: CompanyId
    }) => Effect.Effect<Suspended, NotFound | Invalid | Assignment.AlreadyAssigned | Conflict | StoreUnavailable>
  }
>()("@satrail/core/receiving/Suspense") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const accounts = yield* AccountReads
  const receiving = yield* ReceivingReads
  const entropy = yield* Entropy
  const { network } = yield* Installation

  const suspended = (row: Unmatched) =>
    Effect.map(nouns.named(Assignment.noun, { unmatchedId: row.id }), (found): Suspended => ({
      ...row,
      assignment: Option.getOrNull(found)
    }))

  const depositOf = Effect.fnUntraced(function* ({ paymentHash, received }: Unmatched, companyId: CompanyId) {
    const invoice = yield* receiving.invoiceByHash(paymentHash)
    const nowMillis = yield* Clock.currentTimeMillis
    return Deposit.settledFromStart(
      {
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        recipient: Option.match(invoice, { onNone: () => paymentHash, onSome: ({ paymentRequest }) => paymentRequest }),
        amount: received,
        network,
        rail: "lightning",
        // The invoice has the deposit that settled it, and its checkout counts that one.
        lightningInvoiceId: null,
        checkoutId: null,
        metadata: Metadata.empty
      },
      nowMillis
    )
  })

  return Suspense.of({
    list: ({ limit, after }) =>
      Effect.gen(function* () {
        const { rows, next } = yield* Page.pick(limit, (limit) =>
          Effect.map(receiving.suspended(after, limit), (rows) => ({ rows, lookedTo: null }))
        )
        return { rows: yield* Effect.forEach(rows, suspended, { concurrency: "unbounded" }), next }
      }),
    assign: Effect.fnUntraced(function* ({ id, companyId }) {
      const found = Id.is(id) ? Option.getOrUndefined(yield* receiving.unmatchedById(id)) : undefined
      if (found === undefined) return yield* new NotFound({ what: "payment in suspense", id })
      const before = yield* suspended(found)
      if (before.assignment === null) {
        if (Option.isNone(yield* accounts.company(companyId)))
          return yield* new Invalid({ path: "company_id", message: "The id of a company: there is none with this one" })
        yield* journal.commit(Assignment.assigned(found, yield* depositOf(found, companyId))).pipe(
          Effect.andThen(Effect.logInfo("suspense: a payment is assigned", { id, companyId, sats: Msat.toDecimalSats(found.received) })),
          // Somebody else was first, for this company or for another one.
          Effect.catchTag("AlreadyAssigned", () => Effect.void)
        )
      }
      const now = before.assignment === null ? yield* suspended(found) : before
      return now.assignment?.companyId === companyId ? now : yield* new Assignment.AlreadyAssigned({ id })
    })
  })
})

export const layer = Layer.effect(Suspense, make)
