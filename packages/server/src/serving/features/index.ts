import { checkouts } from "./checkouts.ts"
import type { Feature } from "./Feature.ts"
import { walletConnect } from "./wallet-connect.ts"
import { webhooks } from "./webhooks/index.ts"
import { zaps } from "./zaps.ts"

/** Every feature that has external dependencies. */
export const features = [webhooks, checkouts, zaps, walletConnect] as const

/** The same features, typed as `Feature`. */
export const all: ReadonlyArray<Feature> = features
