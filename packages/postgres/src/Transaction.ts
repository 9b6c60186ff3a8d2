import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Query } from "@satrail/core/reports/Transaction"
import * as Transaction from "@satrail/core/reports/Transaction"
import * as Reads from "./Reads.ts"
import * as Table from "./Table.ts"

/** Not a table: what deposits and withdrawals have in common. */
const transactions = Table.of(Noun.members("transactions", Transaction.Transaction, []), "t")

// Each half stops at the limit by itself, going down its own index, which is of the company's id as bytes (see Migration0014).
const half = (type: Transaction.Type, table: string, fee: string) => `(
  select id, company_id, amount, recipient, rail, '${type}' as type, ${fee} as fee, status, created_at_millis from ${table}
  where uuid_send(company_id) = uuid_send($1::uuid) and (created_at_millis, id) < ($2::bigint, $3::uuid)
    and created_at_millis > $4::bigint and created_at_millis < $5::bigint
    and coalesce($6 = '${type}', true) and coalesce(status = $7, true) and coalesce(rail = $8, true)
  order by created_at_millis desc, id desc limit $9::bigint
)`

const [earliest, latest] = ["-9223372036854775808", "9223372036854775807"]

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff"

export const reads = {
  transactions: Reads.many("Records.transactions", {
    text: `
select ${transactions.selected} from (
  ${half("withdrawal", "satrail.withdrawals", "service_fee + network_allowance")} union all ${half("deposit", "satrail.deposits", "0")}
) t order by t.created_at_millis desc, t.id desc limit $9::bigint`,
    values: (companyId: CompanyId.CompanyId, query: Query) => [
      companyId,
      String(query.after?.createdAtMillis ?? latest),
      query.after?.id ?? lastId,
      String(query.createdAfterMillis ?? earliest),
      String(query.createdBeforeMillis ?? latest),
      query.type ?? null,
      query.status ?? null,
      query.rail ?? null,
      String(query.limit)
    ],
    read: transactions.ofRow
  })
}
