import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Reads from "./Reads.ts"
import * as Table from "./Table.ts"

const lightningAddresses = Table.of(LightningAddress.noun)

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
