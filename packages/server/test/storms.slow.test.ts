import { assert } from "@effect/vitest"
import * as Customer from "./Customer.ts"
import { type Answer, eventually } from "./Service.ts"
import { everyWay, stories } from "./Story.ts"

/** Waits until so many of these are answered, however. */
const answered = (count: number, asked: ReadonlyArray<Promise<unknown>>): Promise<void> =>
  new Promise((resolve, reject) => {
    let [left, lost] = [count, 0]
    for (const one of asked) {
      one.then(
        () => (--left === 0 ? resolve() : undefined),
        (cause: unknown) => (++lost > asked.length - count ? reject(new Error("too few answers", { cause })) : undefined)
      )
    }
  })

const arrived = async (asked: ReadonlyArray<Promise<Answer>>): Promise<ReadonlyArray<Answer>> =>
  (await Promise.allSettled(asked)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))

stories("many at once", (it) => {
  it("C12: withdrawals: of 50 confirms of the whole balance exactly one holds it", everyWay, async ({ company, middle }) => {
    const shop = await company("paid")
    const { destination } = await Customer.outside(shop, "lightning_address")
    const { service_fee_sats: fee } = await Customer.estimate(shop, destination, 100_000)
    const sats = Math.ceil(100_000 + fee)
    await Customer.fund(shop, sats)

    const asked = Array.from({ length: 50 }, () => Customer.confirm(shop, destination, 100_000))
    await answered(1, asked)
    await middle()
    // Some answers may be lost with the process; who hears none does not know, and asks what there is.
    const answers = await arrived(asked)
    assert.isAtMost(answers.filter(({ status }) => status === 201).length, 1)
    for (const { status, code } of answers) if (status !== 201) assert.deepStrictEqual([status, code], [422, "insufficient_balance"])
    const [only, ...others] = await Customer.transactions(shop, "type=withdrawal")
    assert.deepStrictEqual(others, [])
    await Customer.ends(shop, only.id, "settled")
    assert.deepStrictEqual(await Customer.refusal(Customer.confirm(shop, destination, 100_000)), [422, "insufficient_balance"])
    assert.strictEqual(await Customer.balance(shop), Math.floor(sats - 100_000 - fee))
  })

  it("withdrawals: 50 different ones at once all settle, each exactly once", everyWay, async ({ company, middle }) => {
    const shop = await company("paid")
    await Customer.fund(shop, 200_000)
    // A new invoice for every attempt could be had of an address: who forgets the first pays two of them.
    const payees = await Customer.times(50, (at) =>
      at % 2 === 0 ? Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 + at }) : Customer.outside(shop, "lightning_address")
    )
    const send = (at: number) => Customer.confirm(shop, payees[at].destination, 1000 + at, { "Idempotency-Key": `storm-${at}` })

    const asked = payees.map((_, at) => send(at))
    await answered(20, asked)
    await middle()
    const first = await arrived(asked)
    const again = await Promise.all(payees.map((_, at) => send(at)))
    for (const { status, text } of again) assert.strictEqual(status, 201, text)
    const ids = again.map(({ data }): string => data.id)
    for (const { text } of first)
      assert.isTrue(
        again.some((answer) => answer.text === text),
        "what was answered before is answered again"
      )
    // Once more, while they are being sent.
    await eventually(
      "the first settlements",
      () => Customer.transactions(shop, "status=settled&type=withdrawal"),
      ({ length }) => length > 0
    )
    await middle()

    const settled = await Promise.all(ids.map((id) => Customer.ends(shop, id, "settled")))
    const hashes = settled.map(({ lightning_payment }): string => lightning_payment.payment_hash)
    assert.strictEqual(new Set(hashes).size, hashes.length)
    for (const [at, hash] of hashes.entries()) assert.strictEqual(hash, payees[at].payment_hash ?? hash)
    const list: ReadonlyArray<{ readonly id: string }> = await Customer.transactions(shop, "type=withdrawal&limit=1000")
    assert.sameMembers(
      list.map(({ id }) => id),
      ids
    )
    assert.strictEqual(await Customer.balance(shop), Customer.without(200_000, ...again.map(({ data }) => data)))
  })
})
