import { Effect, Option } from "effect"
import type { CompanyId } from "../../base/CompanyId.ts"
import type { About } from "../../ledger/Feature.ts"
import type { Published } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as WithdrawalTold from "../../sending/WithdrawalTold.ts"
import * as Voucher from "./Voucher.ts"

/** Types of voucher events, in the order of the catalog. A published type is never removed. */
export const types = ["voucher.created", "voucher.claimed", "voucher.expired", "voucher.canceled"] as const

const about = (type: (typeof types)[number], record: Voucher.Voucher): About<"voucher", typeof type, Voucher.Voucher> => ({
  kind: "voucher",
  type,
  record
})

/** Returns the event with the voucher in the state in which it was created. */
const opened = (row: Voucher.Voucher) =>
  about("voucher.created", { ...row, status: "open", withdrawalId: null, updatedAtMillis: row.createdAtMillis })

const one =
  (tell: (row: Voucher.Voucher) => ReturnType<typeof about>) =>
  ({ companyId, subject }: Pick<Published, "companyId" | "subject">) =>
    Effect.gen(function* () {
      return Option.toArray(Option.map(yield* (yield* NounReads).get(Voucher.noun, companyId, subject), tell))
    })

/** Returns the creation event of a voucher created together with another record. */
export const createdWith = (companyId: CompanyId, id: string | null) =>
  id === null ? Effect.succeed([]) : one(opened)({ companyId, subject: id })

/**
 * Returns the events for a claimed voucher and for its withdrawal, because the withdrawal has no creation event
 * of its own.
 */
const claimed = Effect.fnUntraced(function* ({ companyId, subject }: Published) {
  const voucher = yield* (yield* NounReads).get(Voucher.noun, companyId, subject)
  if (Option.isNone(voucher)) return []
  return [about("voucher.claimed", voucher.value), ...(yield* WithdrawalTold.requestedWith(companyId, voucher.value.withdrawalId))]
})

export const notices = {
  kind: "voucher",
  types,
  told: {
    "voucher.created": { as: ["voucher.created"], tell: one(opened) },
    "voucher.claimed": { as: ["voucher.claimed", "withdrawal.lightning.pending"], aboutOthers: true, tell: claimed },
    "voucher.expired": { as: ["voucher.expired"], tell: one((row) => about("voucher.expired", row)) },
    "voucher.canceled": { as: ["voucher.canceled"], tell: one((row) => about("voucher.canceled", row)) }
  }
} as const
