import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as PlatformHooks from "./PlatformHooks.ts"
import * as PlatformKey from "./PlatformKey.ts"
import * as PlatformKeys from "./PlatformKeys.ts"

/** Keys that act for every account of the service. */
export const platform = Feature.make({
  name: "platform",
  nouns: [PlatformKey.noun],
  lives: [PlatformKey.life],
  changes: Feature.changes<
    PlatformKey.PlatformKeyIssued | PlatformKey.PlatformKeyApproved | PlatformKey.PlatformKeyRevoked
  >(),
  layer: Traced.over(PlatformKeys.PlatformKeys, PlatformKeys.layer),
  extensions: PlatformHooks.layer
})
