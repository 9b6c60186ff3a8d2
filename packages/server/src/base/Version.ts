import * as Measure from "@satrail/core/base/Measure"

/** The version of this program, as in its package.json. A bundle has no such file. `npm run release -- --set` changes both. */
export const version = "0.1.0"

/** Exported by each process. */
export const build = Measure.gauge("satrail_build_info", "Always 1, labeled with the running version", [
  "version"
])({ version })
