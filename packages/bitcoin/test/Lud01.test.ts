import { bech32 } from "@scure/base"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Lnurl from "../src/Lnurl.ts"

const read = (text: string) => {
  const decoded = Lnurl.decode(text)
  return Result.isFailure(decoded) ? decoded.failure.reason : decoded.success.url
}

describe("LUD-01", () => {
  const url = "https://service.com/api?q=3fc3645b439ce8e7f2553a69e5267081d96dcd340693afabe04be7b0ccd178df"
  const text =
    "LNURL1DP68GURN8GHJ7UM9WFMXJCM99E3K7MF0V9CXJ0M385EKVCENXC6R2C35XVUKXEFCV5MKVV34X5EKZD3EV56NYD3HXQURZEPEXEJXXEPNXSCRVWFNV9NXZCN9XQ6XYEFHVGCXXCMYXYMNSERXFQ5FNS"

  it("LUD-01: the example is read in upper and lower case", () => {
    for (const one of [text, text.toLowerCase()]) {
      assert.deepStrictEqual(Result.getOrThrow(Lnurl.decode(one)), { url, text: text.toLowerCase() })
    }
  })
  it("LUD-01: encoding the example's URL returns the example", () =>
    assert.strictEqual(Lnurl.encode(url), text.toLowerCase()))
  it("LUD-01: an LNURL with mixed case, a typing error, another prefix or bytes that are not text is rejected", () => {
    assert.strictEqual(read(`lnurl1${text.slice(6)}`), "bech32")
    assert.strictEqual(read(text.replace("DP68", "DP66")), "bech32")
    assert.strictEqual(
      read(bech32.encode("lnurx", bech32.toWords(new TextEncoder().encode(url)), false)),
      "bech32"
    )
    assert.strictEqual(read(bech32.encode("lnurl", bech32.toWords(Uint8Array.of(0xff, 0xfe)), false)), "url")
    assert.strictEqual(read(""), "bech32")
  })
  it("LUD-01: the length of an LNURL is not limited", () => {
    const long = `https://service.com/api?q=${"a".repeat(1900)}`
    assert.strictEqual(read(Lnurl.encode(long)), long)
  })
  it("LUD-01: the URL uses https, or http for an onion address", () => {
    assert.strictEqual(read(Lnurl.encode("https://pay.example.com:8443/x")), "https://pay.example.com:8443/x")
    assert.strictEqual(read(Lnurl.encode("http://example.com/x")), "not_https")
    assert.strictEqual(read(Lnurl.encode("ftp://example.com/x")), "not_https")
    assert.strictEqual(read(Lnurl.encode("javascript:alert(1)")), "host")
    assert.strictEqual(read(Lnurl.encode("http://examplennnnnnnn.onion/x")), "http://examplennnnnnnn.onion/x")
  })
  it("LUD-01: the host must be a public name", () => {
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "localhost",
      "LOCALHOST",
      "a",
      "user@example.com",
      "user:word@example.com",
      "example.com."
    ]) {
      assert.strictEqual(read(Lnurl.encode(`https://${host}/x`)), "host", host)
    }
    for (const broken of [
      "https://exa mple.com/x",
      "https://example.com/\n",
      "https://example.com/\u0000",
      "https:\\\\example.com",
      "example.com",
      "https://",
      ""
    ]) {
      assert.strictEqual(read(Lnurl.encode(broken)), "url", broken)
    }
  })
  it("LUD-01: a link tagged for another purpose cannot be paid", () => {
    assert.strictEqual(read(Lnurl.encode("https://example.com/x?tag=login&k1=00")), "unsupported")
    assert.strictEqual(read(Lnurl.encode("https://example.com/x?tag=withdrawRequest")), "unsupported")
    assert.strictEqual(
      read(Lnurl.encode("https://example.com/x?tag=payRequest")),
      "https://example.com/x?tag=payRequest"
    )
  })
})

describe("LUD-17", () => {
  it("LUD-17: an lnurlp:// URL is read", () => {
    assert.deepStrictEqual(Result.getOrThrow(Lnurl.decode("lnurlp://domain.com/path")), {
      url: "https://domain.com/path",
      text: "lnurlp://domain.com/path"
    })
    assert.strictEqual(read("LNURLP://Domain.com/Path"), "https://domain.com/Path")
    assert.strictEqual(read("lnurlp://examplennnnnnnn.onion/path"), "http://examplennnnnnnn.onion/path")
  })
  it("LUD-17: the host must be a public name", () => {
    assert.strictEqual(read("lnurlp://127.0.0.1/path"), "host")
    assert.strictEqual(read("lnurlp://user@example.com/path"), "host")
    assert.strictEqual(read("lnurlp://"), "url")
  })
  it("LUD-17: a URL with another scheme is rejected, and the error says what that scheme is for", () => {
    for (const [text, purpose] of [
      ["lnurlw://domain.com/path", "withdraw"],
      ["keyauth://domain.com/path", "logs you in"],
      ["LNURLC://domain.com", "channel"]
    ] as const) {
      const decoded = Lnurl.decode(text)
      assert.isTrue(
        Result.isFailure(decoded) &&
          decoded.failure.reason === "unsupported" &&
          decoded.failure.message.includes(purpose),
        text
      )
    }
  })
})
