import { Conflict } from "@satrail/core/ledger/Journal"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as Reads from "./Reads.ts"
import { creation, type Kind } from "./Statements.ts"
import * as Table from "./Table.ts"

const onChainAddresses = Table.of(OnChainAddress.noun)

const created: Kind<OnChainAddress.OnChainAddressCreated> = {
  statement: creation(onChainAddresses, {
    guards: "(select 'Conflict' from satrail.on_chain_addresses t where t.script_pub_key = a.script_pub_key)"
  }),
  row: ({ onChainAddress }) => onChainAddresses.toRow(onChainAddress),
  identities: ({ onChainAddress }) => [onChainAddress.scriptPubKey],
  refusals: { Conflict: (change) => new Conflict({ change: change._tag, id: change.id }) }
}

export const kinds = { OnChainAddressCreated: created }

export const reads = {
  onChainAddresses: Reads.many("Records.onChainAddresses", {
    text: `
select ${onChainAddresses.selected} from ${onChainAddresses.name} t
where t.script_pub_key = any(array(select value from json_array_elements_text($1)))`,
    values: (scriptPubKeys: ReadonlyArray<string>) => [Reads.list("text", scriptPubKeys)],
    read: onChainAddresses.ofRow
  }),
  allOnChainAddresses: Reads.page("Records.allOnChainAddresses", onChainAddresses, "true")
}
