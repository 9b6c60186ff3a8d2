import { Conflict } from "@satrail/core/Journal"
import * as LightningAddress from "@satrail/core/LightningAddress"
import * as Reads from "./Reads.ts"
import { creation, type Kind } from "./Statements.ts"
import * as Table from "./Table.ts"

const lightningAddresses = Table.make("satrail.lightning_addresses", LightningAddress.LightningAddress, {
  columns: {
    id: "uuid",
    companyId: "uuid",
    handle: "text",
    domain: "text",
    metadata: "json",
    createdAtMillis: "millis",
    updatedAtMillis: "millis",
    lastUsedAtMillis: "millis",
    deletedAtMillis: "millis"
  },
  moving: ["updatedAtMillis", "lastUsedAtMillis", "deletedAtMillis"]
})

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

export const kinds = { LightningAddressCreated: created }

export const reads = {
  lightningAddress: Reads.one("Records.lightningAddress", {
    key: { handle: "text", domain: "text" },
    select: `select ${lightningAddresses.selected} from ${lightningAddresses.name} t where t.handle = a.handle and t.domain = a.domain`,
    read: lightningAddresses.ofRow,
    keyOf: (handle: string, domain: string) => [handle, domain]
  })
}
