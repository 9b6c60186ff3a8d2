import type { Cause } from "@satrail/core/sending/Cause"
import * as Member from "./Member.ts"

/** Ids of the features' records that a payment pays. `payment` is the payment's name in descriptions. */
export const members = (payment: string) => ({
  refund_id: Member.uuidOrNull((row: Cause) => row.refundId, `Refund that this ${payment} pays; null if none`)
})
