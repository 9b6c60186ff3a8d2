import type { Feature } from "@satrail/ui/console/Feature"
import { operatorPages } from "./PlatformKeys.ts"

export const platform: Feature = {
  name: "platform",
  operatorPages,
  operatorEntry: {
    section: "Installation",
    rank: 25,
    name: "platform-keys",
    path: "platform-keys",
    text: "Platform keys",
    glyph: "key"
  }
}
