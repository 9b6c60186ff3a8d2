import { AdjustmentReads } from "../core/AdjustmentReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const adjustments = Feature.make({ tables, reads: Feature.reads(AdjustmentReads, make) })
