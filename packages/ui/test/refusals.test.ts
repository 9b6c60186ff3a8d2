import { assert, describe, it } from "@effect/vitest"
import { type Fields, Refused, unlessRefused } from "../src/console/Api.ts"
import * as Formats from "../src/console/Format.ts"

const away = new Refused(503, "store_unavailable", "The database cannot be reached.")
const missing = new Refused(404, "not_found", "No such record.")

const read = (result: Promise<string>) =>
  unlessRefused(result, (status) => status === 404).catch((error: unknown) => error)

describe("reads that may be refused", () => {
  it("console: a read that is refused as expected has no result; every other failure is shown", async () => {
    assert.strictEqual(await read(Promise.resolve("found")), "found")
    assert.isUndefined(await read(Promise.reject(missing)))
    assert.strictEqual(await read(Promise.reject(away)), away)
  })

  it("console: an overview without webhook endpoints does not hide that they cannot be read", async () => {
    const { concerns } = await import(
      new URL("../../features/src/webhooks/console/Failing.ts", import.meta.url).href
    )
    const visit = {
      api: { call: () => Promise.reject(away) },
      user: { kind: "company", scopes: ["read"] },
      say: { nowMillis: 0 }
    }
    assert.strictEqual(await concerns(visit).catch((error: unknown) => error), away)
  })

  it("console: a refusal shows the limit and the amounts of its fields as the pages do", async () => {
    const { wordsOf } = await import(new URL("../../service/src/console/Site.ts", import.meta.url).href)
    const say = Formats.make({ zone: "UTC" }, undefined, Date.parse("2026-11-24T08:00:00Z"))
    const words = (message: string, fields?: Fields, code = "limit_exceeded") =>
      wordsOf(new Refused(422, code, message, fields), say)
    const told = (limit: string) => `This would exceed the company's limit "${limit}".`
    assert.strictEqual(
      words(`${told("approval_above_sats")} Send it to a destination instead.`, {
        limit: "approval_above_sats",
        frees_at: null
      }),
      "This would exceed the company's limit “Needs approval above, sats”. Send it to a destination instead."
    )
    assert.strictEqual(
      words(told("day_sats"), {
        limit: "day_sats",
        remaining_sats: 10_000.5,
        frees_at: "2026-11-24T17:30:00Z"
      }),
      "This would exceed the company's limit “24 hours, sats”. It allows 10,000.5 sats, including fees. It allows this amount from 17:30 on, if nothing else is sent."
    )
    assert.strictEqual(
      words("Not enough.", { needed_sats: 25_035.5, available_sats: 21_000 }, "insufficient_balance"),
      "The balance is too low: the amount plus fee is 25,035.5 sats, and the available balance is 21,000 sats."
    )
    assert.strictEqual(
      words("", { issues: [{ path: "amount", message: "must be between 1 and 10000000 sats" }] }),
      "Amount must be between 1 and 10,000,000 sats"
    )
    for (const told of ["1.2345 sats", "10,000,000 sats", "0.5 sats"]) assert.strictEqual(words(told), told)
  })
})
