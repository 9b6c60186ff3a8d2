import type * as CompanyId from "@satrail/core/base/CompanyId"
import { rateOf } from "@satrail/core/ledger/Feature"
import type { Noun, Row } from "@satrail/core/ledger/Noun"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import type { Rated } from "@satrail/core/base/Rated"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import * as Search from "@satrail/core/reports/Search"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap } from "effect"
import * as State from "./State.ts"

interface Fields {
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  readonly order?: string | null
  readonly reference?: string | null
  readonly email?: string | null
  readonly fiat?: string | null
  readonly rated?: { readonly amount: bigint | null } & Pick<Rated, "rate" | "fiatCurrency">
  readonly ledgerTxId?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly words?: string
  readonly hash?: string | null
  readonly transaction?: string | null
  readonly amount?: bigint
  readonly recipients?: ReadonlyArray<string | null>
}

type Way = readonly [by: Search.Hit["by"], matches: (fields: Fields, sought: Search.Sought) => boolean]

const begins = (field: string | null | undefined, text: string | null): boolean =>
  text !== null && field?.toLowerCase().startsWith(text.toLowerCase()) === true

const isIn = (
  field: string | null | undefined,
  range: readonly [first: string, after: string] | null
): boolean => range !== null && field !== null && field !== undefined && field >= range[0] && field < range[1]

/** The ways in which a record can match a search. The database store has an index for each of them. */
const ways: ReadonlyArray<Way> = [
  ["order", ({ order }, { text }) => begins(order, text)],
  ["reference", ({ reference }, { hexes }) => isIn(reference, hexes)],
  [
    "text",
    ({ metadata }, { text }) =>
      Object.values(metadata ?? {}).some((value) => value.toLowerCase() === text?.toLowerCase())
  ],
  ["text", ({ words = "" }, { text }) => text !== null && words.toLowerCase().includes(text.toLowerCase())],
  [
    "id",
    ({ id, ledgerTxId = id }, { ids }) =>
      ids !== null && [id, ledgerTxId].some((one) => one >= ids[0] && one <= ids[1])
  ],
  [
    "hash",
    ({ hash = null }, sought) =>
      hash !== null && (hash === sought.hash || hash === sought.preimageHash || isIn(hash, sought.hexes))
  ],
  ["transaction", ({ transaction }, { hexes }) => isIn(transaction, hexes)],
  [
    "recipient",
    ({ recipients = [] }, { address, recipient, lightningAddress }) =>
      recipients.some((one) => one !== null && [address, recipient, lightningAddress].includes(one))
  ],
  ["email", ({ email }, { text }) => begins(email, text)],
  [
    "value",
    ({ fiat, rated }, sought) =>
      sought.fiat !== null &&
      (fiat === sought.fiat.amount
        ? sought.fiat.currency === null || rated?.fiatCurrency === sought.fiat.currency
        : fiat === undefined && rated !== undefined && Search.isWorth(rated, sought.fiat))
  ],
  [
    "amount",
    ({ amount }, { amounts }) =>
      amounts !== null && amount !== undefined && amount >= amounts[0] && amount <= amounts[1]
  ]
]

const textOf = (row: Row, member: string | undefined) =>
  member === undefined ? null : Descriptions.textOf(row, member)

/** Returns the records that match a search, of a company or of all companies. */
export const found = (
  state: State.State,
  companyId: CompanyId.CompanyId | null,
  sought: Search.Sought
): ReadonlyArray<Search.Hit> => {
  const owners = companyId === null ? HashMap.toValues(state.companies).map(({ id }) => id) : [companyId]
  const used = companyId === null ? ways.filter(([by]) => by !== "value" && by !== "amount") : ways
  const hits = <A extends Row>(
    noun: Noun<A>,
    of: (row: A) => Omit<Fields, "id" | "companyId">
  ): ReadonlyArray<Search.Hit> => {
    const newest = owners
      .flatMap((owner) => State.ownedBy(state, noun, owner))
      .map((row) => ({
        id: row.id,
        companyId: row.companyId,
        ...of(row),
        ...(companyId === null && { words: "" })
      }))
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    const found = new Map<string, Search.Hit>()
    for (const [by, matches] of used)
      for (const { id, companyId } of newest
        .filter((fields) => matches(fields, sought))
        .slice(0, Search.limits.each))
        if (!found.has(id)) found.set(id, { kind: noun.name, companyId, id, by })
    return [...found.values()]
  }
  return [
    ...Descriptions.sought(state.features).flatMap(
      ({ noun, description, orderId, reference, email, fiat, transfer }) =>
        hits(noun, (row) => ({
          ledgerTxId: textOf(row, transfer) ?? row.id,
          order: textOf(row, orderId),
          reference: textOf(row, reference),
          email: textOf(row, email),
          ...(fiat !== undefined && {
            fiat: textOf(row, fiat),
            rated: { amount: null, ...rateOf(row) }
          }),
          words: textOf(row, description) ?? ""
        }))
    ),
    ...hits(Invoice.noun, ({ metadata, memo, paymentHash, amount, rate, fiatCurrency }) => ({
      metadata,
      words: memo,
      hash: paymentHash,
      rated: { amount, rate, fiatCurrency }
    })),
    ...hits(OnChainAddress.noun, ({ address }) => ({ recipients: [address] })),
    ...hits(LightningAddress.noun, (row) => ({ recipients: [LightningAddress.text(row)] })),
    ...hits(Deposit.noun, ({ metadata, chainTxId, amount, rail, recipient, ledgerTxId }) => ({
      metadata,
      ledgerTxId,
      transaction: chainTxId,
      amount,
      ...(rail === "on_chain" && { recipients: [recipient] })
    })),
    ...hits(
      Withdrawal.noun,
      ({ metadata, chainTxId, amount, paymentHash, reportedHash, recipient, paymentRequest, ...row }) => ({
        metadata,
        ledgerTxId: row.ledgerTxId,
        rated: { amount, ...row },
        transaction: chainTxId,
        amount,
        hash: paymentHash ?? reportedHash,
        recipients: [recipient, paymentRequest]
      })
    )
  ]
}
