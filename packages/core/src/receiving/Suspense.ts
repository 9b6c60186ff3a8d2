import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import { Installation } from "../accounts/Installation.ts"
import type { OperatorRequest } from "../accounts/OperatorRequest.ts"
import * as OperatorRequests from "../accounts/OperatorRequests.ts"
import type { Operator, SameOperator } from "../accounts/SecondOperator.ts"
import type { CompanyId } from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Metadata from "../base/Metadata.ts"
import { type Conflict, found, Journal, type NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import * as SuspenseAssignment from "./SuspenseAssignment.ts"
import * as Deposit from "./Deposit.ts"
import type { Unmatched } from "./Invoice.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"

/**
 * A payment that was put in suspense, with its assignment (null while the payment is still in suspense) and the
 * request that waits for a second operator (null if there is none).
 */
export interface Suspended extends Unmatched {
  readonly request: OperatorRequest | null
  readonly assignment: SuspenseAssignment.SuspenseAssignment | null
}

/** Whether a payment is still in suspense. */
export type Status = "open" | "assigned"

/** Second payments of an invoice. They stay in suspense until two operators assign them to a company. */
export class Suspense extends Context.Service<
  Suspense,
  {
    /** Returns payments that were put in suspense, newest first, after the given position. */
    readonly list: (query: {
      readonly limit: number
      readonly after: Page.Position | null
      readonly status?: Status | undefined
    }) => Effect.Effect<Page.Page<Suspended>, Invalid | StoreUnavailable>
    /**
     * Requests that a payment is assigned to a company. When another operator sends the same request, assigns the
     * payment as a deposit, which can be refunded like any other. A request waits for a day, and one for another
     * company replaces it. Once the payment is assigned, repeating the request returns the same result.
     */
    readonly assign: (ask: {
      readonly id: string
      readonly companyId: CompanyId
      readonly by: Operator
    }) => Effect.Effect<
      Suspended,
      NotFound | Invalid | SameOperator | SuspenseAssignment.AlreadyAssigned | Conflict | StoreUnavailable
    >
  }
>()("@satrail/core/receiving/Suspense") {}

/** Reads of single payments that were put in suspense. */
export const single = Effect.gen(function* () {
  const [nouns, receiving, requests] = [yield* NounReads, yield* ReceivingReads, yield* OperatorRequests.make]

  const suspended = Effect.fnUntraced(function* (
    row: Unmatched
  ): Effect.fn.Return<Suspended, StoreUnavailable> {
    const assignment = Option.getOrNull(yield* nouns.named(SuspenseAssignment.noun, { unmatchedId: row.id }))
    return { ...row, request: assignment === null ? yield* requests.open(row) : null, assignment }
  })

  const get = (id: string) =>
    Effect.flatMap(found("payment in suspense", id, receiving.unmatchedById(id)), suspended)

  return { suspended, get }
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const accounts = yield* AccountReads
  const receiving = yield* ReceivingReads
  const { suspended, get } = yield* single
  const requests = yield* OperatorRequests.make
  const entropy = yield* Entropy
  const { network } = yield* Installation

  const depositOf = Effect.fnUntraced(function* ({ paymentHash, received }: Unmatched, companyId: CompanyId) {
    const invoice = yield* receiving.invoiceByHash(paymentHash)
    const nowMillis = yield* Clock.currentTimeMillis
    return Deposit.settledFromStart(
      {
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        recipient: Option.match(invoice, {
          onNone: () => paymentHash,
          onSome: ({ paymentRequest }) => paymentRequest
        }),
        amount: received,
        network,
        rail: "lightning",
        // The invoice already has a deposit: the one that settled it. Only that deposit counts toward the
        // invoice's checkout.
        lightningInvoiceId: null,
        ...Purpose.none,
        metadata: Metadata.empty
      },
      nowMillis
    )
  })

  return Suspense.of({
    list: ({ limit, after, status }) =>
      Effect.gen(function* () {
        const { rows, next } = yield* Page.pick(limit, (limit, from) =>
          Effect.map(receiving.suspended(from ?? after, limit, status), (rows) => ({ rows, lookedTo: null }))
        )
        return { rows: yield* Effect.forEach(rows, suspended, { concurrency: "unbounded" }), next }
      }),
    assign: Effect.fnUntraced(function* ({ id, companyId, by }) {
      const before = yield* get(id)
      if (before.assignment === null) {
        if (Option.isNone(yield* accounts.company(companyId)))
          return yield* new Invalid({ path: "company_id", message: "must be the id of a company" })
        const wanted = { id, companyId: before.companyId, action: "assign", toCompanyId: companyId } as const
        if (!(yield* requests.confirm(wanted, by))) return yield* suspended(before)
        yield* journal.commit(SuspenseAssignment.assigned(before, yield* depositOf(before, companyId))).pipe(
          Effect.andThen(
            Effect.logInfo("suspense: payment assigned", {
              id,
              companyId,
              sats: Msat.toDecimalSats(before.received)
            })
          ),
          // Another operator was first, and assigned the payment to this company or another one.
          Effect.catchTag("AlreadyAssigned", () => Effect.void)
        )
      }
      const now = before.assignment === null ? yield* suspended(before) : before
      return now.assignment?.companyId === companyId
        ? now
        : yield* new SuspenseAssignment.AlreadyAssigned({ id })
    })
  })
})

export const layer = Layer.effect(Suspense, make)
