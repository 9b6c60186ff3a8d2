import type { Payment } from "@satrail/ui/console/Api"
import type { PaymentPart } from "@satrail/ui/console/Feature"
import * as Formats from "@satrail/ui/console/Format"
import type { Visit } from "@satrail/ui/console/Page"
import { panel } from "@satrail/ui/console/Parts"
import { elided } from "@satrail/ui/console/pages/Rows"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import type { Deposit, DepositSplit } from "@satrail/ui/console/wire"

const columns = ({ to }: Visit): ReadonlyArray<Column<DepositSplit>> => [
  {
    title: "Account",
    place: "c1",
    cell: ({ company_id, transfer_id }) =>
      transfer_id === null ? elided(company_id) : rowLink(to(`transfers/${transfer_id}`), elided(company_id))
  },
  { title: "Share", place: "c3", kind: "faint", cell: ({ share }) => share },
  {
    title: "Received, sats",
    place: "c2",
    kind: "amount",
    cell: ({ amount_sats, transfer_id }) => (transfer_id === null ? "none" : Formats.sats(amount_sats))
  }
]

/** Shows the shares of a deposit. */
export const received = async (visit: Visit, _: Payment, { id }: Deposit): Promise<PaymentPart> => {
  const { splits } = await visit.api.call("GET /v1/transactions/deposits/{depositID}/splits", {
    params: { depositID: id }
  })
  return {
    panel:
      splits.length > 0 &&
      panel(
        "Splits",
        { isRuled: true },
        table("Splits", { columns: columns(visit), groups: [{ rows: splits }], kind: "mid", opens: true })
      )
  }
}
