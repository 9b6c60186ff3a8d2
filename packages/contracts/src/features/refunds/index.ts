import * as Deposit from "@satrail/core/receiving/Deposit"
import { Effect } from "effect"
import { movesOf } from "../../Subject.ts"
import * as Feature from "../Feature.ts"
import { byLink, credited } from "./Fixtures.ts"
import * as Journal from "./Journal.ts"

export const refunds = Feature.make({
  money: Journal.money,
  other: {},
  subjects: {},
  moves: {
    deposits: movesOf(Deposit.noun, {
      refunded: ["confirmed", (row) => Effect.map(byLink(row, 1), ({ change }) => change)]
    })
  },
  spends: [
    Effect.fnUntraced(function* (companyId, sats) {
      return (yield* byLink(yield* credited(companyId, sats), sats)).change
    })
  ]
})
