import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import path from "node:path"
import { root } from "./deployFiles.ts"

const skipped = spawnSync("promtool", ["--version"]).error !== undefined
if (skipped && process.env["REQUIRE_PROMTOOL"] === "1")
  throw new Error("promtool is missing (apt-get install prometheus)")

/** The error output of Prometheus's own tool. */
const complaint = (...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync("promtool", args, {
    cwd: path.join(root, "deploy/prometheus"),
    encoding: "utf8"
  })
  return status === 0 ? undefined : stdout + stderr
}

describe.skipIf(skipped)("the shipped alarms (skipped where there is no promtool)", () => {
  it("alarms: Prometheus accepts the shipped alarms", () =>
    assert.isUndefined(complaint("check", "rules", "rules.yaml")))
  it("alarms: each alarm fires for its condition and is silent otherwise", () =>
    assert.isUndefined(complaint("test", "rules", "rules.test.yaml")))
})
