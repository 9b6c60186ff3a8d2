import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"

export const deposits = Table.of(Deposit.noun)

/**
 * The condition that selects the deposit credited for an invoice. Deposits have no index by invoice. Both
 * records contain the settlement time, and deposits are indexed by it and by the company's id as bytes (see
 * migrations/Baseline.ts).
 */
export const credited = (deposit: string, invoice: string): string =>
  `uuid_send(${deposit}.company_id) = uuid_send(${invoice}.company_id) and ${deposit}.created_at_millis = ${invoice}.settled_at_millis
  and ${deposit}.lightning_invoice_id = ${invoice}.id`

const Sum = Schema.Struct({
  companyId: Schema.NullOr(CompanyId.CompanyId),
  height: Schema.NullOr(Schema.Int),
  amount: Msat.FromString
})

/** Each sum covers a company or a block. */
const depositsUnconfirmed = Reads.mapped(
  Reads.many("Records.depositsUnconfirmed", {
    text: `
select t.company_id::text as "companyId", t.height, sum(t.amount)::text as amount from ${deposits.name} t
where t.rail = 'on_chain' and t.status = 'pending' and t.height > $1::integer
group by grouping sets ((t.company_id), (t.height))`,
    values: (height: number) => [String(height)],
    read: Schema.decodeUnknownSync(Sum)
  }),
  (rows) => ({
    ofCompany: new Map(
      rows.flatMap(({ companyId, amount }) => (companyId === null ? [] : [[companyId, amount] as const]))
    ),
    inBlock: new Map(
      rows.flatMap(({ height, amount }) => (height === null ? [] : [[height, amount] as const]))
    )
  })
)

export const reads = {
  depositsUnconfirmed,
  deposit: Reads.get("Records.deposit", Deposit.noun),
  depositById: Reads.anywhere("Records.depositById", Deposit.noun),
  depositByOutpoint: Reads.named("Records.depositByOutpoint", Deposit.noun, ["chainTxId", "vout"]),
  depositsAbove: Reads.many("Records.depositsAbove", {
    text: `
select ${deposits.selected} from ${deposits.name} t
where t.height > $1::integer and t.height <= $2::integer and t.id > $3::uuid order by t.id limit $4::bigint`,
    values: (height: number, upTo: number | null, after: string | null, limit: number) => [
      String(height),
      String(upTo ?? Reads.maxInteger),
      after ?? Id.nil,
      String(limit)
    ],
    read: deposits.ofRow
  }),
  depositsInNoBlock: Reads.page(
    "Records.depositsInNoBlock",
    deposits,
    "rail = 'on_chain' and status = 'pending' and height is null and chain_tx_id is not null"
  ),
  depositsGivenUp: Reads.many("Records.depositsGivenUp", {
    text: `
select ${deposits.selected} from ${deposits.name} t
where t.rail = 'on_chain' and t.status = 'failed' and t.revision > 0 and ($1::uuid is null or t.id < $1::uuid) order by t.id desc limit $2::bigint`,
    values: (before: string | null, limit: number) => [before, String(limit)],
    read: deposits.ofRow
  }),
  depositsOwed: Reads.many("Records.depositsOwed", {
    text: `
select ${deposits.selected} from ${deposits.name} t
where t.absorbed > 0 and exists (select from satrail.balances b where b.company_id = t.company_id and b.posted > b.held)
order by t.id limit $1::bigint`,
    values: (limit: number) => [String(limit)],
    read: deposits.ofRow
  }),
  depositsInBlocks: Reads.page(
    "Records.depositsInBlocks",
    deposits,
    "rail = 'on_chain' and status = 'pending' and height is not null"
  )
}
