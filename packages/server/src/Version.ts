import { Schema } from "effect"
import { readFileSync } from "node:fs"

/** Of this program, as its package.json has it. */
export const { version } = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)
