import { VoucherReads } from "../core/VoucherReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const vouchers = Feature.make({ tables, migrations, reads: Feature.reads(VoucherReads, make) })
