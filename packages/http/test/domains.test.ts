import { afterAll, assert, describe, it } from "@effect/vitest"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import { Effect } from "effect"
import { bad, seen, start } from "./Service.ts"
import { askFor, lookUp, pay } from "./Wallet.ts"

const service = await start()
afterAll(service.dispose)
const { id, key } = await service.company()
const claim = (body: unknown, asking = key) => service.ask("POST", "/v1/domains", { key: asking, body })
const show = (value: string) =>
  service.run(
    Effect.flatMap(SimulatedDns.SimulatedDns, ({ set }) => set("_satrail-verify.shop.example", [value]))
  )

describe("custom domains", () => {
  it("domain: a claimed domain is verified by the DNS record that the error names, and then its addresses can be paid", async () => {
    const refused = await claim({ domain: "Shop.example" })
    assert.deepStrictEqual(seen(refused), bad(422, "domain_not_shown"))
    assert.strictEqual(
      refused.body.message,
      `The TXT record is missing. Set a TXT record at _satrail-verify.shop.example with the value satrail-verify=${id}, then repeat the request.`
    )
    await show(`satrail-verify=${id}`)
    const claimed = await claim({ domain: "Shop.example" })
    assert.strictEqual(claimed.status, 201)
    const { verified_at, checked_at, ...data } = claimed.body.data
    assert.strictEqual(verified_at, checked_at)
    assert.deepStrictEqual(data, {
      domain: "shop.example",
      shown_by: "dns",
      lost_at: null,
      txt_name: "_satrail-verify.shop.example",
      txt_value: `satrail-verify=${id}`
    })
    assert.deepStrictEqual(
      (await service.ask("GET", "/v1/domains", { key })).body.data.map(
        ({ domain }: { domain: string }) => domain
      ),
      ["shop.example"]
    )
    const address = await service.lightningAddress(key, "hi", "shop.example")
    assert.match(
      await pay(service, await askFor(service, await lookUp(service, address), 21_000)),
      /^[0-9a-f]{64}$/
    )
  })

  it("domain: another company's domain and a non-public domain are rejected", async () => {
    const [other, free] = [await service.company(), await service.company("free")]
    await show(`satrail-verify=${other.id}`)
    assert.deepStrictEqual(seen(await claim({ domain: "shop.example" }, other.key)), bad(409, "domain_taken"))
    assert.deepStrictEqual(seen(await claim({ domain: "a.example" }, free.key)), bad(403, "plan_required"))
    assert.deepStrictEqual(seen(await claim({ domain: "a.example", handle: "x" })), bad(400, "malformed"))
    assert.deepStrictEqual(seen(await claim({ domain: "localhost" })), bad(400, "malformed"))
    assert.deepStrictEqual((await service.ask("GET", "/v1/domains", { key: other.key })).body.data, [])
  })

  it("domain: if the name servers do not respond, the error says so", async () => {
    const setAway = (isAway: boolean) =>
      service.run(Effect.flatMap(SimulatedDns.SimulatedDns, ({ setAway }) => setAway(isAway)))
    await setAway(true)
    const answer = await claim({ domain: "a.example" })
    await setAway(false)
    assert.deepStrictEqual(seen(answer), bad(503, "names_unavailable"))
    assert.strictEqual(answer.headers.get("retry-after"), "1")
  })

  it("domain: /tls/ask allows a certificate only for a served domain", async () => {
    const ask = (domain: string) => service.ask("GET", `/tls/ask?domain=${encodeURIComponent(domain)}`)
    for (const domain of ["pay.example.com", "shop.example", "SHOP.example"])
      assert.strictEqual((await ask(domain)).status, 200, domain)
    for (const domain of ["other.example", "", "www.shop.example"])
      assert.deepStrictEqual(seen(await ask(domain)), bad(404, "not_found"), domain)
    assert.deepStrictEqual(seen(await service.ask("GET", "/tls/ask")), bad(400, "malformed"))
  })
})
