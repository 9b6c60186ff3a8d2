import type { Feature } from "./Feature.ts"
import { approvals } from "./approvals/index.ts"
import { adjustments } from "./adjustments/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { refunds } from "./refunds/index.ts"
import { sessions } from "./sessions/index.ts"
import { statements } from "./statements/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { walletConnect } from "./wallet-connect/index.ts"
import { webhooks } from "./webhooks/records/index.ts"

/** Each by its name: spelled out, the declarations of all of them are 360 kB. */
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
  typeof sessions,
  typeof audit
]

/** Every feature that is asked over HTTP, in the order of the documents. */
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
  sessions,
  audit
]

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Feature> = features
