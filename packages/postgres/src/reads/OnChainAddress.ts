import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as Reads from "../statements/Reads.ts"
import * as Table from "../statements/Table.ts"

const onChainAddresses = Table.of(OnChainAddress.noun)

export const reads = {
  onChainAddresses: Reads.many("Records.onChainAddresses", {
    text: `
select ${onChainAddresses.selected} from ${onChainAddresses.name} t
where t.script_pub_key = any(array(select value from json_array_elements_text($1)))`,
    values: (scriptPubKeys: ReadonlyArray<string>) => [Reads.list("text", scriptPubKeys)],
    read: onChainAddresses.ofRow
  })
}
