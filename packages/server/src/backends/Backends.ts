import * as BitcoinRpc from "./BitcoinRpc.ts"
import type * as ChainView from "./ChainView.ts"
import * as Esplora from "./Esplora.ts"
import * as Ldk from "./Ldk.ts"
import type * as LightningNode from "./LightningNode.ts"
import * as Lnd from "./Lnd.ts"

/** The backends that can replace the sandbox. */
export interface Backends {
  /** The values that LIGHTNING accepts. */
  readonly lightning: ReadonlyArray<LightningNode.Backend>
  /** The values that CHAIN accepts. */
  readonly chain: ReadonlyArray<ChainView.Backend>
}

/** Add a new backend here. */
export const all: Backends = {
  lightning: [Lnd.backend, Ldk.backend],
  chain: [BitcoinRpc.backend, Esplora.backend]
}
