import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import { type Answer, type Company, eventually, send } from "../Service.ts"
import { suite } from "./Suite.ts"

/** Counts each response. */
const tally = (answers: ReadonlyArray<Answer>): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const { status, code } of answers) {
    const name = code === undefined ? String(status) : `${status} ${code}`
    found[name] = (found[name] ?? 0) + 1
  }
  return found
}

suite("three processes on one PostgreSQL", {}, (cluster) => {
  const outside = async (company: Company) =>
    (await Customer.outside(company, "lightning_address")).destination

  /** The balance required for this withdrawal, including the fee. */
  const needed = async (company: Company, destination: string, sats: number): Promise<number> =>
    sats + (await Customer.estimate(company, destination, sats)).service_fee_sats

  const waitForEnd = (company: Company, id: string) =>
    Customer.until(company, `/v1/transactions/withdrawals/${id}`, ({ status }) => status !== "pending")

  const allSettle = async (company: Company, count: number) => {
    const list: ReadonlyArray<{ readonly id: string }> = await Customer.transactions(
      company,
      "type=withdrawal&limit=1000"
    )
    assert.strictEqual(list.length, count)
    for (const { id } of list) await Customer.ends(company, id, "settled")
  }

  for (const point of [undefined, "before WithdrawalRequested", "after WithdrawalRequested"]) {
    it(`C12: limits: exactly 10 of 64 concurrent withdrawals are accepted when the key's limit allows 10${point === undefined ? "" : `, even if a process is killed ${point}`}`, async () => {
      const free = await cluster().company()
      const to = await outside(free)
      const each = await needed(free, to, 1000)
      const shop = await cluster().company("paid", {
        day_sats: Math.ceil(10 * each),
        hour_sats: Math.ceil(20 * each)
      })
      await Customer.fund(shop, Math.ceil(64 * each))
      if (point !== undefined) writeFileSync(cluster().points.death, point)
      const keys = Array.from({ length: 64 }, (_, n) => `limited-${n}`)
      const all = () =>
        Promise.all(keys.map((key) => Customer.confirm(shop, to, 1000, { "Idempotency-Key": key })))
      assert.deepStrictEqual(tally(await all()), { 201: 10, "422 limit_exceeded": 54 })
      await cluster().complete()
      assert.deepStrictEqual(tally(await all()), { 201: 10, "422 limit_exceeded": 54 })
      await allSettle(shop, 10)
    })
  }

  for (const [what, refusal, stop, goOn, body, goOnBody] of [
    ["pause", "503 paused", () => "/pause", () => "/resume", { what: "sending" }, { what: "sending" }],
    [
      "freeze",
      "403 company_frozen",
      ({ id }: Company) => `/companies/${id}/freeze`,
      ({ id }: Company) => `/companies/${id}/unfreeze`,
      { reason: "a drill", pending: "wait" },
      undefined
    ]
  ] as const) {
    it(`${what}: once the ${what} is acknowledged, every process rejects withdrawals under load, even a process that is started later; confirmed withdrawals wait and are sent after the ${what} ends`, async () => {
      const shop = await cluster().company()
      const to = await outside(shop)
      await Customer.fund(shop, 1_000_000)
      let [taken, isStopped] = [0, false]
      const late: Array<Answer> = []
      const callers = Customer.times(12, async () => {
        while (late.length < 60) {
          const isLate = isStopped
          const answer = await Customer.confirm(shop, to, 10)
          if (answer.status === 201) taken++
          if (isLate) late.push(answer)
        }
      })
      await eventually(
        "withdrawals in progress",
        async () => taken,
        (count) => count >= 50
      )
      // From here on no process starts a withdrawal, so that some stay pending however fast the workers are.
      const { waiting: held, open } = cluster().hold("before claim recipient")
      await eventually("all processes held", held, (pids) => new Set(pids).size === 3)
      const before = taken
      await eventually(
        "more withdrawals",
        async () => taken,
        (count) => count > before
      )
      await cluster().operate(stop(shop), body, 200)
      isStopped = true
      await callers
      open()
      assert.deepStrictEqual(tally(late), { [refusal]: late.length })
      await cluster().restart(0)
      const asked = { amount: 10, currency: "sats", destination: to }
      for (const url of cluster().urls()) {
        const answer = await send(`${url}/v1/bitcoin/withdraw/confirm`, "POST", {
          key: shop.key,
          body: asked
        })
        assert.deepStrictEqual(tally([answer]), { [refusal]: 1 })
      }
      const pending = async (): Promise<ReadonlyArray<{ readonly id: string }>> =>
        Customer.transactions(shop, "type=withdrawal&status=pending&limit=1000")
      const waiting = await pending()
      assert.isNotEmpty(waiting, "no withdrawal is waiting")
      await pass(2500) // longer than it takes to pick up pending work
      assert.deepStrictEqual(await pending(), waiting)
      await cluster().operate(goOn(shop), goOnBody, 200)
      await allSettle(shop, taken)
    })
  }

  it("C60: invoice watcher: an invoice is credited once even if the streams and polls of two processes find its settlement concurrently", async () => {
    const shop = await cluster().company()
    const invoice = await Customer.invoice(shop, 1000)
    const { waiting, open } = cluster().hold("before InvoiceSettled")
    await cluster().outside((sandbox) => sandbox.pay({ paymentRequest: invoice.payment_request }))
    const wait = (processes: number) =>
      eventually(
        "all processes that try to credit the invoice",
        waiting,
        // Each process tries twice: after a message on the node's stream, and after polling.
        (pids) => new Set(pids).size === processes && pids.length >= 2 * processes
      )
    const [pid] = await wait(1)
    // Suspend the process that holds the lease, so that it neither renews the lease nor notices its expiry.
    const suspended =
      cluster()
        .alive()
        .find(({ running }) => String(running.pid) === pid) ?? assert.fail(`no process ${pid}`)
    suspended.running.kill("SIGSTOP")
    cluster().overslept()
    await wait(2)
    suspended.running.kill("SIGCONT")
    assert.strictEqual(await Customer.balance(shop), 0)
    open()
    await Customer.hasBalance(shop, 1000)
    await Customer.fund(shop, 1) // by the time this is credited, late attempts have been rejected
    const deposits: ReadonlyArray<{ readonly amount_sats: number }> = await Customer.transactions(shop)
    assert.deepStrictEqual(
      deposits.map(({ amount_sats }) => amount_sats),
      [1, 1000]
    )
  })

  const payFromOutside = (paymentRequest: string): Promise<boolean> =>
    cluster().outside((sandbox) => Effect.isSuccess(sandbox.pay({ paymentRequest })))

  /**
   * Checks that an invoice is paid once if another company and an external payer both try, in the order of
   * `turns`. Returns whether the other company paid it.
   */
  const paidOnce = async (
    [payer, payee]: readonly [payer: Company, payee: Company],
    turns: (
      confirm: () => Promise<Answer>,
      pay: () => Promise<boolean>
    ) => Promise<readonly [Answer, boolean]>
  ): Promise<boolean> => {
    const { id, payment_request: invoice } = await Customer.invoice(payee, 1000)
    const [before, had] = [await Customer.balance(payer), await Customer.balance(payee)]
    const [confirmed, isPaidOutside] = await turns(
      () => Customer.confirm(payer, invoice, 1000),
      () => payFromOutside(invoice)
    )
    const withdrawal = confirmed.status === 201 ? await waitForEnd(payer, confirmed.data.id) : undefined
    const isPaidInside = withdrawal?.status === "settled"
    assert.notStrictEqual(isPaidInside, isPaidOutside, `inside ${isPaidInside}, outside ${isPaidOutside}`)
    await Customer.hasBalance(payee, had + 1000)
    assert.isTrue((await Customer.fetchInvoice(payee, id)).settled)
    assert.strictEqual(await Customer.balance(payer), before - (isPaidInside ? 1000 : 0))
    return isPaidInside
  }

  for (const [point, wins] of [
    ["before InvoiceClaimed", "outside"],
    ["before cancelInvoice", "outside"],
    ["before InternalTransferred", "inside"]
  ] as const) {
    it(`C15: invoice: if an external payment arrives ${point} of an internal payment, only the ${wins === "inside" ? "internal" : "external"} payment counts`, async () => {
      const companies = [await cluster().company(), await cluster().company()] as const
      await Customer.fund(companies[0], 5000)
      const isPaidInside = await paidOnce(companies, async (confirm, pay) => {
        const { waiting, open } = cluster().hold(point)
        const confirmed = await confirm()
        await eventually("a payment that has reached this step", waiting, ({ length }) => length === 1)
        const paid = await pay()
        open()
        return [confirmed, paid]
      })
      assert.strictEqual(isPaidInside, wins === "inside")
    })
  }

  it("C15: invoices: each invoice is paid once, regardless of the timing of internal and external payments", async () => {
    const outcomes = await Customer.times(24, async (at) => {
      const companies = [await cluster().company(), await cluster().company()] as const
      await Customer.fund(companies[0], 5000)
      return paidOnce(companies, (confirm, pay) => Promise.all([confirm(), pass(at * 10).then(pay)]))
    })
    assert.strictEqual(outcomes.length, 24)
  })
})
