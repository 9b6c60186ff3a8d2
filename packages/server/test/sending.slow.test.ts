import { assert } from "@effect/vitest"
import * as Customer from "./Customer.ts"
import { eventually } from "./Service.ts"
import { stories } from "./Story.ts"

stories("sending", (it) => {
  it("withdrawal: a withdrawal to an external invoice, Lightning address, LNURL or bitcoin address is estimated, confirmed and settled", async ({
    company,
    middle
  }) => {
    const shop = await company("paid")
    await Customer.fund(shop, 1_000_000)
    const types = ["lightning_invoice", "lightning_address", "lnurl", "chain_address"] as const
    const sent = await Customer.times(types.length * 2, async (at) => {
      const type = types[at % types.length] ?? assert.fail("four types")
      const sats = 20_000 + at
      const made = await Customer.outside(shop, type, type === "lightning_invoice" ? { amount_sats: sats } : {})
      const estimate = await Customer.estimate(shop, made.destination, sats)
      assert.deepStrictEqual([estimate.recipient_type, estimate.amount_sats], [type, sats])
      assert.isTrue(estimate.success_probability > 0 && estimate.success_probability <= 1)
      assert.isAbove(estimate.service_fee_sats, 0)
      return { type, sats, made, estimate }
    })
    const confirmed = await Promise.all(
      sent.map(async ({ sats, made, estimate }, at) => {
        // Send each type through both routes.
        const withdrawal = await Customer.data(
          201,
          Customer.confirm(shop, made.destination, sats, {}, Customer.spellings[Math.floor(at / types.length)])
        )
        assert.deepStrictEqual(
          [withdrawal.status, withdrawal.amount_sats, withdrawal.fee_sats, withdrawal.lightning_payment, withdrawal.chain_tx_id],
          ["pending", sats, estimate.service_fee_sats, null, null]
        )
        return withdrawal
      })
    )
    await middle()

    const left = Customer.without(1_000_000, ...confirmed)
    assert.strictEqual(await Customer.balance(shop), left)
    await Promise.all(
      confirmed.map(async ({ id, recipient, created_at }, at) => {
        const { type, sats, made } = sent[at] ?? assert.fail("one confirmed withdrawal for each request")
        if (type === "chain_address") {
          await Customer.until(shop, `/v1/transactions/withdrawals/${id}`, ({ chain_tx_id }) => chain_tx_id !== null)
          // The payout enters the mempool shortly afterwards, so mine until a block contains it.
          await eventually(
            "its block",
            async () => {
              await Customer.data(200, shop.post("/sandbox/mine", { blocks: 1 }))
              return Customer.fetchWithdrawal(shop, id)
            },
            ({ status }) => status !== "pending"
          )
        }
        const withdrawal = await Customer.ends(shop, id, "settled")
        assert.deepStrictEqual([withdrawal.amount_sats, withdrawal.recipient, withdrawal.created_at], [sats, recipient, created_at])
        if (type === "chain_address") {
          assert.match(withdrawal.chain_tx_id, /^[0-9a-f]{64}$/)
          assert.strictEqual(withdrawal.lightning_payment, null)
        } else {
          const payment = withdrawal.lightning_payment
          assert.deepStrictEqual([payment.status, payment.value_sat, withdrawal.chain_tx_id], ["SUCCEEDED", String(sats), null])
          assert.strictEqual(Customer.hashOf(payment.payment_preimage), payment.payment_hash)
          if (type === "lightning_invoice") assert.strictEqual(payment.payment_hash, made.payment_hash)
        }
      })
    )
    assert.strictEqual(await Customer.balance(shop), left)
    const list: ReadonlyArray<{ readonly id: string; readonly fee_microsats: number }> = await Customer.transactions(
      shop,
      "type=withdrawal&status=settled"
    )
    assert.deepStrictEqual(
      list.map(({ id, fee_microsats }) => [id, fee_microsats]).toSorted(),
      confirmed.map(({ id, fee_sats }) => [id, Math.round(fee_sats * 1000)]).toSorted()
    )
  })

  it("withdrawal: a payment to another company's invoice, Lightning address or bitcoin address is settled internally", async ({
    company,
    middle
  }) => {
    const [payer, payee] = [await company("paid"), await company("free")]
    await Customer.fund(payer, 100_000)
    const invoice = await Customer.invoice(payee, 11_000)
    const { address: lightningAddress } = await Customer.data(201, payee.post("/v1/bitcoin/deposit/lightning-address"))
    const {
      address: { address }
    } = await Customer.data(201, payee.post("/v1/bitcoin/deposit/on-chain"))
    const asked = [
      { destination: invoice.payment_request, sats: 11_000, rail: "lightning", invoiceId: invoice.id },
      { destination: lightningAddress, sats: 12_000, rail: "lightning", invoiceId: null },
      { destination: address, sats: 13_000, rail: "on_chain", invoiceId: null }
    ]
    const confirmed = await Promise.all(
      asked.map(async ({ destination, sats, rail }) => {
        const estimate = await Customer.estimate(payer, destination, sats)
        assert.deepStrictEqual([estimate.service_fee_sats, estimate.success_probability], [0, 1])
        const withdrawal = await Customer.data(201, Customer.confirm(payer, destination, sats))
        assert.deepStrictEqual([withdrawal.status, withdrawal.fee_sats, withdrawal.rail_type], ["pending", 0, rail])
        return withdrawal
      })
    )
    await middle()

    await Promise.all(confirmed.map(({ id }) => Customer.ends(payer, id, "settled")))
    assert.deepStrictEqual([await Customer.balance(payer), await Customer.balance(payee)], [64_000, 36_000])
    const settled = await Customer.fetchInvoice(payee, invoice.id)
    assert.isTrue(settled.settled)
    assert.strictEqual(Customer.hashOf(settled.r_preimage), invoice.r_hash)
    const paid = await Customer.fetchWithdrawal(payer, confirmed[0].id)
    assert.deepStrictEqual(
      [paid.lightning_payment.payment_hash, paid.lightning_payment.payment_preimage],
      [invoice.r_hash, settled.r_preimage]
    )

    const deposits: ReadonlyArray<{ readonly id: string; readonly recipient: string }> = await Customer.transactions(payee)
    assert.strictEqual(deposits.length, asked.length)
    for (const { destination, sats, rail, invoiceId } of asked) {
      const deposit = await Customer.fetchDeposit(payee, deposits.find(({ recipient }) => recipient === destination)?.id ?? "")
      assert.deepStrictEqual(
        [deposit.amount_sats, deposit.status, deposit.rail_type, deposit.lightning_invoice_id, deposit.chain_tx_id],
        [sats, "settled", rail, invoiceId, null]
      )
    }
    assert.deepStrictEqual(
      await Customer.refusal(payer.post("/sandbox/pay", { payment_request: invoice.payment_request })),
      [422, "sandbox_refused"],
      "no external payer can pay the invoice again"
    )
  })

  it("idempotency key: a confirm request repeated with the same key has no further effect and gets a byte-identical response", async ({
    company,
    middle
  }) => {
    const shop = await company("paid")
    await Customer.fund(shop, 100_000)
    const [{ destination }, other] = await Customer.times(2, () => Customer.outside(shop, "lightning_address"))
    const headers = { "Idempotency-Key": "order-1042" }
    const first = await Customer.confirm(shop, destination, 5000, headers)
    assert.deepStrictEqual([first.status, first.headers.get("idempotency-replayed")], [201, null])
    // A second withdrawal whose response the interruption may swallow.
    const overtaken = Customer.confirm(shop, other.destination, 6000, { "Idempotency-Key": "order-1043" }).then(
      ({ text }) => text,
      () => undefined
    )
    await middle()

    const again = async () => {
      for (const repeated of await Customer.times(10, (at) =>
        Customer.confirm(shop, destination, 5000, headers, Customer.spellings[at % 2])
      )) {
        assert.deepStrictEqual([repeated.status, repeated.headers.get("idempotency-replayed"), repeated.text], [201, "true", first.text])
      }
    }
    await again()
    assert.deepStrictEqual(await Customer.refusal(Customer.confirm(shop, destination, 5001, headers)), [422, "idempotency_mismatch"])
    const [answered, second] = [await overtaken, await Customer.confirm(shop, other.destination, 6000, { "Idempotency-Key": "order-1043" })]
    assert.strictEqual(second.text, answered ?? second.text)
    for (const { data } of [first, second]) await Customer.ends(shop, data.id, "settled")
    await again()
    const list: ReadonlyArray<{ readonly id: string }> = await Customer.transactions(shop, "type=withdrawal")
    assert.sameMembers(
      list.map(({ id }) => id),
      [first.data.id, second.data.id]
    )
    assert.strictEqual(await Customer.balance(shop), Customer.without(100_000, first.data, second.data))
  })
})
