import { approvals } from "./approvals.ts"
import { adjustments } from "./adjustments.ts"
import { checkouts } from "./checkouts.ts"
import { offers } from "./offers.ts"
import { refunds } from "./refunds.ts"
import { vouchers } from "./vouchers.ts"
import { webhooks } from "./webhooks.ts"
import { walletConnect } from "./wallet-connect.ts"
import { people } from "./people.ts"
import { sessions } from "./sessions.ts"
import { statements } from "./statements.ts"
import { audit } from "./audit.ts"

export const features = [
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
