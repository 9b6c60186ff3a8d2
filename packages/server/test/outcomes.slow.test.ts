import { assert } from "@effect/vitest"
import * as Customer from "./Customer.ts"
import { type Company, eventually } from "./Service.ts"
import { stories } from "./Story.ts"

/** Confirms a withdrawal of 10 000 sats to one payee per behavior, by default to the payee's invoice. */
const send = async (shop: Company, behaviours: ReadonlyArray<string>, type = "lightning_invoice") => {
  const amount = type === "lightning_invoice" ? { amount_sats: 10_000 } : {}
  const destinations = await Promise.all(behaviours.map((behaviour) => Customer.outside(shop, type, { ...amount, behaviour })))
  const withdrawals = await Promise.all(
    destinations.map(({ destination }) => Customer.data(201, Customer.confirm(shop, destination, 10_000)))
  )
  return { hashes: destinations.map(({ payment_hash }): string => payment_hash), withdrawals }
}

/** Makes another payment and waits until it completes, so that earlier ones have been processed too. */
const overtake = async (shop: Company) => {
  const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
  const withdrawal = await Customer.data(201, Customer.confirm(shop, destination, 1000))
  await Customer.ends(shop, withdrawal.id, "settled")
  return withdrawal
}

stories("how payments end", (it) => {
  it("withdrawal: a held payment stays pending until its final result, then settles or is released once", async ({ company, middle }) => {
    const shop = await company("paid")
    await Customer.fund(shop, 100_000)
    const { hashes, withdrawals: held } = await send(shop, ["hold", "hold"])
    const [settles = "", fails = ""] = hashes
    const pending = async (...others: Parameters<typeof Customer.taken>[0]) => {
      for (const { id } of held) {
        const { status, lightning_payment: payment } = await Customer.fetchWithdrawal(shop, id)
        assert.deepStrictEqual([status, payment], ["pending", null])
      }
      assert.strictEqual(await Customer.balance(shop), Customer.without(100_000, ...held, ...others))
    }
    const first = await overtake(shop)
    await pending(first)
    await middle()
    const second = await overtake(shop)
    await pending(first, second)

    await Customer.data(200, shop.post("/sandbox/release", { payment_hash: settles, outcome: "settle" }))
    const settled = await Customer.ends(shop, held[0].id, "settled")
    assert.strictEqual(Customer.hashOf(settled.lightning_payment.payment_preimage), settles)
    await Customer.data(200, shop.post("/sandbox/release", { payment_hash: fails, outcome: "fail" }))
    await Customer.ends(shop, held[1].id, "failed")
    const third = await overtake(shop)
    assert.strictEqual(await Customer.balance(shop), Customer.without(100_000, held[0], first, second, third))
  })

  it("C2 C7: withdrawal: a payment whose outcome is unknown is neither released early nor paid twice", async ({ company, middle }) => {
    const shop = await company("paid")
    await Customer.fund(shop, 100_000)
    const behaviours = ["unknown_then_settle", "unknown_then_fail"]
    const { withdrawals: toInvoices } = await send(shop, behaviours)
    // Each attempt at an address could fetch a new invoice, and two invoices would both be paid.
    const { withdrawals: toAddresses } = await send(shop, behaviours, "lightning_address")
    const withdrawals = [...toInvoices, ...toAddresses]
    await middle()
    const ids = withdrawals.map(({ id }): string => id)
    await eventually(
      "completion of all withdrawals",
      async () => {
        // Read the balance first, because a withdrawal that is pending afterwards was also pending then.
        const balance = await Customer.balance(shop)
        const now = await Promise.all(ids.map((id) => Customer.fetchWithdrawal(shop, id)))
        const isHeld = (at: number) => now[at].status !== "failed"
        assert.isAtMost(
          balance,
          Customer.without(100_000, ...withdrawals.filter((_, at) => isHeld(at))),
          "no amount is released before its withdrawal fails"
        )
        return now.map(({ status }) => status)
      },
      (statuses) => !statuses.includes("pending")
    )
    for (const [at, id] of ids.entries()) await Customer.ends(shop, id, at % 2 === 0 ? "settled" : "failed")
    assert.strictEqual(await Customer.balance(shop), Customer.without(100_000, ...withdrawals.filter((_, at) => at % 2 === 0)))
  })
})
