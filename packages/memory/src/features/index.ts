import { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { Context } from "effect"
import type { Read } from "../Reading.ts"
import * as Checkouts from "./Checkouts.ts"
import * as Refunds from "./Refunds.ts"

/** What features read. */
export const reads = (read: Read) => Context.make(CheckoutReads, Checkouts.make(read)).pipe(Context.add(RefundReads, Refunds.make(read)))
