import { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { migrations, tables } from "./Tables.ts"

export const checkouts = Feature.make({ tables, migrations, reads: Feature.reads(CheckoutReads, make) })
