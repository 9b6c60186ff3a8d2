import { assert, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import * as Receiver from "../Receiver.ts"
import { type Company, eventually } from "../Service.ts"
import { suite } from "./Suite.ts"

suite("webhooks sent by two processes", { size: 2 }, (cluster) => {
  interface Made {
    readonly id: string
    readonly payment_request: string
  }
  /** Sends an idempotency key, so that the request can be repeated at another process if this one has stopped. */
  const make = (company: Company): Promise<Made> =>
    Customer.data(
      201,
      company.post(
        "/v1/bitcoin/deposit/lightning-invoice",
        { amount: 1000, currency: "sats" },
        { "Idempotency-Key": randomUUID() }
      )
    )
  const pay = ({ payment_request: paymentRequest }: Made) =>
    cluster().outside((sandbox) => sandbox.pay({ paymentRequest }))
  const paid = async (company: Company) => {
    const invoice = await make(company)
    await pay(invoice)
    return invoice
  }

  /** Checks that every event of these invoices arrived in order, and that duplicates were identical. */
  const complete = async (received: ReadonlyArray<Receiver.Received>, invoices: ReadonlyArray<Made>) => {
    const typesOf = (subject: string) => {
      const first = new Map(
        received.filter((one) => one.subject === subject).map((one) => [one.id, one.type])
      )
      return [...first.values()]
    }
    await eventually(
      "the webhooks of all invoices",
      async () => invoices.filter(({ id }) => !typesOf(id).includes("invoice.settled")),
      (missing) => missing.length === 0
    )
    for (const { id } of invoices) assert.deepStrictEqual(typesOf(id), ["invoice.created", "invoice.settled"])
    const bodies = new Map<string, string>()
    for (const { id, body } of received)
      assert.strictEqual(body, bodies.get(id) ?? (bodies.set(id, body), body))
  }

  it("webhooks: if all processes are killed after a delivery and before it is recorded, the delivery is repeated with the same bytes and id, and nothing is lost", async ({
    onTestFinished
  }) => {
    const company = await cluster().company()
    let isArmed = false
    const { received, wrong, end } = await Receiver.make(company, async ({ type }) => {
      if (!isArmed || type !== "deposit.lightning.completed") return
      isArmed = false
      for (const { running } of cluster().alive()) running.kill("SIGKILL")
    })
    onTestFinished(end)
    const invoices = await Customer.times(4, () => make(company))
    isArmed = true
    for (const invoice of invoices) await pay(invoice)
    await complete(received, invoices)
    await cluster().complete()
    assert.strictEqual(cluster().deaths(), 2)
    assert.isBelow(
      new Set(received.map(({ id }) => id)).size,
      received.length,
      "an event was delivered twice"
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("webhooks: deliveries for one record are sent one at a time and in order, no matter which processes send them or stop", async ({
    onTestFinished
  }) => {
    const company = await cluster().company()
    const busy = new Map<string, number>()
    let mostOfOne = 0
    const { received, wrong, end } = await Receiver.make(company, async ({ subject }) => {
      const atOnce = (busy.get(subject) ?? 0) + 1
      mostOfOne = Math.max(mostOfOne, atOnce)
      busy.set(subject, atOnce)
      await pass(20)
      busy.set(subject, (busy.get(subject) ?? 1) - 1)
    })
    onTestFinished(end)
    const begun = Customer.times(10, () => paid(company))
    await cluster().restart(0)
    const more = Customer.times(5, () => paid(company))
    await cluster().restart(1)
    await complete(received, [...(await begun), ...(await more)])
    assert.strictEqual(mostOfOne, 1)
    assert.deepStrictEqual(wrong, [])
  })

  it("stream: a stopping process ends its streams cleanly before it exits", async () => {
    const { url, running } = cluster().alive()[0] ?? assert.fail("no process is running")
    const { key } = await cluster().company()
    const stream = await fetch(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual(stream.status, 200)
    const read = stream.text().then((said) => ({ said, isOver: running.isOver() }))
    const stopped = cluster().restart(0)
    const { said, isOver } = await read
    assert.match(said, /^retry: 3000\nid: \S+\n\n/)
    assert.isFalse(isOver)
    await stopped
  })
})
