import type * as CompanyId from "@satrail/core/base/CompanyId"
import { all as features } from "@satrail/core/features/index"
import type { Row } from "@satrail/core/ledger/Noun"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Search from "@satrail/core/reports/Search"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as State from "./State.ts"

interface Fields {
  readonly id: string
  readonly order?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly words?: string
  readonly hash?: string | null
  readonly transaction?: string | null
  readonly amount?: bigint
}

type Way = readonly [by: Search.Hit["by"], matches: (fields: Fields, sought: Search.Sought) => boolean]

/** The ways in which a record can match a search. The database store has an index for each of them. */
const ways: ReadonlyArray<Way> = [
  ["order", ({ order }, { text }) => order?.toLowerCase().startsWith(text.toLowerCase()) === true],
  ["text", ({ metadata }, { text }) => Object.values(metadata ?? {}).some((value) => value.toLowerCase() === text.toLowerCase())],
  ["text", ({ words = "" }, { text }) => words.toLowerCase().includes(text.toLowerCase())],
  ["id", ({ id }, { ids }) => ids !== null && id >= ids[0] && id <= ids[1]],
  ["hash", (fields, { hash }) => hash !== null && fields.hash === hash],
  ["transaction", ({ transaction }, { hash }) => hash !== null && transaction === hash],
  ["amount", ({ amount }, { amounts }) => amounts !== null && amount !== undefined && amount >= amounts[0] && amount <= amounts[1]]
]

const hits = <A>(
  kind: Search.Hit["kind"],
  rows: ReadonlyArray<A>,
  of: (row: A) => Fields,
  sought: Search.Sought
): ReadonlyArray<Search.Hit> => {
  const newest = rows.map(of).toSorted((one, other) => (one.id < other.id ? 1 : -1))
  const found = new Map<string, Search.Hit>()
  for (const [by, matches] of ways)
    for (const { id } of newest.filter((fields) => matches(fields, sought)).slice(0, Search.limits.each))
      if (!found.has(id)) found.set(id, { kind, id, by })
  return [...found.values()]
}

/** Records with an order id, which are checkouts. */
const ordered = features.flatMap(({ describes = [] }) =>
  describes.flatMap(({ orderId, ...one }) => (orderId === undefined ? [] : [{ ...one, orderId }]))
)

const textOf = (row: Row, member: string): string => {
  const text: unknown = Reflect.get(row, member)
  return typeof text === "string" ? text : ""
}

/** Returns a company's records that match a search. */
export const found = (state: State.State, companyId: CompanyId.CompanyId, sought: Search.Sought): ReadonlyArray<Search.Hit> => [
  ...ordered.flatMap(({ noun, description, orderId }) =>
    hits(
      "checkout",
      State.ownedBy(state, noun, companyId),
      (row) => ({ id: row.id, order: textOf(row, orderId), words: textOf(row, description) }),
      sought
    )
  ),
  ...hits(
    "invoice",
    State.ownedBy(state, Invoice.noun, companyId),
    ({ id, metadata, memo, paymentHash }) => ({ id, metadata, words: memo, hash: paymentHash }),
    sought
  ),
  ...hits(
    "deposit",
    State.ownedBy(state, Deposit.noun, companyId),
    ({ id, metadata, chainTxId, amount }) => ({ id, metadata, transaction: chainTxId, amount }),
    sought
  ),
  ...hits(
    "withdrawal",
    State.ownedBy(state, Withdrawal.noun, companyId),
    ({ id, metadata, chainTxId, amount, paymentHash }) => ({ id, metadata, transaction: chainTxId, amount, hash: paymentHash }),
    sought
  )
]
