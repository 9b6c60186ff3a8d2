import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import type { Page, Shown, Visit } from "@satrail/ui/console/Page"
import { copied, factPanel, when } from "@satrail/ui/console/Parts"

const get = async ({ api, say, id }: Visit): Promise<Shown> => {
  const { amount_sats, reason, created_at, ledger_tx_id } = await api.call(
    "GET /v1/transactions/adjustments/{adjustmentID}",
    {
      params: { adjustmentID: id }
    }
  )
  return {
    title: "Adjustment by the operator",
    figure: [Formats.signed(amount_sats), " ", h("small", null, Formats.unit(amount_sats))],
    status: { tone: "good", text: "Booked" },
    crumbs: [["Payments", "payments"]],
    body: factPanel("Details", [
      ["Reason", reason],
      ["Booked", when(Date.parse(created_at), say.when(Date.parse(created_at)))],
      ["Ledger", copied(ledger_tx_id, "ledger id")]
    ])
  }
}

export const adjustment: Page = { path: "payments/adjustment/:id", nav: "payments", get }
