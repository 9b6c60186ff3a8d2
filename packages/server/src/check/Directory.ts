import { Effect } from "effect"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import path from "node:path"
import type { Environment } from "../deployment/Environment.ts"
import { reasonOf } from "../base/Files.ts"
import { type Check, type Line, misconfigured, right, warning } from "../base/Check.ts"

/** Returns a path's nearest existing ancestor. */
const existing = (place: string): string =>
  existsSync(place) || path.dirname(place) === place ? place : existing(path.dirname(place))

const look = (directory: string): ReadonlyArray<Line> => {
  const place = existing(path.resolve(directory))
  const remedy = "Set SATRAIL_DATA to a directory that this user may write to."
  if (!statSync(place).isDirectory())
    return [misconfigured(`SATRAIL_DATA: ${place} is not a directory`, remedy)]
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
  } catch (cause) {
    return [misconfigured(`SATRAIL_DATA: cannot write to ${place}: ${reasonOf(cause)}`, remedy)]
  }
  if (!existsSync(directory)) return [right(`${directory} will be created at the first start`)]
  const mode = statSync(directory).mode & 0o777
  return (mode & 0o077) === 0
    ? [right(`${directory} is readable only by its owner`)]
    : [
        warning(
          `SATRAIL_DATA: other users can read ${directory} (mode ${mode.toString(8).padStart(4, "0")})`,
          `Run: chmod 700 ${directory}`
        )
      ]
}

export const check = ({ dataDirectory }: Environment): Check => ({
  subject: "directory",
  lines: Effect.sync(() => look(dataDirectory))
})
