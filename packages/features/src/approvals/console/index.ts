import * as Formats from "@satrail/ui/console/Format"
import { elided } from "@satrail/ui/console/pages/Rows"
import type { Feature } from "@satrail/ui/console/Feature"
import { decide, operatorFacts, sent } from "./Approval.ts"

export const approvals: Feature = {
  name: "approvals",
  overview: {
    concerns: async ({ api, say, to }) =>
      (await api.call("GET /v1/transactions", { query: { status: "pending_approval", limit: 5 } })).map(
        ({ id, amount_sats, recipient, created_at }) => ({
          tone: "warn",
          title: `${Formats.inSats(amount_sats)} ${amount_sats === 1 ? "needs" : "need"} approval`,
          text: `To ${elided(recipient)}, requested ${say.since(Date.parse(created_at))}`,
          href: to(`payments/out/${id}`),
          action: "Review"
        })
      )
  },
  keys: {
    limit: {
      name: "approval_above_sats",
      label: "Needs approval above, sats",
      rule: (sats) => ["Needs approval", `Above ${Formats.inSats(sats)}`]
    }
  },
  payments: { sent, decide, eventWords: { "withdrawal.pending_approval": "Approval requested" } },
  waits: {
    kind: "withdrawal_unapproved",
    text: "Needs approval",
    step: "Waiting for the company to approve it",
    end: "Sent, or money returned",
    advice: (company) => ({
      first: "There is nothing for you to do.",
      next: [
        `Another person or key at ${company} who can approve has to decide. Nothing has been sent.`,
        "If nobody decides within a day, or before its invoice expires, the withdrawal fails and the money is returned."
      ]
    }),
    facts: operatorFacts
  }
}
