import { AdjustmentReads } from "@satrail/core/features/adjustments/AdjustmentReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const adjustments = Feature.make({ tables, reads: Feature.reads(AdjustmentReads, make) })
