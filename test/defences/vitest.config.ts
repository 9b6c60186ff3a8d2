import { readFileSync } from "node:fs"
import path from "node:path"
import { defineConfig, type Plugin } from "vitest/config"
import { longestMillis } from "../../packages/testing/src/Waiting.ts"
import { canaries, patched, stories } from "./Canaries.ts"

const root = path.resolve(import.meta.dirname, "../..")

// No other configuration reads this variable, so a normal test run cannot contain a bug.
const name = process.env["SATRAIL_CANARY"]
const canary = canaries.find((one) => one.name === name)
if (name !== "none" && canary === undefined) throw new Error(`SATRAIL_CANARY=${name ?? ""} is not a canary: use npm run canaries`)

const isItsFile = (id: string) => path.relative(root, id) === canary?.file

/**
 * Gives the tests one source file with the bug. The file on disk is unchanged, and vitest does not cache this
 * module.
 */
const plugin: Plugin = {
  name: "canary",
  enforce: "pre",
  configureVitest: (vitest) => vitest.defineCacheKeyGenerator(({ id }) => (isItsFile(id) ? false : undefined)),
  load: (id) => (canary !== undefined && isItsFile(id) ? patched(canary, readFileSync(id, "utf8")) : undefined)
}

export default defineConfig({
  root,
  plugins: [plugin],
  test: {
    pool: "forks",
    include: ["packages/*/test/**/*.test.ts", stories],
    testTimeout: longestMillis,
    hookTimeout: longestMillis
  }
})
