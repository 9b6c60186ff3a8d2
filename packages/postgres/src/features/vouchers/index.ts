import * as Feature from "../Feature.ts"
import { tables } from "./Tables.ts"

export const vouchers = Feature.make({ tables })
