import { assert, describe, it } from "@effect/vitest"
import * as Versions from "../src/Versions.ts"

const said = (node: Parameters<typeof Versions.warning>[0], versions: ReadonlyArray<string>) =>
  versions.map((version) => Versions.warning(node, version) !== undefined)

describe("the version of a node", () => {
  it("C59: node version: reported below the oldest one without known faults", () => {
    const lnd = ["0.16.4-beta", "0.18.5-beta commit=v0.18.5-beta-dirty", "0.19.0-beta.rc1", "0.19-beta", "0.21.2-beta", "1.0.0"]
    assert.deepStrictEqual(said("lnd", lnd), [true, true, false, false, false, false])
    const lightningd = ["v25.12.1", "v26.06", "v26.06.9-modded", "v26.06.10", "v26.09", "v27.03.1"]
    assert.deepStrictEqual(said("Core Lightning", lightningd), [true, true, true, false, false, false])
    assert.match(Versions.warning("lnd", "0.18.5-beta") ?? "", /^lnd 0\.18\.5-beta .* 0\.19\.0 or later/)
  })

  it("node version: an unreadable one is not reported", () => {
    assert.deepStrictEqual(said("lnd", ["", "a build of our own"]), [false, false])
  })
})
