import { Effect, Layer } from "effect"
import type { Feature } from "@satrail/core/ledger/Feature"
import { Features } from "@satrail/core/ledger/Features"
import { adjustments } from "@satrail/features/adjustments/core"
import { approvals } from "@satrail/features/approvals/core"
import { audit } from "@satrail/features/audit/core"
import { checkouts } from "@satrail/features/checkouts/core"
import { offers } from "@satrail/features/offers/core"
import { people } from "@satrail/features/people/core"
import { platform } from "@satrail/features/platform/core"
import { refunds } from "@satrail/features/refunds/core"
import { splits } from "@satrail/features/splits/core"
import { statements } from "@satrail/features/statements/core"
import { transfers } from "@satrail/features/transfers/core"
import { vouchers } from "@satrail/features/vouchers/core"
import { walletConnect } from "@satrail/features/wallet-connect/core"
import { webhooks } from "@satrail/features/webhooks/core"
import { zaps } from "@satrail/features/zaps/core"

/** All features. Each one comes after the features that it requires. */
export const features = [
  approvals,
  checkouts,
  vouchers,
  refunds,
  transfers,
  splits,
  zaps,
  offers,
  webhooks,
  adjustments,
  people,
  platform,
  audit,
  walletConnect,
  statements
] as const

/** The same list, with each entry typed as a general `Feature`. */
export const all: ReadonlyArray<Feature> = features

/** The features of this service: those that the program provides, or all of this list. */
export const given: Effect.Effect<ReadonlyArray<Feature>> = Effect.map(Features, (own) =>
  own.length > 0 ? own : all
)

/** The features that the program adds to this list. */
export const own: Effect.Effect<ReadonlyArray<Feature>> = Effect.map(Features, (given) =>
  given.filter((one) => !all.includes(one))
)

/** Provides that list to everything above the store. */
export const layerFeatures = Layer.effect(Features, given)

declare module "@satrail/core/ledger/Registry" {
  interface Registry {
    readonly core: typeof features
  }
}
