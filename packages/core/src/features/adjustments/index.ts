import { Effect, Option } from "effect"
import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import type { Published } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import { posts } from "../../ledger/Posts.ts"
import * as Adjustment from "./Adjustment.ts"
import { AdjustmentReads } from "./AdjustmentReads.ts"
import * as Adjustments from "./Adjustments.ts"

const type = "adjustment.booked" as const

const booked = Effect.fnUntraced(function* ({ companyId, subject }: Published) {
  const found = yield* (yield* NounReads).get(Adjustment.noun, companyId, subject)
  return Option.toArray(found).map((record) => ({ kind: "adjustment" as const, type, record }))
})

/** Corrections that one operator requests and another approves. */
export const adjustments = Feature.make({
  name: "adjustments",
  nouns: [Adjustment.noun],
  lives: [Adjustment.life],
  changes: Feature.changes<Adjustment.AdjustmentRequested | Adjustment.AdjustmentBooked | Adjustment.AdjustmentRejected>(),
  events: { [type]: "adjustments" },
  notices: { kind: "adjustment", types: [type], told: { [type]: { as: [type], tell: booked } } },
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
