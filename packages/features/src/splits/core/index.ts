import { Effect } from "effect"
import * as Traced from "@satrail/core/base/Traced"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Feature from "@satrail/core/ledger/Feature"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { maxSplits } from "@satrail/core/receiving/Purpose"
import * as Splits from "./Splits.ts"

const depositOf = Conversion.ofSubject(Deposit.noun, (deposit) => deposit)

const skipped = Effect.fnUntraced(function* (event: Published) {
  const deposits = yield* depositOf(event)
  return yield* Effect.forEach(deposits, (deposit) =>
    Effect.map(
      Splits.shared(deposit),
      (record) => ({ kind: "splits", type: "split.skipped", record }) as const
    )
  )
})

/** Shares of payments for other companies of this service, credited with the payment. */
export const splits = Feature.make({
  name: "splits",
  events: { "split.skipped": "deposits" },
  notices: {
    kind: "splits",
    types: ["split.skipped"],
    byEvent: { "split.skipped": { as: ["split.skipped"], convert: skipped } }
  },
  limits: [["payees in the splits of an invoice, checkout or Lightning address", `${maxSplits}`]],
  layer: Traced.over(Splits.Splits, Splits.layer),
  extensions: Splits.layerShares
})
