import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"

const lightningAddresses = Table.of(LightningAddress.noun)

export const reads = {
  lightningAddress: Reads.named("Records.lightningAddress", LightningAddress.noun, ["handle", "domain"]),
  lightningAddressById: Reads.get("Records.lightningAddressById", LightningAddress.noun),
  lightningAddressesOf: Reads.newestFirst("Records.lightningAddressesOf", lightningAddresses)
}
