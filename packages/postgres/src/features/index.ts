import * as Adjustments from "./adjustments/Tables.ts"
import * as Audit from "./audit/Tables.ts"
import * as Checkouts from "./checkouts/Tables.ts"
import type { Feature } from "./Feature.ts"
import * as Offers from "./offers/Tables.ts"
import * as Refunds from "./refunds/Tables.ts"
import * as Sessions from "./sessions/Tables.ts"
import * as Statements from "./statements/Tables.ts"
import * as Vouchers from "./vouchers/Tables.ts"
import * as WalletConnect from "./wallet-connect/Tables.ts"
import * as Webhooks from "./webhooks/Tables.ts"

/** Every feature with tables of its own. */
export const features: ReadonlyArray<Feature> = [
  Vouchers,
  Refunds,
  Checkouts,
  Offers,
  Adjustments,
  Sessions,
  Webhooks,
  WalletConnect,
  Statements,
  Audit
]
