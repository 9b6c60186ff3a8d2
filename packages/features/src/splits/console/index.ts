import { received } from "./Splits.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const splits: Feature = {
  name: "splits",
  payments: { received, eventWords: { "split.skipped": "Share of a frozen account kept" } }
}
