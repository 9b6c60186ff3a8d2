import * as Formats from "../../Format.ts"
import type { Feature } from "../Feature.ts"

export const approvals: Feature = {
  name: "approvals",
  concerns: async ({ api, to }) =>
    (await api.call("GET /v1/transactions", { query: { status: "pending_approval", limit: 5 } })).map(({ id, amount_sats, recipient }) => ({
      tone: "warn",
      title: `${Formats.sats(amount_sats)} sats need approval`,
      text: recipient.length > 60 ? `${recipient.slice(0, 40)}…` : recipient,
      href: to(`payments/out/${id}`),
      action: "Review"
    }))
}
