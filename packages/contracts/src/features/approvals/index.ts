import * as Feature from "../Feature.ts"
import * as Journal from "./Journal.ts"
import { waiting } from "./Waiting.ts"

export const approvals = Feature.make({
  money: Journal.money,
  other: {},
  subjects: { "withdrawals that wait": waiting }
})
