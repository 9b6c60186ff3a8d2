import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as OfferIssuer from "@satrail/core/nodes/OfferIssuer"
import { Settlements } from "@satrail/core/receiving/Settlements"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { bad, issuePaths, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const path = "/v1/bitcoin/deposit/offer"
const { key } = await service.company("paid")
const other = await service.company()

const created = async (body: Readonly<Record<string, unknown>> = {}, of = key) => {
  const answer = await service.ask("POST", path, { key: of, body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const balance = async (of: string) =>
  (await service.ask("GET", "/v1/transactions/balance", { key: of })).body.data
const pay = (offer: string, sats: number) =>
  service.sandbox((sandbox) => sandbox.pay({ paymentRequest: offer, amount: service.sats(sats) }))
/** Number of checks before giving up. All state is in memory, and each check lets the listener run. */
const turns = 500
/** Listens to the node's notifications until the condition holds. */
const heard = (isSo: () => Promise<boolean>) =>
  service.run(
    Effect.gen(function* () {
      const listening = yield* Effect.forkChild((yield* Settlements).listen())
      let left = turns
      while (left > 0 && !(yield* Effect.promise(isSo))) left--
      yield* Fiber.interrupt(listening)
      assert.isAbove(left, 0, "the notification did not arrive")
    })
  )
const deposits = async (of = key) =>
  (await service.ask("GET", "/v1/transactions?limit=100", { key: of })).body.data

describe("offers", () => {
  it("C60: offer: two payments create two deposits, each with its own invoice, and repeated notifications create no more", async () => {
    const { id, offer, memo } = await created({ description: "coffee", metadata: { shelf: "3" } })
    assert.strictEqual(Result.getOrThrow(Bolt12.decode(offer)).description, memo)
    const first = await pay(offer, 1000)
    await pay(offer, 250)
    await heard(async () => (await deposits()).length === 2)
    // Start again from the first notification, as if the cursor had been lost.
    await service.run(Effect.flatMap(Settlements, ({ look }) => look))
    await pay(offer, 1)
    await heard(async () => (await deposits()).length === 3)
    assert.deepStrictEqual(
      (await deposits()).map((row: { readonly amount_sats: number }) => row.amount_sats).toSorted(),
      [1, 1000, 250].toSorted()
    )
    assert.strictEqual((await balance(key)).balance, 1251)
    const [invoice] = (
      await service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice?payment_hash=${first.paymentHash}`, {
        key
      })
    ).body.data
    assert.deepInclude(invoice, {
      status: "settled",
      payment_request: offer,
      memo,
      amount_sats: null,
      received_sats: 1000,
      metadata: { shelf: "3" }
    })
    assert.deepStrictEqual((await service.ask("GET", `${path}/${id}`, { key })).body.data.offer, offer)
    assert.strictEqual((await balance(other.key)).balance, 0)
    assert.deepStrictEqual(
      seen(await service.ask("GET", `${path}/${id}`, { key: other.key })),
      bad(404, "not_found")
    )
  })

  it("offer: an offer with an amount states the amount, and a lower payment is rejected", async () => {
    const { offer, amount_sats } = await created({
      amount: 0.0000021,
      currency: "BTC",
      description: "coffee"
    })
    assert.deepStrictEqual(
      [amount_sats, Result.getOrThrow(Bolt12.decode(offer)).amount],
      [210, service.sats(210)]
    )
    const before = await deposits()
    await pay(offer, 209).then(
      () => assert.fail("a payment below the amount is refused"),
      () => undefined
    )
    await pay(offer, 210)
    await heard(async () => (await deposits()).length === before.length + 1)
    assert.strictEqual((await deposits())[0].amount_sats, 210)
  })

  it("offer: an offer with an amount needs a description, a bitcoin unit and an amount within the limits", async () => {
    const paths = async (body: Readonly<Record<string, unknown>>) => {
      const answer = await service.ask("POST", path, { key, body })
      return [answer.status, issuePaths(answer.body)]
    }
    assert.deepStrictEqual(await paths({ amount: 21, currency: "sats" }), [400, ["description"]])
    assert.deepStrictEqual(await paths({ amount: 21, currency: "usd", description: "coffee" }), [
      400,
      ["currency"]
    ])
    assert.deepStrictEqual(await paths({ amount: 21, description: "coffee" }), [400, ["currency"]])
    assert.deepStrictEqual(await paths({ amount: 0.5, currency: "sats", description: "coffee" }), [
      400,
      ["amount"]
    ])
    assert.deepStrictEqual(await paths({ amount: 21, currency: "btc", description: "coffee" }), [
      400,
      ["amount"]
    ])
  })

  it("offer: the offer of a Lightning address includes the DNS record for the address, and each address has one offer", async () => {
    const address = (
      await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body: { handle: "satoshi" } })
    ).body.data
    const made = await created({ lightning_address_id: address.id })
    assert.deepInclude(made, { lightning_address_id: address.id, lightning_address: address.address })
    assert.match(
      made.dns_record,
      /^satoshi\.user\._bitcoin-payment\.pay\.example\.com\. 3600 IN TXT "bitcoin:\?lno=lno1[^ ]*"( "[^ ]*")*$/
    )
    assert.strictEqual(made.dns_record.replaceAll('" "', "").split('"')[1], `bitcoin:?lno=${made.offer}`)
    const again = await service.ask("POST", path, { key, body: { lightning_address_id: address.id } })
    assert.deepStrictEqual(issuePaths(again.body), ["lightning_address_id"])
    const theirs = await service.ask("POST", path, {
      key: other.key,
      body: { lightning_address_id: address.id }
    })
    assert.deepStrictEqual(seen(theirs), bad(404, "not_found"))
  })

  it("offer: a payment of an offer that no company owns is not credited, and does not block later payments", async () => {
    const before = (await deposits()).length
    const issuer = await service.run(OfferIssuer.available)
    if (issuer === undefined) return assert.fail("the sandbox issues offers")
    const stray = await service.run(
      issuer.createOffer({ id: crypto.randomUUID(), description: "", amount: null })
    )
    const { offer } = await created()
    await pay(stray, 77)
    await pay(offer, 5)
    await heard(async () => (await deposits()).length === before + 1)
    assert.strictEqual((await deposits())[0].amount_sats, 5)
  })

  it("offer: the sandbox never drops the notification of an offer's payment, because nothing else reports the payment", async () => {
    const before = (await deposits()).length
    const { offer } = await created()
    await service.sandbox((sandbox) => sandbox.loseNextNotice)
    await pay(offer, 9)
    await heard(async () => (await deposits()).length === before + 1)
    assert.isTrue(
      (await service.sandbox((sandbox) => sandbox.state)).lightning.losesNextNotice,
      "the next notification of an invoice is still dropped"
    )
  })
})
