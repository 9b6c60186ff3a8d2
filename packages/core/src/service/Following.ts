import { features } from "../features/index.ts"
import { statements } from "../features/statements/index.ts"
import { walletConnect } from "../features/wallet-connect/index.ts"
import { webhooks } from "../features/webhooks/index.ts"
import type { Feature } from "../ledger/Feature.ts"

/**
 * Features that follow events of other features. They use events and reports, which are built from the list
 * `features`, so they cannot be in that list. They declare no notices and hold no money.
 */
export const following = [webhooks, walletConnect, statements] as const satisfies ReadonlyArray<Feature & { readonly notices: undefined }>

/** All features of both lists. */
export const everything = [...features, ...following] as const

/** All features with the widest type, for code that treats them alike. */
export const all: ReadonlyArray<Feature> = everything
