import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import { posts } from "@satrail/core/ledger/Posts"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Adjustment from "./Adjustment.ts"
import { AdjustmentReads } from "./AdjustmentReads.ts"
import * as Adjustments from "./Adjustments.ts"

const type = "adjustment.booked" as const

const tell = Conversion.ofSubject(
  Adjustment.noun,
  (record) => ({ kind: "adjustment", type, record }) as const
)

/** Corrections that one operator requests and another approves. */
export const adjustments = Feature.make({
  name: "adjustments",
  nouns: [Adjustment.noun],
  lives: [Adjustment.life],
  changes: Feature.changes<
    Adjustment.AdjustmentRequested | Adjustment.AdjustmentBooked | Adjustment.AdjustmentRejected
  >(),
  events: { [type]: "adjustments" },
  notices: { kind: "adjustment", types: [type], byEvent: { [type]: { as: [type], convert: tell } } },
  posts: [
    posts(Adjustment.noun, {
      in: "booked",
      amount: "amount",
      transfer: "ledgerTxId",
      reason: "reason",
      atMillis: "decidedAtMillis",
      from: "adjustments",
      type: "adjustment"
    })
  ],
  reads: AdjustmentReads,
  layer: Traced.over(Adjustments.Adjustments, Adjustments.layer)
})
