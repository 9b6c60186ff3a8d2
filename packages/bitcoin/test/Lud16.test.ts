import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as LightningAddressText from "../src/LightningAddressText.ts"

const read = (text: string) => {
  const parsed = LightningAddressText.parse(text)
  return Result.isFailure(parsed) ? parsed.failure.reason : parsed.success.address
}

describe("LUD-16", () => {
  it("LUD-16: the example is read", () => {
    assert.deepStrictEqual(Result.getOrThrow(LightningAddressText.parse("satoshi@bitcoin.org")), {
      handle: "satoshi",
      domain: "bitcoin.org",
      address: "satoshi@bitcoin.org",
      url: "https://bitcoin.org/.well-known/lnurlp/satoshi"
    })
  })
  it("LUD-16: an onion address is requested over http", () => {
    assert.strictEqual(
      Result.getOrThrow(LightningAddressText.parse("satoshi@examplennnnnnnn.onion")).url,
      "http://examplennnnnnnn.onion/.well-known/lnurlp/satoshi"
    )
  })
  it("LUD-16: an address keeps its tag", () => {
    assert.strictEqual(
      Result.getOrThrow(LightningAddressText.parse("satoshi+tea@bitcoin.org")).url,
      "https://bitcoin.org/.well-known/lnurlp/satoshi+tea"
    )
  })
  it("LUD-16: an address is written in lower case and Punycode", () => {
    assert.strictEqual(read("Satoshi@Bitcoin.ORG"), "satoshi@bitcoin.org")
    assert.strictEqual(read("a@Bücher.example"), "a@xn--bcher-kva.example")
  })
  it("LUD-16: an address is found by its URL, and by no other", () => {
    for (const address of [
      "satoshi@bitcoin.org",
      "satoshi+tea@bitcoin.org",
      "satoshi@examplennnnnnnn.onion"
    ]) {
      const { url } = Result.getOrThrow(LightningAddressText.parse(address))
      assert.strictEqual(LightningAddressText.ofUrl(url)?.address, address)
      for (const other of [
        `${url}/`,
        `${url}?a`,
        `${url}#a`,
        url.replace("lnurlp", "lnurl"),
        url.replace("/.well", ":8443/.well"),
        "satoshi"
      ])
        assert.isUndefined(LightningAddressText.ofUrl(other), other)
    }
  })
  it("LUD-16: only a few characters are allowed before the @", () => {
    assert.strictEqual(read("a.b-c_d+0@example.com"), "a.b-c_d+0@example.com")
    for (const user of ["", "a b", "a/b", "..", ".", "a%2fb", "é", "\u212A", "a#", "a?b", "x".repeat(65)])
      assert.strictEqual(read(`${user}@example.com`), "handle", user)
  })
  it("C51: LUD-16: the domain must be a public name", () => {
    for (const domain of [
      "",
      "localhost",
      "example.com:9200",
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001.0x0",
      "[::1]",
      "example.com/x",
      "127.0.0.1:9200/_x#",
      "example.com?x",
      "example.com#x",
      "exam%70le.com",
      "example..com",
      ".example.com",
      "example.com.",
      "-a.example.com",
      "a_b.example.com",
      "exa\tmple.com",
      "exam\u00adple.com",
      "example.com\\x",
      `${"a".repeat(64)}.com`,
      `${"a.".repeat(130)}com`
    ])
      assert.strictEqual(read(`a@${domain}`), "domain", domain)
  })
  it("LUD-16: exactly one @ is allowed", () => {
    for (const text of ["example.com", "", "a@b@example.com", "a@example.com@"])
      assert.strictEqual(read(text), "malformed", text)
  })
})

describe("handles issued by the service", () => {
  const is = Schema.is(LightningAddressText.HandleSchema)
  it("handle: a handle has no tag, and no dot at either end", () => {
    for (const handle of ["a", "alice", "a.b", "_", "-", "a-b_c.9", "x".repeat(64)])
      assert.isTrue(is(handle), handle)
    for (const handle of ["", ".a", "a.", ".", "a+b", "A", "é", "a b", "x".repeat(65), "a\n"])
      assert.isFalse(is(handle), handle)
  })
})
