import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, issuePaths, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const path = "/v1/bitcoin/deposit/lightning-invoice"
const post = (key: string, path: string, body: object) => service.ask("POST", path, { key, body })
const amount = { amount: 1000, currency: "sats" }

describe("splits", () => {
  it("split: invoices, checkouts and Lightning addresses show them; each payee lists a transfer with the deposit's id", async () => {
    const [shop, payee] = [await service.company(), await service.company()]
    const splits = [{ company_id: payee.id, share: "12.5%" }]
    for (const [place, body] of [
      [path, amount],
      ["/v1/checkouts", amount],
      ["/v1/bitcoin/deposit/lightning-address", {}]
    ] as const) {
      const made = await post(shop.key, place, { ...body, splits })
      assert.strictEqual(made.status, 201, made.text)
      assert.deepStrictEqual(made.body.data.splits, splits)
      const without = await post(shop.key, place, body)
      assert.isNull(without.body.data.splits)
    }
    const { payment_request, id } = (await post(shop.key, path, { ...amount, splits })).body.data
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: payment_request }))
    await service.work()
    const { deposit_id } = (await service.ask("GET", `${path}/${id}`, { key: shop.key })).body.data
    const [received] = (await service.ask("GET", "/v1/transfers", { key: payee.key })).body.data
    assert.deepInclude(received, { company_id: shop.id, to: payee.id, amount_sats: 125, deposit_id })
    const shown = await service.ask("GET", `/v1/transactions/deposits/${deposit_id}/splits`, {
      key: shop.key
    })
    assert.deepStrictEqual(shown.body.data, {
      id: deposit_id,
      company_id: shop.id,
      splits: [{ ...splits[0], amount_sats: 125, transfer_id: received.id }]
    })
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/transactions/deposits/${deposit_id}/splits`, { key: payee.key })),
      bad(404, "not_found")
    )
    const lines = (await service.ask("GET", "/v1/transactions", { key: shop.key })).body.data
    assert.sameDeepMembers(
      lines.map(({ type, amount_sats }: { readonly type: string; readonly amount_sats: number }) => [
        type,
        amount_sats
      ]),
      [
        ["deposit", 1000],
        ["transfer", -125]
      ]
    )
    const back = await post(payee.key, `/v1/transfers/${received.id}/return`, {
      amount: 25,
      currency: "sats"
    })
    assert.strictEqual(back.status, 201, back.text)
  })

  it("split: an export names the payee of each share, also of equal ones", async () => {
    const [shop, one, other] = [await service.company(), await service.company(), await service.company()]
    const splits = [one, other].map(({ id }) => ({ company_id: id, share: "10%" }))
    const { payment_request } = (await post(shop.key, path, { ...amount, splits })).body.data
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: payment_request }))
    await service.work()
    const { text } = await service.ask("GET", "/v1/transactions/export", { key: shop.key })
    for (const { id } of [one, other]) assert.lengthOf(text.split(id), 2, text)
  })

  it("split: PATCH of a Lightning address keeps its splits, and null removes them", async () => {
    const [shop, payee] = [await service.company(), await service.company()]
    const place = "/v1/bitcoin/deposit/lightning-address"
    const splits = [{ company_id: payee.id, share: "5%" }]
    const { id } = (await post(shop.key, place, { splits })).body.data
    const patched = (body: object) => service.ask("PATCH", `${place}/${id}`, { key: shop.key, body })
    assert.deepStrictEqual((await patched({ min_sats: 10 })).body.data.splits, splits)
    assert.isNull((await patched({ splits: null })).body.data.splits)
  })

  it("split: an error names the row", async () => {
    const [shop, payee, other] = [await service.company(), await service.company(), await service.company()]
    const row = (share: unknown, company_id: string = payee.id) => ({ company_id, share })
    const unknown = "0197a1b2-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    for (const [splits, paths] of [
      [[], ["splits"]],
      [Array.from({ length: 11 }, () => row("1%")), ["splits"]],
      [[row("1%", shop.id)], ["splits.0.company_id"]],
      [[row("1%"), row("1%", unknown)], ["splits.1.company_id"]],
      [[row("1%"), row("2%", payee.id.toUpperCase())], ["splits.1.company_id"]],
      [[row("1%", "x".repeat(10_000))], ["splits.0.company_id"]],
      [[row("60%"), row("40.01%", other.id)], ["splits.1.share"]],
      ...["100.01%", "12.345%", "-1%", "0%", "", "12.5", "x".repeat(10_000), 12.5, null].map(
        (share) => [[row("1%", other.id), row(share)], ["splits.1.share"]] as const
      ),
      ["12.5%", ["splits"]],
      [[{ share: "1%" }], ["splits.0.company_id"]]
    ] as const) {
      for (const [place, body] of [
        [path, amount],
        ["/v1/checkouts", amount],
        ["/v1/bitcoin/deposit/lightning-address", {}]
      ] as const) {
        const answer = await post(shop.key, place, { ...body, splits })
        assert.deepStrictEqual(seen(answer), bad(400, "malformed"), answer.text)
        assert.deepStrictEqual(issuePaths(answer.body), [...paths], answer.text)
        assert.isBelow(answer.text.length, 1000)
      }
    }
  })
})
