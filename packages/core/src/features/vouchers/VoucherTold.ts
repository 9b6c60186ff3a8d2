import { Effect, Option } from "effect"
import type { CompanyId } from "../../base/CompanyId.ts"
import type { About } from "../../ledger/Feature.ts"
import type { Published } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as WithdrawalTold from "../../sending/WithdrawalTold.ts"
import * as Voucher from "./Voucher.ts"

/** The types of notice, in the order of the catalogue. A type that was ever told stays. */
export const types = ["voucher.created", "voucher.claimed", "voucher.expired", "voucher.canceled"] as const

const about = (type: (typeof types)[number], record: Voucher.Voucher): About<"voucher", typeof type, Voucher.Voucher> => ({
  kind: "voucher",
  type,
  record
})

/** As it was when it was created. */
const opened = (row: Voucher.Voucher) =>
  about("voucher.created", { ...row, status: "open", withdrawalId: null, updatedAtMillis: row.createdAtMillis })

const one =
  (tell: (row: Voucher.Voucher) => ReturnType<typeof about>) =>
  ({ companyId, subject }: Pick<Published, "companyId" | "subject">) =>
    Effect.gen(function* () {
      return Option.toArray(Option.map(yield* (yield* NounReads).get(Voucher.noun, companyId, subject), tell))
    })

/** One that was made with something else, whose creation is no event of its own. */
export const createdWith = (companyId: CompanyId, id: string | null) =>
  id === null ? Effect.succeed([]) : one(opened)({ companyId, subject: id })

/** The voucher, and the withdrawal that it is from here on, whose request is no event of its own. */
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
