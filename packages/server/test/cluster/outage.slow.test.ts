import { assert, it } from "@effect/vitest"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import { type Answer, eventually } from "../Service.ts"
import { suite } from "./Suite.ts"

const callers = 24

suite("PostgreSQL is killed under load", {}, (cluster) => {
  it("outage: every answered request is recorded, every unanswered one once or not at all", async () => {
    const shops = await Customer.times(callers, async () => {
      const company = await cluster().company()
      await Customer.fund(company, 1_000_000)
      return {
        company,
        to: (await Customer.outside(company, "lightning_address")).destination,
        answered: new Map<number, string>(),
        lost: new Set<number>()
      }
    })
    type Shop = (typeof shops)[number]
    /** Every request of a shop is known by its amount. */
    const send = ({ company, to }: Shop, sats: number): Promise<Answer> =>
      Customer.confirm(company, to, sats, { "Idempotency-Key": `order-${sats}` })
    const total = (of: (shop: Shop) => number) => shops.reduce((sum, shop) => sum + of(shop), 0)
    const answers = () => total(({ answered }) => answered.size)
    const losses = () => total(({ lost }) => lost.size)

    const over = new AbortController()
    const caller = async (shop: Shop) => {
      for (let sats = 100; !over.signal.aborted; sats++) {
        const { status, text } = await send(shop, sats)
        if (status === 201) shop.answered.set(sats, text)
        else {
          assert.strictEqual(status, 503, text)
          shop.lost.add(sats)
        }
        await pass(status === 201 ? 5 : 50)
      }
    }
    const grows = (what: string, count: () => number, by: number) => {
      const before = count()
      return eventually(
        what,
        async () => count() - before,
        (more) => more >= by
      )
    }
    const crashes = async () => {
      for (let times = 1; times <= 2; times++) {
        await grows("answers", answers, 100)
        await cluster().postgres.stop("immediate")
        await grows("requests without an answer", losses, callers)
        await cluster().postgres.restart()
      }
      await grows("answers again", answers, 100)
      over.abort()
    }
    await Promise.all([...shops.map(caller), crashes()])
    // Whatever was claimed by somebody who did not hear of it.
    cluster().overslept()

    // Each process finds its database again by itself, and requests go to any of them.
    for (const { company } of shops) {
      await eventually(
        "databases for all processes",
        () => Promise.all(Array.from({ length: 30 }, async () => (await company.get("/v1/transactions/balance")).status)),
        (statuses) => statuses.every((status) => status === 200)
      )
    }
    for (const shop of shops) {
      const { company, answered, lost } = shop
      const amounts = async (): Promise<ReadonlyArray<number>> =>
        (await Customer.transactions(company, "type=withdrawal&limit=1000")).map(
          (line: { readonly amount_sats: number }) => line.amount_sats
        )
      const found = await amounts()
      assert.strictEqual(new Set(found).size, found.length, "each is there once")
      assert.includeMembers([...found], [...answered.keys()], "what was answered is there")
      // Asked again, the answer is what it was; what had none has one now.
      for (const [sats, text] of answered) assert.strictEqual((await send(shop, sats)).text, text)
      for (const sats of lost) assert.strictEqual((await send(shop, sats)).status, 201)
      assert.sameMembers([...(await amounts())], [...answered.keys(), ...lost])
    }
    for (const { company } of shops) {
      await eventually(
        "the end of all",
        () => Customer.transactions(company, "type=withdrawal&status=pending"),
        ({ length }) => length === 0
      )
      assert.isEmpty(await Customer.transactions(company, "type=withdrawal&status=failed"))
    }
  })
})
