import { assert, it } from "@effect/vitest"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import { suite } from "./Suite.ts"

suite("transfers and splits of three processes on one PostgreSQL", {}, (cluster) => {
  const sats = (amount: number) => ({ amount, currency: "sats" })
  const send = (from: Company, to: Company, amount: number) =>
    from.post("/v1/transfers", { to: to.id, ...sats(amount) })

  const pairWith = async (amount: number) => {
    const pair = [await cluster().company(), await cluster().company()] as const
    for (const company of pair) await Customer.fund(company, amount)
    return pair
  }

  it("transfer: 64 callers that return one transfer in parts never return more than it", async () => {
    const [payer, payee] = await pairWith(1000)
    const { id } = await Customer.data(201, send(payer, payee, 1000))
    const answers = await Customer.times(64, () => payee.post(`/v1/transfers/${id}/return`, sats(30)))
    const returned = answers.filter(({ status }) => status === 201).length
    const others = answers.filter(({ status }) => status !== 201)
    // A caller that met too many others may try again.
    for (const { code } of others) assert.include(["return_too_large", "conflict"], code)
    assert.isAtMost(returned, 33)
    const rest = await payee.post(`/v1/transfers/${id}/return`)
    assert.strictEqual(rest.status, 201, rest.text)
    const { returned_sats } = await Customer.data(200, payer.get(`/v1/transfers/${id}`))
    assert.strictEqual(returned_sats, 1000)
    assert.strictEqual(await Customer.balance(payer), 1000)
    assert.strictEqual(await Customer.balance(payee), 1000)
  })

  it("transfer: 64 callers that send the last balance of two companies in both directions keep the sum", async () => {
    const [one, other] = await pairWith(1000)
    const answers = await Customer.times(64, (n) =>
      n % 2 === 0 ? send(one, other, 700) : send(other, one, 700)
    )
    for (const { status, code } of answers)
      if (status !== 201) assert.strictEqual(code, "insufficient_balance")
    const balances = [await Customer.balance(one), await Customer.balance(other)]
    assert.strictEqual(
      balances.reduce((sum, balance) => sum + balance, 0),
      2000
    )
    assert.isTrue(
      balances.every((balance) => balance >= 0),
      String(balances)
    )
  })

  it("split: an invoice is shared once even if two processes find its settlement concurrently", async () => {
    const [shop, payee] = [await cluster().company(), await cluster().company()]
    const splits = [{ company_id: payee.id, share: "30%" }]
    const invoice = await Customer.data(
      201,
      shop.post("/v1/bitcoin/deposit/lightning-invoice", { ...sats(1000), splits })
    )
    const { waiting, open } = cluster().hold("before InvoiceSettled")
    await cluster().outside((sandbox) => sandbox.pay({ paymentRequest: invoice.payment_request }))
    const wait = (processes: number) =>
      eventually(
        "all processes that try to credit the invoice",
        waiting,
        (pids) => new Set(pids).size === processes && pids.length >= 2 * processes
      )
    const [pid] = await wait(1)
    const suspended =
      cluster()
        .alive()
        .find(({ running }) => String(running.pid) === pid) ?? assert.fail(`no process ${pid}`)
    suspended.running.kill("SIGSTOP")
    cluster().overslept()
    await wait(2)
    suspended.running.kill("SIGCONT")
    open()
    await Customer.hasBalance(shop, 700)
    await Customer.fund(shop, 1) // by the time this is credited, late attempts have been rejected
    assert.strictEqual(await Customer.balance(shop), 701)
    assert.strictEqual(await Customer.balance(payee), 300)
    assert.lengthOf(await Customer.data(200, payee.get("/v1/transfers")), 1)
  })
})
