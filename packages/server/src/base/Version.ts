import * as Measure from "@satrail/core/base/Measure"
import { Schema } from "effect"
import { readFileSync } from "node:fs"

/** The version of this program, from its package.json. */
export const { version } = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

/** Exported by each process. */
export const build = Measure.gauge("satrail_build_info", "Always 1, labeled with the running version", ["version"])({ version })
