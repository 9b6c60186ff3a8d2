import { VoucherReads } from "@satrail/core/features/vouchers/VoucherReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const vouchers = Feature.make({ tables, migrations, reads: Feature.reads(VoucherReads, make) })
