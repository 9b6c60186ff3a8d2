import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import path from "node:path"
import { root } from "./deployFiles.ts"

const skipped = spawnSync("promtool", ["--version"]).error !== undefined
if (skipped && process.env["REQUIRE_PROMTOOL"] === "1") throw new Error("there is no promtool (apt-get install prometheus)")

/** What Prometheus's own tool says where it is not content. */
const complaint = (...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: path.join(root, "deploy/prometheus"), encoding: "utf8" })
  return status === 0 ? undefined : stdout + stderr
}

describe.skipIf(skipped)("the shipped alarms (skipped where there is no promtool)", () => {
  it("alarms: Prometheus reads them", () => assert.isUndefined(complaint("check", "rules", "rules.yaml")))
  it("alarms: each fires for what it is for, and is silent otherwise", () =>
    assert.isUndefined(complaint("test", "rules", "rules.test.yaml")))
})
