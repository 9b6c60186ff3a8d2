import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, seen, start } from "./Service.ts"
import { askFor, get, lookUp, offerAt, pay, refusal } from "./Wallet.ts"

// LUD-16: a Lightning address is a URL.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "al.ice_1-2")
const at = (user: string, headers = {}) =>
  get(service, `https://pay.example.com/.well-known/lnurlp/${user}`, headers)

describe("LUD-16: a Lightning address", () => {
  it("LUD-16: /.well-known/lnurlp/<username> returns the first response of LUD-06", async () => {
    const offer = await offerAt(service, "https://pay.example.com/.well-known/lnurlp/al.ice_1-2")
    assert.match(await pay(service, await askFor(service, offer, 21_000)), /^[0-9a-f]{64}$/)
  })

  it("LUD-16: an address is found in any letter case, and its spelling in the metadata is always the same", async () => {
    assert.deepStrictEqual(await at("AL.ice_1-2", { host: "PAY.Example.com" }), await at("al.ice_1-2"))
    await service.lightningAddress(key, "kate")
    assert.strictEqual(
      await refusal(at("%E2%84%AAate")),
      "No such Lightning address",
      "the Kelvin sign, whose lower case is k"
    )
  })

  it("LUD-16: if the URL of an address has a port, the address is found, and its callback has the same port", async () => {
    const offer = await lookUp(service, address)
    const { callback } = await offerAt(service, "https://pay.example.com:8443/.well-known/lnurlp/al.ice_1-2")
    assert.strictEqual(callback, offer.callback.replace("pay.example.com/", "pay.example.com:8443/"))
  })

  it("LUD-16: an address with a tag pays the same address, and payer and payee see the tag", async () => {
    const tagged = "al.ice_1-2+order.7"
    const { entries, ...offer } = await offerAt(
      service,
      `https://pay.example.com/.well-known/lnurlp/${tagged}`
    )
    assert.deepStrictEqual(entries, [
      ["text/plain", `Pay to ${tagged}@pay.example.com`],
      ["text/identifier", `${tagged}@pay.example.com`],
      ["text/tag", "order.7"]
    ])
    await pay(service, await askFor(service, { entries, ...offer }, 21_000))
    for (const user of ["al.ice_1-2+", "+tag", "al.ice_1-2+a%20b"])
      assert.strictEqual(await refusal(at(user)), "No such Lightning address", user)
  })

  it("LUD-16: an address that never existed and a deleted address return the same error", async () => {
    const gone = await service.lightningAddress(key, "gone")
    const offer = await lookUp(service, gone)
    const invoice = await askFor(service, offer, 21_000)
    const { id } = await service.record(key, gone)
    assert.strictEqual(
      (await service.ask("DELETE", `/v1/bitcoin/deposit/lightning-address/${id}`, { key })).status,
      200
    )
    const reasons = await Promise.all(
      [
        at("gone"),
        at("nobody"),
        get(service, `${offer.callback}?amount=21000`),
        get(service, offer.callback.replace("gone", "nobody"))
      ].map(refusal)
    )
    assert.deepStrictEqual(
      reasons,
      Array.from({ length: 4 }, () => "No such Lightning address")
    )
    // An invoice issued earlier can still be paid, and its proof is available.
    const preimage = await pay(service, invoice)
    assert.strictEqual((await get(service, invoice.verify ?? ""))["preimage"], preimage)
  })

  it("LUD-16: an address is found only at its own domain", async () => {
    for (const host of [
      "",
      "other.example",
      "sub.pay.example.com",
      "example.com",
      "127.0.0.1",
      "[::1]",
      "localhost",
      "pay.example.com.evil.example"
    ]) {
      assert.strictEqual(await refusal(at("al.ice_1-2", { host })), "No such Lightning address", host)
    }
    for (const host of ["pay.example.com@evil.example", "pay.example.com,evil.example", "a b"])
      assert.deepStrictEqual(
        seen(await service.ask("GET", "/.well-known/lnurlp/al.ice_1-2", { headers: { host } })),
        bad(400, "malformed"),
        host
      )
  })
})
