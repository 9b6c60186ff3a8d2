import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const refunds = Feature.make({ tables, reads: Feature.reads(RefundReads, make) })
