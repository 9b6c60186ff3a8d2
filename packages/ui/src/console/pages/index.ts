import { features } from "../features/index.ts"
import type { Page } from "../Page.ts"
import { addresses } from "./Addresses.ts"
import { events } from "./Events.ts"
import { invoices } from "./Invoices.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { overview } from "./Overview.ts"
import { payment } from "./Payment.ts"
import { exportPayments, filterPayments, payments } from "./Payments.ts"
import { search } from "./Search.ts"
import { send } from "./Send.ts"

/** All pages of a company's console. A path with a parameter comes after those without. */
export const pages: ReadonlyArray<Page> = [
  overview,
  payments,
  exportPayments,
  filterPayments,
  ...payment,
  ...invoices,
  ...addresses,
  search,
  send,
  ...keys,
  ...events,
  limits,
  ...features.flatMap(({ pages = [] }) => pages)
]
