import { features } from "../../features/console.ts"
import type { Page } from "@satrail/ui/console/Page"
import { addresses } from "@satrail/ui/console/pages/Addresses"
import { events } from "./Events.ts"
import { invoices } from "@satrail/ui/console/pages/Invoices"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { overview } from "./Overview.ts"
import { payment } from "./Payment.ts"
import { exportPayments, filterPayments, payments } from "./Payments.ts"
import { search } from "./Search.ts"
import { send } from "@satrail/ui/console/pages/Send"

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
  send(features.flatMap(({ payments }) => payments?.sends ?? [])),
  ...keys,
  ...events,
  limits,
  ...features.flatMap(({ pages = [] }) => pages)
]
