import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Checkout from "../core/Checkout.ts"
import { CheckoutReads } from "../core/CheckoutReads.ts"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Effect, Option, Schema } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const checkouts = Table.of(Checkout.noun)
const deposits = Table.of(Deposit.noun)

const Arrived = Schema.Struct({
  received: Msat.FromString,
  pending: Msat.FromString,
  refunded: Msat.FromString,
  inTime: Msat.FromString,
  pendingHeight: Schema.NullOr(Schema.Int),
  depositIds: Schema.Array(Schema.String)
})

type Asked = Pick<Checkout.Checkout, "companyId" | "id" | "expiresAtMillis">

const arrivedFor = Reads.mapped(
  Reads.one("Records.arrivedFor", {
    key: { company_id: "uuid", id: "uuid", expires_at_millis: "text" },
    select: `
select coalesce(sum(t.amount) filter (where t.status = 'settled'), 0)::text as received,
  coalesce(sum(t.amount) filter (where t.status = 'pending'), 0)::text as pending,
  coalesce(sum(t.refunded) filter (where t.status = 'settled'), 0)::text as refunded,
  coalesce(sum(t.amount) filter (where t.status in ('pending', 'settled')
    and (t.rail = 'lightning' or coalesce(t.paid_at_millis, t.created_at_millis) < a.expires_at_millis::bigint)), 0)::text as "inTime",
  case when bool_or(t.height is null) filter (where t.status = 'pending') then null
    else max(t.height) filter (where t.status = 'pending') end as "pendingHeight",
  coalesce((array_agg(t.id::text order by t.id desc) filter (where t.status in ('pending', 'settled')))[1:${Checkout.shownDeposits}], '{}')
    as "depositIds"
from ${deposits.name} t where t.checkout_id = a.id and t.company_id = a.company_id`,
    read: Schema.decodeUnknownSync(Arrived),
    keyOf: ({ companyId, id, expiresAtMillis }: Asked) => [companyId, id, String(expiresAtMillis)]
  }),
  Option.getOrElse(() => Checkout.nothing)
)

/** Compares the company and sorts the ids as text, so that only the index by checkout is read. */
const depositsFor = Reads.many("Records.depositsFor", {
  text: `
select ${deposits.selected} from ${deposits.name} t
where t.checkout_id = $2::uuid and t.company_id::text = $1::uuid::text and t.status in ('pending', 'settled')
order by t.id::text desc limit $3::bigint`,
  values: (companyId: CompanyId.CompanyId, checkoutId: string, limit: number) => [
    companyId,
    checkoutId,
    String(limit)
  ],
  read: deposits.ofRow
})

/** Uses the index of ids as bytes. A hash can belong to two orders, so the order is compared as well. */
const ofOrder = Reads.many("Records.ofOrder", {
  text: `
select ${checkouts.selected} from ${checkouts.name} t
where uuid_send(t.company_id) = uuid_send($1::uuid) and hashtextextended(t.order_id, 0) = hashtextextended($2::text, 0)
  and t.order_id = $2::text and uuid_send(t.id) < uuid_send($3::uuid)
order by uuid_send(t.id) desc limit $4::bigint`,
  values: (companyId: CompanyId.CompanyId, orderId: string, before: string | null, limit: number) => [
    companyId,
    orderId,
    before ?? Id.max,
    String(limit)
  ],
  read: checkouts.ofRow
})

export const make = Effect.map(Effect.all({ arrivedFor, depositsFor, ofOrder }), CheckoutReads.of)
