import { assert } from "@effect/vitest"
import * as Customer from "./Customer.ts"
import { eventually } from "./Service.ts"
import { stories } from "./Story.ts"

stories("being paid", (it) => {
  it("invoices: an invoice that is paid exactly or overpaid is credited once with the received amount", async ({ company, middle }) => {
    const shop = await company("free")
    const made = await Customer.times(12, async (at) => {
      const asked = 10_000 + at
      const invoice = await Customer.invoice(shop, asked)
      assert.deepStrictEqual([invoice.settled, invoice.r_preimage, invoice.amount_sats], [false, "", asked])
      return { invoice, sats: at % 3 === 0 ? asked + 2345 : asked }
    })
    await Promise.all(
      made.map(({ invoice, sats }) =>
        Customer.data(200, shop.post("/sandbox/pay", { payment_request: invoice.payment_request, amount_sats: sats }))
      )
    )
    await middle()

    await Customer.hasBalance(
      shop,
      made.reduce((sum, { sats }) => sum + sats, 0)
    )
    const deposits = await Customer.transactions(shop)
    assert.strictEqual(deposits.length, made.length)
    for (const { invoice, sats } of made) {
      const settled = await Customer.fetchInvoice(shop, invoice.id)
      const line = deposits.find(({ recipient }: { readonly recipient: string }) => recipient === invoice.payment_request)
      const ended = { settled: true, status: "settled", received_sats: sats, deposit_id: line.id }
      assert.deepStrictEqual({ ...settled, r_preimage: "", settled_at: null }, { ...invoice, ...ended })
      assert.isAtLeast(Date.parse(settled.settled_at), Date.parse(invoice.created_at))
      assert.strictEqual(Customer.hashOf(settled.r_preimage), invoice.r_hash)
      assert.deepStrictEqual([line.amount_sats, line.type, line.status, line.fee_microsats], [sats, "deposit", "settled", 0])
      const deposit = await Customer.fetchDeposit(shop, line.id)
      assert.deepStrictEqual(
        [deposit.amount_sats, deposit.lightning_invoice_id, deposit.rail_type, deposit.chain_tx_id],
        [sats, invoice.id, "lightning", null]
      )
      assert.deepStrictEqual(await Customer.refusal(shop.post("/sandbox/pay", { payment_request: invoice.payment_request })), [
        422,
        "sandbox_refused"
      ])
    }
  })

  it("on-chain address: a deposit to each address type is credited after enough confirmations, reversed by a reorganization and credited again", async ({
    company,
    middle
  }) => {
    const shop = await company("free")
    const mine = (blocks: number) => Customer.data(200, shop.post("/sandbox/mine", { blocks }))
    const payments = await Customer.times(4, async (at) => {
      const [type, prefix, sats] =
        (
          [
            ["taproot", "bcrt1p", 100_000],
            ["segwit", "bcrt1q", 110_000],
            ["nested_segwit", "2", 120_000],
            ["taproot", "bcrt1p", 2_000_000]
          ] as const
        )[at] ?? assert.fail("four payments")
      const { address } = await Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", { address_type: type }))
      assert.strictEqual(address.bitcoin_address_type, type)
      assert.isTrue(address.address.startsWith(prefix), address.address)
      return { address: address.address, sats }
    })
    const all = 2_330_000
    const statuses = async () => {
      const list: ReadonlyArray<{ readonly id: string; readonly status: string; readonly amount_sats: number }> =
        await Customer.transactions(shop)
      return list.map(({ status, amount_sats }) => `${amount_sats} ${status}`).toSorted()
    }
    const are = (what: string, ...expected: ReadonlyArray<string>) => {
      const sorted = expected.toSorted()
      return eventually(what, statuses, (seen) => JSON.stringify(seen) === JSON.stringify(sorted))
    }
    const pending = payments.map(({ sats }) => `${sats} pending`)
    const settled = payments.map(({ sats }) => `${sats} settled`)

    const sent = await Promise.all(
      payments.map(({ address, sats }) => Customer.data(201, shop.post("/sandbox/send", { address, amount_sats: sats })))
    )
    await middle()
    await are("payments in the mempool", ...pending)
    assert.strictEqual(await Customer.balance(shop), 0)
    const ids = (await Customer.transactions(shop)).map(({ id }: { readonly id: string }) => id)

    // Up to a million sats, two confirmations are enough. The total is higher, so each payment needs three.
    await mine(2)
    await middle()
    await are("payments settled after two confirmations", ...pending)
    assert.strictEqual(await Customer.balance(shop), 0)
    await mine(1)
    await are("payments settled after three confirmations", ...settled)
    assert.strictEqual(await Customer.balance(shop), all)

    await Customer.data(200, shop.post("/sandbox/reorg", { depth: 3 }))
    await middle()
    await are("payments reversed by a reorganization", ...pending)
    assert.strictEqual(await Customer.balance(shop), 0)

    await mine(3)
    await are("payments mined again", ...settled)
    assert.strictEqual(await Customer.balance(shop), all)
    const list: ReadonlyArray<{ readonly id: string; readonly recipient: string }> = await Customer.transactions(shop)
    assert.deepStrictEqual(
      list.map(({ id }) => id),
      ids,
      "the deposits' ids never change"
    )
    for (const [at, { address }] of payments.entries()) {
      const deposit = await Customer.fetchDeposit(shop, list.find(({ recipient }) => recipient === address)?.id ?? "")
      assert.deepStrictEqual(
        [deposit.chain_tx_id, deposit.rail_type, deposit.lightning_invoice_id],
        [sent[at].chain_tx_id, "on_chain", null]
      )
    }
  })
})
