import type { TxId } from "@satrail/bitcoin/TxId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"

/** The kinds of tasks that a withdrawal can have, as SQL. */
export const taskKinds = `array[${Withdrawal.kinds.map((kind) => `'${kind}'`).join(", ")}]`

/** Every withdrawal, including those of claimed vouchers. */
export const withdrawals = Table.of(Withdrawal.noun)

export const conflict = (change: Change) => new Conflict({ change: change._tag, id: change.id })

export const terminal = (change: Change, status: string) =>
  new Withdrawal.AlreadyTerminal({ id: change.id, status })

export const reads = {
  withdrawal: Reads.get("Records.withdrawal", Withdrawal.noun),
  withdrawalById: Reads.anywhere("Records.withdrawalById", Withdrawal.noun),
  withdrawalByHash: Reads.named("Records.withdrawalByHash", Withdrawal.noun, ["paymentHash"]),
  followers: Reads.many("Records.followers", {
    text: `
select ${withdrawals.selected} from ${withdrawals.name} t
where t.follows = any(array(select value::uuid from json_array_elements_text($1))) order by t.id`,
    values: (withdrawalId: string) => [Reads.list("uuid", [withdrawalId])],
    read: withdrawals.ofRow
  }),
  payoutOf: Reads.first("Records.payoutOf", {
    text: `
select ${withdrawals.selected} from satrail.candidates c join ${withdrawals.name} t on t.company_id = c.company_id and t.id = c.withdrawal_id
where c.tx_id = $1::text limit 1`,
    values: (txId: TxId) => [txId],
    read: withdrawals.ofRow
  }),
  // No index contains the status, so the period limits how many rows are read.
  settledOverLightning: Reads.first("Records.settledOverLightning", {
    text: `
select ${withdrawals.selected} from ${withdrawals.name} t
where uuid_send(t.id) >= uuid_send($1::uuid) and uuid_send(t.id) < uuid_send($2::uuid) and t.status = 'settled'
  and t.payment_hash is not null and t.payment_index is not null and t.dispatched_at_millis is not null and t.updated_at_millis < $3::bigint
order by uuid_send(t.id) desc limit 1`,
    values: (sinceMillis: number, beforeMillis: number) => [
      Id.floorOf(sinceMillis),
      Id.floorOf(beforeMillis),
      String(beforeMillis)
    ],
    read: withdrawals.ofRow
  }),
  // Each withdrawal is found through its own task or its leader's task, because there is no other index of
  // pending withdrawals.
  withdrawalsUnderWay: Reads.many("Records.withdrawalsUnderWay", {
    text: `
select ${withdrawals.selected} from (
  select w.* from satrail.tasks k join ${withdrawals.name} w on w.company_id = k.company_id and w.id = k.id
  where k.kind = any(${taskKinds})
  union all select w.* from satrail.tasks k join ${withdrawals.name} w on w.follows = k.id where k.kind = any(${taskKinds})
) t where t.status = 'pending' and t.dispatched_at_millis is not null and t.id > $1::uuid order by t.id limit $2::bigint`,
    values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
    read: withdrawals.ofRow
  })
}
