import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Noun, Row } from "@satrail/core/ledger/Noun"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as Descriptions from "@satrail/core/reports/Descriptions"
import * as Search from "@satrail/core/reports/Search"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as State from "./State.ts"

interface Fields {
  readonly id: string
  readonly order?: string | null
  readonly metadata?: Readonly<Record<string, string>>
  readonly words?: string
  readonly hash?: string | null
  readonly transaction?: string | null
  readonly amount?: bigint
  readonly recipients?: ReadonlyArray<string | null>
}

type Way = readonly [by: Search.Hit["by"], matches: (fields: Fields, sought: Search.Sought) => boolean]

/** The ways in which a record can match a search. The database store has an index for each of them. */
const ways: ReadonlyArray<Way> = [
  [
    "order",
    ({ order }, { text }) => text !== null && order?.toLowerCase().startsWith(text.toLowerCase()) === true
  ],
  [
    "text",
    ({ metadata }, { text }) =>
      Object.values(metadata ?? {}).some((value) => value.toLowerCase() === text?.toLowerCase())
  ],
  ["text", ({ words = "" }, { text }) => text !== null && words.toLowerCase().includes(text.toLowerCase())],
  ["id", ({ id }, { ids }) => ids !== null && id >= ids[0] && id <= ids[1]],
  [
    "hash",
    ({ hash = null }, sought) => hash !== null && (hash === sought.hash || hash === sought.preimageHash)
  ],
  ["transaction", ({ transaction }, { hash }) => hash !== null && transaction === hash],
  [
    "recipient",
    ({ recipients = [] }, { address, recipient, lightningAddress }) =>
      recipients.some((one) => one !== null && [address, recipient, lightningAddress].includes(one))
  ],
  [
    "amount",
    ({ amount }, { amounts }) =>
      amounts !== null && amount !== undefined && amount >= amounts[0] && amount <= amounts[1]
  ]
]

/** Returns a company's records that match a search. */
export const found = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  sought: Search.Sought
): ReadonlyArray<Search.Hit> => {
  const hits = <A extends Row>(
    noun: Noun<A>,
    of: (row: A) => Omit<Fields, "id">
  ): ReadonlyArray<Search.Hit> => {
    const newest = State.ownedBy(state, noun, companyId)
      .map((row) => ({ id: row.id, ...of(row) }))
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    const found = new Map<string, Search.Hit>()
    for (const [by, matches] of ways)
      for (const { id } of newest.filter((fields) => matches(fields, sought)).slice(0, Search.limits.each))
        if (!found.has(id)) found.set(id, { kind: noun.name, id, by })
    return [...found.values()]
  }
  return [
    ...Descriptions.ordered(state.features).flatMap(({ noun, description, orderId }) =>
      hits(noun, (row) => ({
        order: Descriptions.textOf(row, orderId),
        words: Descriptions.textOf(row, description) ?? ""
      }))
    ),
    ...hits(Invoice.noun, ({ metadata, memo, paymentHash }) => ({
      metadata,
      words: memo,
      hash: paymentHash
    })),
    ...hits(OnChainAddress.noun, ({ address }) => ({ recipients: [address] })),
    ...hits(LightningAddress.noun, (row) => ({ recipients: [LightningAddress.text(row)] })),
    ...hits(Deposit.noun, ({ metadata, chainTxId, amount, rail, recipient }) => ({
      metadata,
      transaction: chainTxId,
      amount,
      ...(rail === "on_chain" && { recipients: [recipient] })
    })),
    ...hits(
      Withdrawal.noun,
      ({ metadata, chainTxId, amount, paymentHash, reportedHash, recipient, paymentRequest }) => ({
        metadata,
        transaction: chainTxId,
        amount,
        hash: paymentHash ?? reportedHash,
        recipients: [recipient, paymentRequest]
      })
    )
  ]
}
