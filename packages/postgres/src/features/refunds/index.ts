import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const refunds = Feature.make({ tables, migrations, reads: Feature.reads(RefundReads, make) })
