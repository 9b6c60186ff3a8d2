import type * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Change } from "@satrail/core/Changes"
import type { Coverage } from "./Coverage.ts"
import type { Watch } from "./Watch.ts"

/** A row of the books that a Change touched. */
export interface Row {
  readonly kind: "withdrawal" | "deposit" | "invoice" | "voucher"
  readonly companyId: CompanyId.CompanyId
  readonly id: string
}

/** What was committed, as far as anybody has to remember it. */
export interface Seen {
  /** Takes in what was committed since. */
  readonly absorb: () => void
  /** The kinds of Change that were applied for a request of a customer. */
  readonly appliedFor: (asking: number) => ReadonlyArray<Change["_tag"]>
  /** What was touched since this was last asked. */
  readonly take: () => { readonly companies: ReadonlySet<CompanyId.CompanyId>; readonly rows: ReadonlyArray<Row> }
  /** Received by the node and nobody's, by payment hash. */
  readonly unmatched: ReadonlyMap<string, Msat.Msat>
}

const rowsOf = (change: Change): ReadonlyArray<Row> => {
  const { companyId, id } = change
  switch (change._tag) {
    case "WithdrawalRequested":
    case "WithdrawalDispatched":
    case "WithdrawalReplaced":
    case "WithdrawalSettled":
    case "WithdrawalFailed":
    case "PayoutBuried":
      return [{ kind: "withdrawal", companyId, id }]
    case "InternalTransferred": {
      const { deposit, invoice } = change
      return [
        { kind: "withdrawal", companyId, id },
        { kind: "deposit", companyId: deposit.companyId, id: deposit.id },
        ...(invoice === null ? [] : [{ kind: "invoice", companyId: deposit.companyId, id: invoice.id } as const])
      ]
    }
    case "DepositSeen":
    case "DepositPlaced":
    case "DepositConfirmed":
    case "DepositReversed":
    case "DepositDropped":
      return [{ kind: "deposit", companyId, id }]
    case "InvoiceCreated":
    case "InvoiceClaimed":
    case "InvoiceExpired":
      return [{ kind: "invoice", companyId, id }]
    case "InvoiceSettled":
      return [
        { kind: "invoice", companyId, id },
        { kind: "deposit", companyId, id: change.deposit.id }
      ]
    case "VoucherCreated":
    case "VoucherExpired":
    case "VoucherCanceled":
      return [{ kind: "voucher", companyId, id }]
    case "VoucherClaimed":
      return [
        { kind: "voucher", companyId, id },
        { kind: "withdrawal", companyId, id: change.writes[1].record.id }
      ]
    default:
      return []
  }
}

export const make = (watch: Watch, coverage: Coverage): Seen => {
  const byAsking = new Map<number, Array<Change["_tag"]>>()
  const unmatched = new Map<string, Msat.Msat>()
  /** Invoices of which nothing is kept. Whoever looked at one before may still say that its time is over. */
  const forgotten = new Set<string>()
  let companies = new Set<CompanyId.CompanyId>()
  let rows = new Map<string, Row>()
  return {
    absorb: () => {
      for (const { change, asking } of watch.take()) {
        coverage.count("change", change._tag)
        if (asking !== null) byAsking.set(asking, [...(byAsking.get(asking) ?? []), change._tag])
        for (const { companyId } of change.legs) companies.add(companyId)
        if (change._tag === "InvoiceForgotten") {
          forgotten.add(change.id)
          rows.delete(change.id)
        }
        for (const row of rowsOf(change)) if (!forgotten.has(row.id)) rows.set(row.id, row)
        if (change._tag === "PaymentUnmatched") unmatched.set(change.unmatched.paymentHash, change.unmatched.received)
      }
    },
    appliedFor: (asking) => byAsking.get(asking) ?? [],
    take: () => {
      const taken = { companies, rows: [...rows.values()] }
      companies = new Set()
      rows = new Map()
      return taken
    },
    unmatched
  }
}
