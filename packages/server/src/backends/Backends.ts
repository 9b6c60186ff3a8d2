import * as BitcoinRpc from "./BitcoinRpc.ts"
import type * as ChainView from "./ChainView.ts"
import * as Esplora from "./Esplora.ts"
import * as Ldk from "./Ldk.ts"
import type * as LightningNode from "./LightningNode.ts"
import * as Lnd from "./Lnd.ts"

/** What can be chosen besides the sandbox. */
export interface Backends {
  /** What LIGHTNING can name. */
  readonly lightning: ReadonlyArray<LightningNode.Backend>
  /** What CHAIN can name. */
  readonly chain: ReadonlyArray<ChainView.Backend>
}

/** A new one is one more entry. */
export const all: Backends = {
  lightning: [Lnd.backend, Ldk.backend],
  chain: [BitcoinRpc.backend, Esplora.backend]
}
