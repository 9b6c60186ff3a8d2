import * as Feature from "./Feature.ts"
import { listed } from "./Look.ts"

export const vouchers = Feature.make({
  look: { vouchers: listed("vouchers", "id", "created_at", "status", "amount_sats", "withdrawal_id") }
})
