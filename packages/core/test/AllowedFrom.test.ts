import { assert, describe, it } from "@effect/vitest"
import * as AllowedFrom from "../src/accounts/AllowedFrom.ts"

const has = (range: string, address: string) =>
  AllowedFrom.has({ for: "everything", ranges: [range] }, address)

describe("Addresses from which a key may be used", () => {
  it("allowed from: a range includes its first and last addresses and excludes their neighbors", () => {
    for (const [range, inside, outside] of [
      ["203.0.113.0/24", ["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]],
      ["203.0.113.7", ["203.0.113.7"], ["203.0.113.6", "203.0.113.8"]],
      ["203.0.113.6/31", ["203.0.113.6", "203.0.113.7"], ["203.0.113.5", "203.0.113.8"]],
      ["0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1"]],
      [
        "2001:db8::/33",
        ["2001:db8::", "2001:DB8:7fff:ffff:ffff:ffff:ffff:ffff"],
        ["2001:db8:8000::", "2001:db7:ffff::"]
      ],
      ["::1", ["::1", "0:0:0:0:0:0:0:1"], ["::2", "::"]],
      ["fe80::/10", ["fe80::1%eth0"], ["fec0::"]]
    ] as const) {
      for (const address of inside) assert.isTrue(has(range, address), `${address} in ${range}`)
      for (const address of outside) assert.isFalse(has(range, address), `${address} in ${range}`)
    }
  })

  it("allowed from: an IPv4-mapped IPv6 address counts as IPv4 and matches no IPv6 range", () => {
    assert.isTrue(has("203.0.113.0/24", "::ffff:203.0.113.9"))
    assert.isTrue(has("203.0.113.0/24", "::ffff:cb00:7109"))
    assert.isTrue(has("::ffff:203.0.113.0/120", "203.0.113.9"))
    assert.isFalse(has("::ffff:203.0.113.0/120", "203.0.114.9"))
    for (const range of ["::/0", "::ffff:0:0/95", "::/96"]) {
      const address = "203.0.113.9"
      if (AllowedFrom.rangeIssue(range) === undefined) assert.isFalse(has(range, address), range)
    }
    assert.isTrue(has("::ffff:0.0.0.0/96", "203.0.113.9"))
  })

  it("allowed from: a caller whose address is unknown or absent matches no range", () => {
    for (const address of [
      "",
      "unknown",
      "203.0.113.9:4000",
      "203.0.113.0/24",
      "::/0",
      "1.2.3",
      "[::1]",
      "01.2.3.4"
    ])
      for (const range of ["0.0.0.0/0", "::/0"]) assert.isFalse(has(range, address), `${address} in ${range}`)
  })

  it("allowed from: an invalid range is refused with a readable message", () => {
    for (const text of [
      "",
      "localhost",
      "10.0.0.0/33",
      "::/129",
      "10.0.0.256",
      "1:2:3:4:5:6:7",
      "1::2::3",
      "::fffff",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "::1.2.3"
    ])
      assert.isString(AllowedFrom.rangeIssue(text), text)
    assert.include(AllowedFrom.rangeIssue("10.0.0.5/8") ?? "", "bits beyond /8")
    for (const text of [
      "10.0.0.0/8",
      "::/0",
      "2001:db8::",
      "1:2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7::",
      "64:ff9b::192.0.2.33"
    ])
      assert.isUndefined(AllowedFrom.rangeIssue(text), text)
  })
})
