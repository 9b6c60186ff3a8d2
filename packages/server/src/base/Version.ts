import * as Measure from "@satrail/core/base/Measure"
import { Schema } from "effect"
import { readFileSync } from "node:fs"

/** Of this program, as its package.json has it. */
export const { version } = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

/** Of each process that is scraped. */
export const build = Measure.gauge("satrail_build_info", "1, by the version that runs", ["version"])({ version })
