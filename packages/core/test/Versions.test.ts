import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as Versions from "../src/nodes/Versions.ts"

const said = (node: Versions.Node, versions: ReadonlyArray<string>) =>
  versions.map((version) => Versions.judge(node, version)?.verdict ?? "good")

describe("Node versions", () => {
  it("C59: node version: an lnd version that can stop following the chain is refused, and a version whose funds can be stolen causes a warning", () => {
    const lnd = [
      "0.14.2-beta",
      "0.15.3-beta",
      "0.15.4-beta",
      "0.16.4-beta",
      "0.18.5-beta commit=v0.18.5-beta-dirty",
      "0.19.0-beta",
      "0.21.2-beta"
    ]
    assert.deepStrictEqual(said("lnd", lnd), [
      "refused",
      "refused",
      "warned",
      "warned",
      "warned",
      "good",
      "good"
    ])
    const robbed = Versions.judge("lnd", "0.18.5-beta commit=v0.18.5-beta-dirty")
    assert.match(
      robbed?.says ?? "",
      /^lnd 0\.18\.5-beta lets a peer steal funds: a peer that makes the node close a channel can be paid twice/
    )
    assert.match(robbed?.remedy ?? "", /^Update it to 0\.19\.0 or later \(https:/)
  })

  it("C59: node version: a refused version is reported with the release that fixes all its bugs", () => {
    const old = Versions.judge("lnd", "v0.15.1-beta")
    assert.deepInclude(old, { verdict: "refused", version: "0.15.1" })
    assert.match(old?.says ?? "", /cannot parse some blocks/)
    assert.match(old?.remedy ?? "", /0\.19\.0 or later/)
  })

  it("C59: node version: a bug has a first affected version and a first fixed version", () => {
    const core = [
      "0.13.2",
      "0.14.0",
      "0.16.2",
      "0.16.3",
      "24.0.1",
      "28.4.0",
      "29.0.0",
      "29.4.3",
      "30.0.0",
      "30.1.0",
      "30.2.0",
      "31.0"
    ]
    assert.deepStrictEqual(said("Bitcoin Core", core), [
      "warned",
      "refused",
      "refused",
      "warned",
      "warned",
      "warned",
      "good",
      "good",
      "warned",
      "warned",
      "good",
      "good"
    ])
    assert.deepStrictEqual(said("btcd", ["0.23.4", "0.24.0", "0.24.1", "0.24.2", "0.25.0"]), [
      "refused",
      "refused",
      "refused",
      "good",
      "good"
    ])
  })

  it("node version: a release candidate counts as its release, a fork as its leading version, and a missing patch number as 0", () => {
    assert.deepStrictEqual(
      said("lnd", ["0.19.0-beta.rc1", "0.19-beta", "v0.18.5-beta.rc2", "acme-0.15.1+7", "0.15.1.9"]),
      ["good", "good", "warned", "refused", "refused"]
    )
    assert.strictEqual(
      Versions.judge("lnd", "lnd version 0.15.1-acme2.0 (built 2022.10.10)")?.version,
      "0.15.1"
    )
  })

  it("node version: nothing is reported about a version that cannot be parsed", () => {
    for (const text of ["", "a custom build", "v", "15", "0..1", "-1.-2", "99999999.1"]) {
      assert.isUndefined(Versions.judge("lnd", text), text)
    }
  })

  it("node version: the log reports a version's known bugs, and nothing about a version without known bugs", async () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const warned = Effect.andThen(Versions.warn("lnd", "0.21.2-beta"), Versions.warn("lnd", "0.18.5-beta"))
    await Effect.runPromise(Effect.provide(warned, Logger.layer([logger])))
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /^lnd 0\.18\.5-beta .*Update it to 0\.19\.0/)
  })

  it("node version: every known bug has a source, and its first affected version precedes the fix", () => {
    for (const { fixedIn, since, source, says } of Versions.faults) {
      assert.match(source, /^https:\/\/\S+$/)
      assert.notMatch(says, /[.]$/)
      if (since !== undefined)
        assert.isAbove(
          fixedIn.findIndex((part, at) => part > (since[at] ?? 0)),
          -1
        )
    }
  })
})
