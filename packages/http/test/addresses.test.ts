import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import { Result } from "effect"
import { bad, issuePaths, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const path = "/v1/bitcoin/deposit/lightning-address"
const address = await service.lightningAddress(key, "shop")
const { id } = await service.record(key, address)

describe("Lightning addresses", () => {
  it("Lightning address: a fetched address includes all the settings that its owner chose, and the codes that payers scan", async () => {
    const { status, body } = await service.ask("GET", `${path}/${id}`, { key })
    assert.strictEqual(status, 200)
    const { created_at, updated_at, ...data } = body.data
    const lnurl = Lnurl.encode("https://pay.example.com/.well-known/lnurlp/shop")
    assert.deepStrictEqual(data, {
      id,
      handle: "shop",
      domain: "pay.example.com",
      address: "shop@pay.example.com",
      metadata: {},
      last_used_at: null,
      deleted_at: null,
      min_sats: null,
      max_sats: null,
      success_message: null,
      splits: null,
      lnurl,
      lnurlp: "lnurlp://pay.example.com/.well-known/lnurlp/shop"
    })
    assert.strictEqual(created_at, updated_at)
    for (const text of [data.lnurl, data.lnurlp])
      assert.strictEqual(
        Result.getOrThrow(Lnurl.decode(text)).url,
        "https://pay.example.com/.well-known/lnurlp/shop"
      )
  })

  it("Lightning address: the response to its creation is the record that a GET returns", async () => {
    const { body } = await service.ask("POST", path, { key, body: { metadata: { shelf: "3" } } })
    assert.deepStrictEqual(
      body.data,
      (await service.ask("GET", `${path}/${body.data.id}`, { key })).body.data
    )
  })

  it("Lightning address: PUT replaces everything; missing fields get their defaults", async () => {
    const change = (body?: unknown) => service.ask("PUT", `${path}/${id}`, { key, body })
    const decided = ({ body: { data } }: Awaited<ReturnType<typeof change>>) => ({
      min: data.min_sats,
      max: data.max_sats,
      message: data.success_message,
      metadata: data.metadata
    })
    const all = await change({
      min_sats: 5,
      max_sats: 10,
      success_message: "Thanks!",
      metadata: { shelf: "3" }
    })
    assert.strictEqual(all.status, 200)
    assert.deepStrictEqual(decided(all), { min: 5, max: 10, message: "Thanks!", metadata: { shelf: "3" } })
    assert.deepStrictEqual(decided(await change({ max_sats: 7, success_message: "" })), {
      min: null,
      max: 7,
      message: null,
      metadata: {}
    })
    assert.deepStrictEqual(decided(await change()), { min: null, max: null, message: null, metadata: {} })
  })

  it("Lightning address: an update with limits that no payer could meet is rejected, and the error lists every issue", async () => {
    const refused = await service.ask("PUT", `${path}/${id}`, {
      key,
      body: {
        min_sats: 0,
        max_sats: 1.5,
        success_message: "x".repeat(145),
        metadata: { a: 1 },
        handle: "other"
      }
    })
    assert.deepStrictEqual(seen(refused), bad(400, "malformed"))
    assert.deepStrictEqual(issuePaths(refused.body).toSorted(), [
      "handle",
      "max_sats",
      "metadata.a",
      "min_sats",
      "success_message"
    ])
    const crossed = await service.ask("PUT", `${path}/${id}`, { key, body: { min_sats: 10, max_sats: 9 } })
    assert.deepStrictEqual(issuePaths(crossed.body), ["max_sats"])
  })

  it("Lightning address: the QR code is the LNURL in upper case", async () => {
    const { body } = await service.ask("GET", `${path}/${id}/qr`, { key })
    assert.strictEqual(
      body.data.text,
      `LIGHTNING:${Lnurl.encode("https://pay.example.com/.well-known/lnurlp/shop").toUpperCase()}`
    )
    assert.match(body.data.svg, /^<svg [^]*<\/svg>$/)
  })

  it("Lightning address: a deleted address can be fetched, and its handle is not issued again", async () => {
    const gone = await service.record(key, await service.lightningAddress(key, "gone"))
    const deleted = await service.ask("DELETE", `${path}/${gone.id}`, { key })
    assert.strictEqual(deleted.status, 200)
    assert.isNotNull(deleted.body.data.deleted_at)
    assert.deepStrictEqual(
      (await service.ask("DELETE", `${path}/${gone.id}`, { key })).body.data,
      deleted.body.data
    )
    assert.deepStrictEqual(
      (await service.ask("GET", `${path}/${gone.id}`, { key })).body.data,
      deleted.body.data
    )
    assert.deepStrictEqual(
      seen(await service.ask("PUT", `${path}/${gone.id}`, { key, body: {} })),
      bad(404, "not_found")
    )
    const other = await service.company()
    for (const asking of [key, other.key])
      assert.deepStrictEqual(
        seen(await service.ask("POST", path, { key: asking, body: { handle: "gone" } })),
        bad(409, "handle_taken")
      )
  })
})
