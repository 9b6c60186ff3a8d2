import { assert, describe, it } from "@effect/vitest"
import { Refused, unlessRefused } from "../src/console/Api.ts"

const away = new Refused(503, "store_unavailable", "The database cannot be reached.")
const missing = new Refused(404, "not_found", "No such record.")

const read = (result: Promise<string>) => unlessRefused(result, (status) => status === 404).catch((error: unknown) => error)

describe("reads that may be refused", () => {
  it("console: a read that is refused as expected has no result; every other failure is shown", async () => {
    assert.strictEqual(await read(Promise.resolve("found")), "found")
    assert.isUndefined(await read(Promise.reject(missing)))
    assert.strictEqual(await read(Promise.reject(away)), away)
  })

  it("console: an overview without webhook endpoints does not hide that they cannot be read", async () => {
    const { concerns } = await import(new URL("../src/console/features/webhooks/Failing.ts", import.meta.url).href)
    const visit = { api: { call: () => Promise.reject(away) }, user: { kind: "company", scopes: ["read"] }, say: { nowMillis: 0 } }
    assert.strictEqual(await concerns(visit).catch((error: unknown) => error), away)
  })

  it("console: a limit is named as on the page of limits, and amounts have grouped digits", async () => {
    const { wordsOf } = await import(new URL("../src/console/Site.ts", import.meta.url).href)
    const words = (message: string, details?: Refused["details"]) => wordsOf(new Refused(422, "limit_exceeded", message, details))
    assert.strictEqual(
      words('This would exceed the company\'s limit "approval_above_sats". Send it to a destination instead.'),
      "This would exceed the company's limit “Needs approval above, sats”. Send it to a destination instead."
    )
    assert.strictEqual(
      words("", [{ path: "amount", message: "must be between 1 and 10000000 sats" }]),
      "Amount must be between 1 and 10,000,000 sats"
    )
    for (const told of ["1.2345 sats", "10,000,000 sats", "0.5 sats"]) assert.strictEqual(words(told), told)
  })
})
