import { Effect } from "effect"
import type { Feature } from "../ledger/Feature.ts"
import { Features } from "../ledger/Features.ts"
import { adjustments } from "./adjustments/index.ts"
import { approvals } from "./approvals/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { people } from "./people/index.ts"
import { refunds } from "./refunds/index.ts"
import { sessions } from "./sessions/index.ts"
import { statements } from "./statements/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { walletConnect } from "./wallet-connect/index.ts"
import { webhooks } from "./webhooks/index.ts"
import { zaps } from "./zaps/index.ts"

/** All features. Each one comes after the features that it requires. */
export const features = [
  approvals,
  checkouts,
  vouchers,
  refunds,
  zaps,
  offers,
  webhooks,
  adjustments,
  people,
  sessions,
  audit,
  walletConnect,
  statements
] as const

/** The same list, with each entry typed as a general `Feature`. */
export const all: ReadonlyArray<Feature> = features

/** The features of this service: those that the program provides, or all of this list. */
export const given: Effect.Effect<ReadonlyArray<Feature>> = Effect.map(Features, (own) => (own.length > 0 ? own : all))

declare module "../ledger/Registry.ts" {
  interface Registry {
    readonly core: typeof features
  }
}
