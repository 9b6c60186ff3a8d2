import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Id from "@satrail/core/base/Id"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import { type Kind, own, statement } from "../statements/Statements.ts"
import * as Table from "../statements/Table.ts"

const keyRanges = Table.of(KeyRange.members)

const reserved: Kind<KeyRange.KeyRangeReserved> = {
  statement: statement({
    columns: own(keyRanges),
    parts: () => [
      `
applied as (
  insert into satrail.key_ranges (${keyRanges.columns}) select ${keyRanges.columns} from fresh f
  where first = coalesce((
    select max(t.next) from satrail.key_ranges t where t.wallet = f.wallet and t.type = f.type and t.branch = f.branch
  ), 0) order by id
  on conflict do nothing returning '${Id.nil}'::uuid as company_id, id
)`
    ],
    before: `(select case when ${keyRanges.asAsked} then 'Applied' else 'Conflict' end from satrail.key_ranges t where t.id = a.id)`,
    // The range may have been taken by this same Change, committed by another process.
    guards: "'KeyRangeTaken stale'"
  }),
  row: ({ keyRange }) => keyRanges.toRow(keyRange),
  identities: ({ keyRange: { wallet, type, branch } }) => [`${wallet}/${type}/${branch}`],
  refusals: {
    KeyRangeTaken: ({ keyRange: { wallet, first } }) => new KeyRange.KeyRangeTaken({ wallet, first }),
    Conflict: (change) => new Conflict({ change: change._tag, id: change.id })
  }
}

export const kinds = { KeyRangeReserved: reserved }

const nextOf = Schema.decodeUnknownSync(Schema.Struct({ next: Schema.FiniteFromString }))

export const reads = {
  nextKey: Reads.mapped(
    Reads.many("Records.nextKey", {
      text: `
select coalesce(max(next), 0)::text as next from satrail.key_ranges where wallet = $1::text and type = $2::text and branch = $3::integer`,
      values: (wallet: string, type: AddressType, branch: 0 | 1) => [wallet, type, String(branch)],
      read: (row) => nextOf(row).next
    }),
    ([next = 0]) => next
  )
}
