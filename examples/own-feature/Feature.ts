// The feature in one value: everything that a program adds to its list of features.
import type { OwnFeature } from "satrail"
import * as Box from "./Box.ts"
import { boxes } from "./Boxes.ts"
import { commands } from "./commands.ts"
import { page, section } from "./Routes.ts"

export const feature: OwnFeature = {
  core: boxes,
  postgres: { tables: Box.table },
  http: { sections: [section], extensions: [() => page] },
  commands
}
