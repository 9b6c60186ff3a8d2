import { checkouts as pages, found, received } from "./Checkouts.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const checkouts: Feature = {
  name: "checkouts",
  records: { company: "Checkout", finds: found, eventKind: "checkout" },
  pages,
  entry: {
    section: "",
    rank: 30,
    name: "checkouts",
    path: "checkouts",
    text: "Checkouts",
    glyph: "checkouts"
  },
  overview: { receive: { path: "checkouts/new", text: "New checkout" } },
  payments: {
    received,
    columns: [["checkout_id", ({ checkoutId }) => checkoutId]],
    eventWords: {
      "checkout.paid": "Checkout paid",
      "checkout.underpaid": "Checkout partly paid",
      "checkout.expired": "Checkout expired",
      "checkout.canceled": "Checkout canceled"
    }
  }
}
