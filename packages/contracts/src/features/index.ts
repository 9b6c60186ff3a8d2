// oxlint-disable-next-line import/no-unassigned-import -- registers the features' types, which `Records` contains
import "@satrail/service/features/core"
import type { Feature } from "./Feature.ts"
import { approvals } from "./approvals/index.ts"
import { adjustments } from "./adjustments/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { people } from "./people/index.ts"
import { platform } from "./platform/index.ts"
import { refunds } from "./refunds/index.ts"
import { splits } from "./splits/index.ts"
import { statements } from "./statements/index.ts"
import { transfers } from "./transfers/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { walletConnect } from "./wallet-connect/index.ts"
import { webhooks } from "./webhooks/index.ts"

/** Every feature that has its own guarantees. */
export const features = [
  approvals,
  checkouts,
  vouchers,
  refunds,
  transfers,
  splits,
  offers,
  webhooks,
  walletConnect,
  adjustments,
  statements,
  people,
  platform,
  audit
] as const

/** The same list, typed by the interface. */
export const all: ReadonlyArray<Feature> = features
