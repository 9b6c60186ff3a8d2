import { Effect } from "effect"
import type { About } from "@satrail/core/ledger/Feature"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as WithdrawalNotices from "@satrail/core/sending/WithdrawalNotices"
import * as Voucher from "./Voucher.ts"

/** Types of voucher events, in the order of the catalog. A published type is never removed. */
export const types = ["voucher.created", "voucher.claimed", "voucher.expired", "voucher.canceled"] as const

const about = (
  type: (typeof types)[number],
  record: Voucher.Voucher
): About<"voucher", typeof type, Voucher.Voucher> => ({
  kind: "voucher",
  type,
  record
})

const voucherIs = (type: (typeof types)[number]) =>
  Conversion.ofSubject(Voucher.noun, (row) => about(type, row))

/** Returns the event with the voucher in the state in which it was created. */
const opened = (row: Voucher.Voucher) =>
  about("voucher.created", {
    ...row,
    status: "open",
    withdrawalId: null,
    updatedAtMillis: row.createdAtMillis
  })

/** Returns the creation event of a voucher created together with another record. */
export const createdWith = Conversion.ofRecord(Voucher.noun, opened)

/**
 * Returns the events for a claimed voucher and for its withdrawal, because the withdrawal has no creation event
 * of its own.
 */
const claimed = Effect.fnUntraced(function* (event: Published) {
  const [voucher] = yield* voucherIs("voucher.claimed")(event)
  return voucher === undefined
    ? []
    : [voucher, ...(yield* WithdrawalNotices.requestedWith(event, voucher.record.withdrawalId))]
})

export const notices = {
  kind: "voucher",
  types,
  byEvent: {
    "voucher.created": { as: ["voucher.created"], convert: Conversion.ofSubject(Voucher.noun, opened) },
    "voucher.claimed": {
      as: ["voucher.claimed", "withdrawal.lightning.pending"],
      aboutOthers: true,
      convert: claimed
    },
    "voucher.expired": { as: ["voucher.expired"], convert: voucherIs("voucher.expired") },
    "voucher.canceled": { as: ["voucher.canceled"], convert: voucherIs("voucher.canceled") }
  }
} as const
