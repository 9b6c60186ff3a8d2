import * as Msat from "@satrail/bitcoin/Msat"
import type { Operator } from "@satrail/core/accounts/SecondOperator"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Adjustment from "@satrail/features/adjustments/core/Adjustment"
import { Clock, Effect, Result } from "effect"

const ada: Operator = { id: "ada", name: "Ada" }
export const bob: Operator = { id: "bob", name: "Bob" }

/** An adjustment that has not been requested yet. */
export const adjustment = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Adjustment.Adjustment> = {}
): Effect.fn.Return<Adjustment.Adjustment> {
  return {
    id: yield* Id.make,
    companyId,
    ledgerTxId: yield* Id.make,
    amount: Msat.fromSats(sats),
    reason: 'café ☕ "',
    note: null,
    requestedById: ada.id,
    requestedBy: ada.name,
    status: "pending",
    decidedBy: null,
    decidedAtMillis: null,
    createdAtMillis: yield* Clock.currentTimeMillis,
    ...fields
  }
})

/** The adjustment's approval by another operator. */
export const approved = (row: Adjustment.Adjustment, by = bob, atMillis = row.createdAtMillis + 1) =>
  Result.getOrThrow(Adjustment.booked(row, by, atMillis))
