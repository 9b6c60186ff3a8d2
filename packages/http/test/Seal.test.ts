import { assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Redacted } from "effect"
import * as Seal from "../src/wire/Seal.ts"

describe("Seal", () => {
  const sealer = Seal.make(Redacted.make("a secret of 32 characters or more"))
  const acme = CompanyId.make("acme")
  const texts = ["", "x", "{}", "é₿\u{1f389}", "long ".repeat(20_000)]

  it("seal: every process with the secret opens the text unchanged", () => {
    const other = Seal.make(Redacted.make("a secret of 32 characters or more"))
    for (const text of texts) assert.strictEqual(other.open(sealer.seal(text, acme), acme), text)
  })

  it("seal: sealing a text twice gives different results, and neither reveals the text", () => {
    const sealed = Array.from({ length: 100 }, () => sealer.seal("k1=secret", acme))
    assert.strictEqual(new Set(sealed).size, 100)
    for (const one of sealed)
      assert.notInclude(Buffer.from(one.slice("sealed-1:".length), "base64url").toString("latin1"), "secret")
  })

  it("seal: opening fails with another owner, another secret or any changed byte", () => {
    const sealed = sealer.seal("k1=secret", acme)
    assert.isUndefined(sealer.open(sealed, CompanyId.make("other")))
    assert.isUndefined(Seal.make(Redacted.make("another secret")).open(sealed, acme))
    for (const broken of [
      "",
      "k1=secret",
      "sealed-1:",
      "sealed-1:AAAA",
      sealed.slice("sealed-1:".length),
      `${sealed}AAAA`
    ]) {
      assert.isUndefined(sealer.open(broken, acme), broken)
    }
    const bytes = Buffer.from(sealed.slice("sealed-1:".length), "base64url")
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.isUndefined(sealer.open(`sealed-1:${changed.toString("base64url")}`, acme), `byte ${at}`)
      assert.isUndefined(
        sealer.open(`sealed-1:${bytes.subarray(0, at).toString("base64url")}`, acme),
        `${at} bytes`
      )
    }
  })
})
