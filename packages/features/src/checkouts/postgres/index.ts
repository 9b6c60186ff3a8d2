import { CheckoutReads } from "../core/CheckoutReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const checkouts = Feature.make({ tables, migrations, reads: Feature.reads(CheckoutReads, make) })
