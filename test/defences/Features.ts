import { approvals } from "../../packages/features/test/approvals/mutants.ts"
import { adjustments } from "../../packages/features/test/adjustments/mutants.ts"
import { checkouts } from "../../packages/features/test/checkouts/mutants.ts"
import { offers } from "../../packages/features/test/offers/mutants.ts"
import { refunds } from "../../packages/features/test/refunds/mutants.ts"
import { splits } from "../../packages/features/test/splits/mutants.ts"
import { transfers } from "../../packages/features/test/transfers/mutants.ts"
import { vouchers } from "../../packages/features/test/vouchers/mutants.ts"
import { webhooks } from "../../packages/features/test/webhooks/mutants.ts"
import { walletConnect } from "../../packages/features/test/wallet-connect/mutants.ts"
import { people } from "../../packages/features/test/people/mutants.ts"
import { platform } from "../../packages/features/test/platform/mutants.ts"
import { statements } from "../../packages/features/test/statements/mutants.ts"
import { audit } from "../../packages/features/test/audit/mutants.ts"

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
  transfers,
  splits,
  people,
  platform,
  audit
]
