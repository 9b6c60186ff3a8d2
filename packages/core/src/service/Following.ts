import { features } from "../features/index.ts"
import { statements } from "../features/statements/index.ts"
import { walletConnect } from "../features/wallet-connect/index.ts"
import { webhooks } from "../features/webhooks/index.ts"
import type { Feature } from "../ledger/Feature.ts"

/**
 * Features that follow what others publish. They use events and reports, which fold over the list of features, so they cannot be in that list. They declare no
 * notices and hold no money.
 */
export const following = [webhooks, walletConnect, statements] as const satisfies ReadonlyArray<Feature & { readonly notices: undefined }>

/** Both lists in one. */
export const everything = [...features, ...following] as const

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Feature> = everything
