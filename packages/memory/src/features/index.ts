import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { Context } from "effect"
import type { Read } from "../Reading.ts"
import * as Refunds from "./Refunds.ts"

/** What features read. */
export const reads = (read: Read) => Context.make(RefundReads, Refunds.make(read))
