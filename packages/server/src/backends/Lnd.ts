import * as LightningNode from "./LightningNode.ts"
import * as LndCheck from "./LndCheck.ts"
import * as LndNode from "./LndNode.ts"
import { config, settings } from "./LndSettings.ts"

export const backend = LightningNode.make({
  name: "lnd",
  title: "lnd",
  prefix: "LND_",
  settings,
  config,
  identity: LndNode.identity,
  layer: LndNode.layer,
  checks: (settings, network, known) => [LndCheck.check(network, settings, known)],
  proof: "real nodes on regtest: all contracts and end-to-end scenarios",
  caveats: []
})
