import { h } from "preact"
import type { Payment } from "@satrail/ui/console/Api"
import * as Formats from "@satrail/ui/console/Format"
import { confirmed, type Elsewhere, may, text, type Visit, whoMay } from "@satrail/ui/console/Page"
import { act, body, confirm, copied, type Fact, facts, form, note, plain } from "@satrail/ui/console/Parts"
import { namesFor } from "@satrail/ui/console/pages/Makers"
import { feeOf } from "@satrail/ui/console/pages/Rows"
import type { FollowedWithdrawal, Withdrawal } from "@satrail/ui/console/wire"
import type { PaymentPart } from "@satrail/ui/console/Feature"

/** Shows who has to approve a withdrawal, with a form for those who may, and who decided about it. */
export const sent = async (
  visit: Visit,
  payment: Payment,
  { approval }: Withdrawal
): Promise<PaymentPart> => {
  if (approval === null) return {}
  const { api, say, to, user } = visit
  const named = await namesFor(visit, payment.id)
  const askedBy = [
    "Requested by",
    approval.asked_by === null ? "unknown" : await named(approval.asked_by)
  ] as const
  if (payment.status !== "pending_approval")
    return {
      facts: [
        askedBy,
        approval.decided_by === null
          ? null
          : [approval.state === "approved" ? "Approved by" : "Decided by", await named(approval.decided_by)]
      ]
    }
  const isOwn = approval.asked_by !== null && (await api.isRequester(approval.asked_by))
  const mayDecide = may(visit, "approve")
  const at = to(`payments/out/${payment.id}`)
  const [satsWords, now] = [Formats.inSats(payment.amountSats), say.fiat(payment.amountSats)]
  return {
    top: [
      isOwn || !mayDecide
        ? note(
            "info",
            "Awaiting approval",
            h(
              "p",
              null,
              isOwn
                ? `${approval.asked_by === user.id ? "You" : "A key or person linked to you"} requested it, so another person or key must approve it.`
                : whoMay("approve it", "approve")
            )
          )
        : form(
            at,
            {},
            plain("Approval", [
              body(
                facts([
                  askedBy,
                  ["Amount", [satsWords, ...(now === undefined ? [] : [` · ${now}`])]],
                  ["Fee", feeOf(payment)],
                  // Invoices are shortened, because nobody compares them by eye. Addresses are shown in full.
                  [
                    "To",
                    payment.recipient.length > 90 ? copied(payment.recipient, "invoice") : payment.recipient
                  ]
                ])
              ),
              confirm(`Approve ${satsWords}`, { isConfirmed: user.isConfirmed })
            ])
          ),
      mayDecide && act(at, "Reject", "danger", { reject: "yes" })
    ]
  }
}

const words = {
  waiting: "Waiting",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Nobody approved it"
} as const

/** Shows the operator who decided about a withdrawal. */
export const operatorFacts = ({ approval }: FollowedWithdrawal): ReadonlyArray<Fact> =>
  approval === null
    ? []
    : [
        [
          "Approval",
          `${words[approval.state]}${approval.decided_by === null ? "" : ` by ${approval.decided_by}`}`
        ]
      ]

export const decide = async (visit: Visit): Promise<Elsewhere> => {
  const { id } = visit
  const params = { withdrawalID: id }
  await confirmed(visit)
  if (text(visit, "reject") === "")
    await visit.api.call("POST /v1/transactions/withdrawals/{withdrawalID}/approve", { params })
  else await visit.api.call("POST /v1/transactions/withdrawals/{withdrawalID}/reject", { params })
  return { redirect: `payments/out/${id}` }
}
