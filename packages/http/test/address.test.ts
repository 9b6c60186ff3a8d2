import { assert, it } from "@effect/vitest"
import * as Address from "../src/wire/Address.ts"

it("address: behind proxies, the caller is the entry of X-Forwarded-For that the outermost one added; without such an entry, it is missing", () => {
  const headers = [
    undefined,
    "",
    ",",
    "a",
    "a, b",
    " a ,b,\tc ",
    "a,",
    ",a",
    "a,,b",
    "x".repeat(99),
    `${",".repeat(20_000)}a`
  ]
  for (const header of headers)
    for (const proxies of [0, 1, 2, 3, 4]) {
      const entry = proxies === 0 ? undefined : header?.split(",").at(-proxies)
      assert.strictEqual(
        Address.forwardedIn(header, proxies),
        entry?.trim() ?? "",
        `${header?.slice(0, 99)} behind ${proxies}`
      )
    }
  assert.strictEqual(Address.forwardedIn("203.0.113.1, 192.0.2.1:4711", 1), "192.0.2.1")
})
