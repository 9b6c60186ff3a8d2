import { listed } from "./Look.ts"

export const vouchers = { look: { vouchers: listed("vouchers", "id", "created_at", "status", "amount_sats", "withdrawal_id") } }
