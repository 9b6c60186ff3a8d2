import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Checkout } from "@satrail/core/features/checkouts/Checkout"

export const row = (fields: Partial<Checkout> = {}): Checkout => ({
  id: "c",
  companyId: CompanyId.make("payee"),
  publicId: "9f0d1c1e52a54f7c8f430b8f6a6c1042",
  domain: "pay.example",
  amount: Msat.make(1000n),
  fiatAmount: null,
  fiatCurrency: null,
  rate: null,
  rateAtMillis: null,
  tolerancePercent: 0,
  description: "tea",
  orderId: null,
  metadata: {},
  returnUrl: null,
  cancelUrl: null,
  embedOrigin: null,
  color: null,
  locale: "en",
  invoiceId: "i",
  paymentRequest: "lnbcrt1…",
  onChainAddressId: "a",
  address: "bcrt1…",
  status: "open",
  received: Msat.zero,
  paidAtMillis: null,
  endedAtMillis: null,
  revision: 0,
  createdAtMillis: 1,
  expiresAtMillis: 3_600_001,
  updatedAtMillis: 1,
  ...fields
})
