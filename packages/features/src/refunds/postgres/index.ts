import { RefundReads } from "../core/RefundReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const refunds = Feature.make({ tables, migrations, reads: Feature.reads(RefundReads, make) })
