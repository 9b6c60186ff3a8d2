import * as Feature from "../Feature.ts"
import * as Journal from "./Journal.ts"

export const splits = Feature.make({ money: Journal.money, subjects: {} })
