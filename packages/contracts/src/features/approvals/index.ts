import * as Feature from "../Feature.ts"
import * as Journal from "./Journal.ts"

export const approvals = Feature.make({ money: Journal.money, other: {}, subjects: {} })
