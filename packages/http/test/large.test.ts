import { afterAll, assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import { Feed } from "@satrail/core/events/Feed"
import type { Place } from "@satrail/core/events/Notice"
import * as Page from "@satrail/core/ledger/Page"
import { maxBytes } from "@satrail/service/http/events/EventBody"
import { rowsPerPart } from "../src/wire/Sheet.ts"
import { operatorToken, start } from "./Service.ts"

// Responses with many records whose metadata is as large as possible.

const service = await start()
afterAll(service.dispose)

const { keys, keyCharacters, valueCharacters } = Metadata.limits
const each = keys * valueCharacters
const metadata = Object.fromEntries(
  Array.from({ length: keys }, (_, n) => [`${n}`.padStart(keyCharacters, "k"), "ü".repeat(valueCharacters)])
)
/** More records than a page can contain. */
const count = Math.ceil(Page.maxCharacters / each) + 40

/** Creates records at a path, and returns their ids, newest first. */
const create = async (path: string, key: string, body: object = {}, many = count) => {
  const ids: Array<string> = []
  for (let n = 0; n < many; n++) {
    const answer = await service.ask("POST", path, { key, body: { metadata, ...body } })
    assert.strictEqual(answer.status, 201, answer.text)
    ids.unshift(answer.body.data.id ?? answer.body.data.address.id)
  }
  return ids
}

/** Fetches a list by its links. Returns the ids on each page, and the largest response's length. */
const linked = async (path: string, key: string) => {
  const pages: Array<ReadonlyArray<string>> = []
  let largest = 0
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, text, body, headers } = await service.ask("GET", next, { key })
    assert.strictEqual(status, 200, text)
    largest = Math.max(largest, text.length)
    pages.push(body.data.map(({ id }: { readonly id: string }) => id))
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
  }
  return { pages, largest }
}

/** Maximum length of a page as JSON: its texts, the record that reaches the limit, and the names of all fields. */
const mostCharacters = Page.maxCharacters + each + count * (keys * (keyCharacters + 10) + 1000)

describe("lists of large records", () => {
  it("list: a page of large records ends early, and the links lead to each record once, for companies and operators", async () => {
    const { id, key } = await service.company("paid")
    const lists = [
      ["bitcoin/deposit/on-chain", {}],
      ["bitcoin/deposit/lightning-address", {}],
      ["bitcoin/deposit/lightning-invoice", { amount: 1, currency: "sats" }]
    ] as const
    for (const [path, body] of lists) {
      const ids = await create(`/v1/${path}`, key, body)
      const reads = [
        [`/v1/${path}?limit=1000`, key],
        [`/operator/companies/${id}/${path}?limit=1000`, operatorToken]
      ] as const
      for (const [at, by] of path.endsWith("invoice") ? reads : reads.slice(0, 1)) {
        const { pages, largest } = await linked(at, by)
        assert.deepStrictEqual(pages.flat(), ids, at)
        assert.isAtMost(largest, mostCharacters, at)
        assert.isAtLeast(pages[0]?.length ?? 0, Math.floor(Page.maxCharacters / (each + 2000)), at)
      }
    }
  })
})

describe("large events", () => {
  it("events: a page of large events ends early, and the links lead to each event once, as do the console's pages", async () => {
    const { id, key } = await service.company()
    const size = maxBytes - 1000
    const many = Math.ceil(Page.maxCharacters / size) + 20
    const large = Object.fromEntries(
      Array.from({ length: size / valueCharacters }, (_, n) => [`${n}`, "v".repeat(valueCharacters - 10)])
    )
    const ids = await create(
      "/v1/bitcoin/deposit/lightning-invoice",
      key,
      { amount: 1, currency: "sats", metadata: large },
      many
    )
    const { pages, largest } = await linked("/v1/events?limit=1000", key)
    assert.isAtMost(largest, Page.maxCharacters + maxBytes + many)
    assert.strictEqual(new Set(pages.flat()).size, many)
    assert.deepStrictEqual(
      pages.map(({ length }) => length === 0),
      [false, false, true],
      "more than one page, and the end"
    )

    const { newest } = await service.run(Feed)
    const subjects: Array<string> = []
    let before: Place | undefined
    do {
      const asked = { companyId: CompanyId.make(id), before, limit: 1000 }
      const { items, next } = await service.run(newest(asked, () => assert.fail("it was rendered before")))
      assert.isAtMost(
        items.reduce((sum, { body }) => sum + body.length, 0),
        Page.maxCharacters + maxBytes
      )
      subjects.push(...items.map(({ subject }) => subject))
      before = next
    } while (before !== undefined)
    assert.deepStrictEqual(subjects, ids)
  })
})

describe("exports of large records", () => {
  it("export: rows with large metadata are sent in small parts, each once", async () => {
    const { id, key } = await service.company()
    const rows = 60
    for (let n = 0; n < rows; n++) {
      const { body } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key,
        body: { amount: 1, currency: "sats", metadata }
      })
      await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: body.data.payment_request }))
    }
    await service.work()
    const names = Object.keys(metadata).join(",")
    const url = `http://service/v1/transactions/export?format=jsonl&metadata_keys=${names}`
    const { body } = await service.handler(new Request(url, { headers: { authorization: `Bearer ${key}` } }))
    const parts: Array<Uint8Array> = []
    for await (const part of body ?? assert.fail("no body")) parts.push(part)
    const lines = Buffer.concat(parts).toString("utf8").trimEnd().split("\n")
    const posted = lines.map((line): { readonly company_id: string; readonly id: string | null } =>
      JSON.parse(line)
    )
    assert.strictEqual(
      new Set(posted.map((line) => line.id)).size,
      1 + rows,
      "each payment, and the opening and closing lines"
    )
    assert.isTrue(posted.every((line) => line.company_id === id))
    // Each of a row's values is in two columns, and is two bytes long.
    assert.isAtMost(Math.max(...parts.map(({ length }) => length)), rowsPerPart * (4 * each + 10_000))
    assert.isAtMost(rowsPerPart, rows / 2)
  })
})
