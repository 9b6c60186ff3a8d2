import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import { start } from "./Service.ts"
import { askFor, callbackUrl, get, lookUp, offerAt, refusal } from "./Wallet.ts"

// The same handle at the service's domain and at the domains of two companies. A payment at a domain goes to
// its company, whatever headers the request has.

const service = await start()
afterAll(service.dispose)
const [ours, one, two] = [await service.company(), await service.company(), await service.company()]
const verify = (id: string, domain: string) =>
  service.run(Effect.flatMap(Companies, ({ verifyDomain }) => verifyDomain(CompanyId.make(id), domain)))
await verify(one.id, "one.example")
await verify(two.id, "Zwölf.example")
const owners = {
  [await service.lightningAddress(ours.key, "shop")]: ours.id,
  [await service.lightningAddress(one.key, "shop", "one.example")]: one.id,
  [await service.lightningAddress(two.key, "shop", "zwölf.example")]: two.id
}
const domains = ["pay.example.com", "one.example", "xn--zwlf-6qa.example"]
const unknown = "No such Lightning address"

const ownerOf = (paymentHash: PaymentHash.PaymentHash) =>
  service.run(
    Effect.flatMap(Records, (records) =>
      Effect.map(records.invoiceByHash(paymentHash), (found) => Option.getOrThrow(found).companyId)
    )
  )

describe("one handle at three domains", () => {
  it("C40: Lightning address: the same handle at three domains belongs to three companies, and each company is paid at its own domain", async () => {
    assert.deepStrictEqual(
      Object.keys(owners),
      domains.map((domain) => `shop@${domain}`)
    )
    for (const [address, owner] of Object.entries(owners)) {
      const invoice = await askFor(service, await lookUp(service, address), 21_000)
      assert.strictEqual(await ownerOf(invoice.paymentHash), owner)
    }
  })

  it("Lightning address: the Host header selects the domain, in any spelling", async () => {
    const spellings = {
      "ONE.example": "one.example",
      "one.example:443": "one.example",
      "zwölf.example": "xn--zwlf-6qa.example",
      "XN--ZWLF-6QA.EXAMPLE": "xn--zwlf-6qa.example"
    }
    for (const [host, domain] of Object.entries(spellings)) {
      // Headers are Latin-1. A client sends other characters as Punycode.
      const body = await get(service, "https://any.example/.well-known/lnurlp/shop", { host })
      assert.include(String(body["metadata"]), `"shop@${domain}"`, host)
    }
  })

  it("Lightning address: forwarding headers do not change the domain", async () => {
    for (const host of domains) {
      for (const other of domains) {
        const body = await get(service, `https://${host}/.well-known/lnurlp/shop`, {
          "x-forwarded-host": other,
          "x-forwarded-server": other,
          "x-original-host": other,
          "x-host": other,
          forwarded: `host=${other}`,
          origin: `https://${other}`,
          referer: `https://${other}/`,
          via: other
        })
        assert.include(String(body["metadata"]), `"shop@${host}"`)
        assert.include(String(body["callback"]), `https://${host}/lnurlp/${host}/shop/`)
      }
    }
  })

  it("Lightning address: an address at a custom domain can also be reached through a path at the service's domain", async () => {
    for (const domain of domains) {
      const offer = await offerAt(service, `https://pay.example.com/lnurlp/${domain}/shop`)
      assert.deepStrictEqual(offer.entries[1], ["text/identifier", `shop@${domain}`])
      const invoice = await askFor(service, offer, 21_000)
      assert.strictEqual(await ownerOf(invoice.paymentHash), owners[`shop@${domain}`])
      assert.strictEqual((await get(service, invoice.verify ?? ""))["settled"], false)
    }
  })

  it("Lightning address: an address cannot be reached through another company's domain", async () => {
    for (const host of domains.slice(1)) {
      for (const domain of domains.filter((domain) => domain !== host)) {
        const invoice = await askFor(service, await lookUp(service, `shop@${domain}`), 21_000)
        const there = (url: string) => url.replace(`https://${domain}/`, `https://${host}/`)
        assert.strictEqual(await refusal(get(service, `https://${host}/lnurlp/${domain}/shop`)), unknown)
        assert.strictEqual(
          await refusal(get(service, `https://${host}/lnurlp/${domain}/shop/callback?amount=21000`)),
          unknown
        )
        assert.strictEqual(await refusal(get(service, there(invoice.verify ?? ""))), unknown)
        // An invoice of one domain is not shown at another.
        const elsewhere = (invoice.verify ?? "").replaceAll(domain, host)
        assert.strictEqual(await refusal(get(service, elsewhere)), "Not found")
      }
    }
  })

  it("Lightning address: an address is not found at a domain that was never verified", async () => {
    for (const host of [
      "three.example",
      "sub.one.example",
      "one.example.evil.example",
      "example",
      "xn--zwlf-6qa"
    ]) {
      assert.strictEqual(
        await refusal(get(service, "https://any.example/.well-known/lnurlp/shop", { host })),
        unknown,
        host
      )
      assert.strictEqual(
        await refusal(get(service, callbackUrl(await lookUp(service, "shop@one.example"), 21_000), { host })),
        unknown,
        host
      )
    }
  })
})
