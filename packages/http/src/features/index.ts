import type { Feature } from "./Feature.ts"
import { approvals } from "./approvals/index.ts"
import { adjustments } from "./adjustments/index.ts"
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

/** The type refers to features by name, because their full declarations would take 360 kB. */
type Features = readonly [
  typeof approvals,
  typeof checkouts,
  typeof vouchers,
  typeof refunds,
  typeof offers,
  typeof webhooks,
  typeof walletConnect,
  typeof adjustments,
  typeof statements,
  typeof people,
  typeof sessions,
  typeof audit
]

/** All features with HTTP operations, in document order. */
export const features: Features = [
  approvals,
  checkouts,
  vouchers,
  refunds,
  offers,
  webhooks,
  walletConnect,
  adjustments,
  statements,
  people,
  sessions,
  audit
]

/** The same list, with the general type. */
export const all: ReadonlyArray<Feature> = features
