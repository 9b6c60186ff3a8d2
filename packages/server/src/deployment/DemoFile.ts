import * as CompanyId from "@satrail/core/base/CompanyId"
import { Option, Schema } from "effect"
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"

/** The data needed to try the service. It is written to `demo.json`, which only the file's owner can read. */
export const Demo = Schema.Struct({
  base_url: Schema.String,
  api_key: Schema.String,
  company_id: CompanyId.CompanyId,
  /** Present only if the service generated it at startup. A token from the environment is not written. */
  operator_token: Schema.optionalKey(Schema.String)
})
export interface Demo extends Schema.Schema.Type<typeof Demo> {}

export const fileIn = (directory: string) => path.join(directory, "demo.json")
const Json = Schema.fromJsonString(Demo)

/**
 * Reads the file that an earlier run wrote. An unreadable file is an error, because overwriting it would lose a
 * key.
 */
export const read = (directory: string): Option.Option<Demo> => {
  const file = fileIn(directory)
  if (!existsSync(file)) return Option.none()
  try {
    return Option.some(Schema.decodeSync(Json)(readFileSync(file, "utf8")))
  } catch (cause) {
    throw new Error(
      `${file} was not written by satrail. Repair it, or move it away to start with a new company and key.`,
      { cause }
    )
  }
}

/** Writes a temporary file and renames it, so that a half-written file is never read. */
export const write = (directory: string, demo: Demo): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  chmodSync(beside, 0o600) // a file left by a crash keeps its mode
  renameSync(beside, fileIn(directory))
}
