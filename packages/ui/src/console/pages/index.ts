import type { Page } from "../Page.ts"
import { addresses } from "./Addresses.ts"
import { audit } from "./Audit.ts"
import { checkouts } from "./Checkouts.ts"
import { events } from "./Events.ts"
import { invoices } from "./Invoices.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { offers } from "./Offers.ts"
import { overview } from "./Overview.ts"
import { payment } from "./Payment.ts"
import { exportPayments, filterPayments, payments } from "./Payments.ts"
import { people } from "./People.ts"
import { refunds } from "./Refund.ts"
import { search } from "./Search.ts"
import { send } from "./Send.ts"
import { statements } from "./Statements.ts"
import { vouchers } from "./Vouchers.ts"
import { webhooks } from "./Webhooks.ts"
import { webhookSettings } from "./WebhookSettings.ts"

/** All pages of a company's console. A path with a parameter comes after those without. */
export const pages: ReadonlyArray<Page> = [
  overview,
  payments,
  exportPayments,
  filterPayments,
  ...payment,
  refunds,
  ...checkouts,
  ...invoices,
  ...offers,
  ...addresses,
  ...vouchers,
  search,
  send,
  ...statements,
  ...keys,
  ...events,
  ...webhookSettings,
  ...webhooks,
  ...people,
  limits,
  audit
]
