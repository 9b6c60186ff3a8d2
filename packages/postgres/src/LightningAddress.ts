import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Reads from "./Reads.ts"
import { creation, joinTarget, type Kind, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

const lightningAddresses = Table.of(LightningAddress.noun)

const created: Kind<LightningAddress.LightningAddressCreated> = {
  statement: creation(lightningAddresses, {
    guards: "(select 'HandleTaken' from satrail.lightning_addresses t where t.handle = a.handle and t.domain = a.domain)"
  }),
  row: ({ lightningAddress }) => lightningAddresses.toRow(lightningAddress),
  identities: ({ lightningAddress }) => [LightningAddress.text(lightningAddress)],
  refusals: {
    HandleTaken: ({ lightningAddress: { handle, domain } }) => new LightningAddress.HandleTaken({ handle, domain }),
    Conflict: (change) => new Conflict({ change: change._tag, id: change.id })
  }
}

const settings = ["min_sendable", "max_sendable", "success_message"]

const of = (row: "a" | "f" | "g") => `(${settings.map((column) => `${row}.${column}`).join(", ")}, ${row}.metadata::text)`

const changed: Kind<LightningAddress.LightningAddressChanged> = {
  statement: statement({
    columns: "min_sendable bigint, max_sendable bigint, success_message text, metadata json",
    parts: (locks) => [
      target(lightningAddresses, locks),
      `
applied as (
  update satrail.lightning_addresses t set
    ${settings.map((column) => `${column} = f.${column}`).join(", ")}, metadata = f.metadata, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.deleted_at_millis is null and ${of("g")} is distinct from ${of("f")}
  returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: `case when g.deleted_at_millis is not null then 'LightningAddressGone' when ${of("g")} is not distinct from ${of("a")} then 'Applied' end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ settings: { minSendable, maxSendable, successMessage, metadata } }) => ({
    ...(minSendable !== null && { min_sendable: String(minSendable) }),
    ...(maxSendable !== null && { max_sendable: String(maxSendable) }),
    ...(successMessage !== null && { success_message: successMessage }),
    metadata
  }),
  refusals: { LightningAddressGone: ({ id }) => new LightningAddress.LightningAddressGone({ id }) }
}

const deleted: Kind<LightningAddress.LightningAddressDeleted> = {
  statement: statement({
    parts: (locks) => [
      target(lightningAddresses, locks),
      `
applied as (
  update satrail.lightning_addresses t set deleted_at_millis = f.at_millis, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.deleted_at_millis is null returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case when g.deleted_at_millis is not null then 'Applied' end",
    guards: "case when g.n is null then 'missing' end"
  }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { LightningAddressCreated: created, LightningAddressChanged: changed, LightningAddressDeleted: deleted }

export const reads = {
  lightningAddress: Reads.one("Records.lightningAddress", {
    key: { handle: "text", domain: "text" },
    select: `select ${lightningAddresses.selected} from ${lightningAddresses.name} t where t.handle = a.handle and t.domain = a.domain`,
    read: lightningAddresses.ofRow,
    keyOf: (handle: string, domain: string) => [handle, domain]
  }),
  lightningAddressById: Reads.one("Records.lightningAddressById", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${lightningAddresses.selected} from ${lightningAddresses.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: lightningAddresses.ofRow,
    keyOf: (companyId: CompanyId.CompanyId, id: string) => [companyId, id]
  }),
  lightningAddressesOf: Reads.newestFirst("Records.lightningAddressesOf", lightningAddresses)
}
