import { offers as pages } from "./Offers.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const offers: Feature = {
  name: "offers",
  pages,
  entry: { section: "Receive", rank: 20, name: "offers", path: "offers", text: "Offers", glyph: "receive" }
}
