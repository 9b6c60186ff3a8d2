import type * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Noun from "@satrail/core/ledger/Noun"
import * as Written from "@satrail/core/ledger/Written"
import type { Change } from "@satrail/core/service/Changes"
import type { Listener, Record } from "../features/Feature.ts"
import type { Coverage } from "../world/Coverage.ts"
import type { Watch } from "../world/Watch.ts"

/** A record that a Change touched. */
export interface Row {
  readonly kind: "withdrawal" | "deposit" | "invoice" | (string & {})
  readonly companyId: CompanyId.CompanyId
  readonly id: string
}

/** The committed Changes that checks need. */
export interface Seen {
  /** Reads the Changes committed since the last call. */
  readonly absorb: () => void
  /** Registers a listener for every Change read from now on, with the customer request it was made for. */
  readonly hear: (listener: Listener) => void
  /** Returns the kinds of Change applied for a customer request. */
  readonly appliedFor: (asking: number) => ReadonlyArray<Change["_tag"]>
  /** Returns the records touched since the last call. */
  readonly take: () => {
    readonly companies: ReadonlySet<CompanyId.CompanyId>
    readonly rows: ReadonlyArray<Row>
  }
  /** Payments received by the node without a known owner, by payment hash. */
  readonly unmatched: ReadonlyMap<string, Msat.Msat>
}

/** The kinds of records that scenarios check, by noun. */
type Kinds = { readonly [noun: string]: Row["kind"] }

/** Returns the written record if scenarios check its kind. */
const written = (write: Noun.Write, kindOf: Kinds): ReadonlyArray<Row> => {
  const [noun, { id, companyId }] =
    write._tag === "Insert"
      ? [write.noun, write.record]
      : write._tag === "Transition"
        ? [write.move.noun, write.found]
        : [write.noun, write]
  const kind = kindOf[noun.name]
  return kind === undefined || id === null ? [] : [{ kind, companyId, id }]
}

const rowsOf = (change: Change, kinds: Kinds): ReadonlyArray<Row> => {
  if (Written.is(change)) return change.writes.flatMap((write) => written(write, kinds))
  const { companyId, id } = change
  switch (change._tag) {
    case "WithdrawalDispatched":
    case "WithdrawalReplaced":
    case "WithdrawalSettled":
    case "PayoutBuried":
    case "PayoutReleased":
      return [{ kind: "withdrawal", companyId, id }]
    case "InternalTransferred": {
      const { deposit, invoice } = change
      return [
        { kind: "withdrawal", companyId, id },
        { kind: "deposit", companyId: deposit.companyId, id: deposit.id },
        ...(invoice === null
          ? []
          : [{ kind: "invoice", companyId: deposit.companyId, id: invoice.id } as const])
      ]
    }
    default:
      return []
  }
}

export const make = (watch: Watch, coverage: Coverage, records: ReadonlyArray<Record>): Seen => {
  const kinds: Kinds = {
    withdrawals: "withdrawal",
    deposits: "deposit",
    invoices: "invoice",
    ...Object.fromEntries(records.map(({ noun, kind }) => [noun.name, kind]))
  }
  const byAsking = new Map<number, Array<Change["_tag"]>>()
  const unmatched = new Map<string, Msat.Msat>()
  /** Deleted invoices. A process that read one earlier may still record its expiry. */
  const forgotten = new Set<string>()
  const listeners: Array<Listener> = []
  let companies = new Set<CompanyId.CompanyId>()
  let rows = new Map<string, Row>()
  return {
    hear: (listener) => void listeners.push(listener),
    absorb: () => {
      for (const { change, asking } of watch.take()) {
        coverage.count("change", change._tag)
        for (const listener of listeners) listener(change, asking)
        if (asking !== null) byAsking.set(asking, [...(byAsking.get(asking) ?? []), change._tag])
        for (const { companyId } of change.legs) companies.add(companyId)
        if (change._tag === "InvoiceForgotten") {
          forgotten.add(change.id)
          rows.delete(change.id)
        }
        for (const row of rowsOf(change, kinds)) if (!forgotten.has(row.id)) rows.set(row.id, row)
        if (change._tag === "PaymentUnmatched") {
          const [{ record }] = change.writes
          unmatched.set(record.paymentHash, record.received)
        }
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
