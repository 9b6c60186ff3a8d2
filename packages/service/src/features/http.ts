import type { Feature } from "@satrail/http/api/Feature"
import { approvals } from "@satrail/features/approvals/http"
import { adjustments } from "@satrail/features/adjustments/http"
import { audit } from "@satrail/features/audit/http"
import { checkouts } from "@satrail/features/checkouts/http"
import { offers } from "@satrail/features/offers/http"
import { people } from "@satrail/features/people/http"
import { platform } from "@satrail/features/platform/http"
import { refunds } from "@satrail/features/refunds/http"
import { splits } from "@satrail/features/splits/http"
import { statements } from "@satrail/features/statements/http"
import { transfers } from "@satrail/features/transfers/http"
import { vouchers } from "@satrail/features/vouchers/http"
import { walletConnect } from "@satrail/features/wallet-connect/http"
import { webhooks } from "@satrail/features/webhooks/http"

/** The type refers to features by name, because their full declarations would take 360 kB. */
type Features = readonly [
  typeof approvals,
  typeof checkouts,
  typeof vouchers,
  typeof refunds,
  typeof transfers,
  typeof splits,
  typeof offers,
  typeof webhooks,
  typeof walletConnect,
  typeof adjustments,
  typeof statements,
  typeof people,
  typeof platform,
  typeof audit
]

/** All features with HTTP operations, in document order. */
export const features: Features = [
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
]

/** The same list, with the general type. */
export const all: ReadonlyArray<Feature> = features
