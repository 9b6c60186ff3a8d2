import { assert } from "@effect/vitest"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import { type Answer, type Company, eventually } from "../Service.ts"
import type { Cluster } from "./Cluster.ts"

/**
 * A company that sends payments one after the other, each with an idempotency key, and records which payments
 * got a response.
 */
interface Shop {
  readonly company: Company
  readonly to: string
  /** The responses, keyed by the payment's amount, which is different for each payment. */
  readonly answered: Map<number, string>
  readonly lost: Set<number>
}

const send = ({ company, to }: Shop, sats: number): Promise<Answer> =>
  Customer.confirm(company, to, sats, { "Idempotency-Key": `order-${sats}` })

const amounts = async ({ company }: Shop): Promise<ReadonlyArray<number>> =>
  (await Customer.transactions(company, "type=withdrawal&limit=1000")).map(
    (line: { readonly amount_sats: number }) => line.amount_sats
  )

const agrees = async (shop: Shop): Promise<void> => {
  const { company, answered, lost } = shop
  const found = await amounts(shop)
  assert.strictEqual(new Set(found).size, found.length, "each payment is recorded once")
  assert.includeMembers([...found], [...answered.keys()], "every acknowledged request is recorded")
  for (const [sats, text] of answered) assert.strictEqual((await send(shop, sats)).text, text)
  for (const sats of lost) assert.strictEqual((await send(shop, sats)).status, 201)
  assert.sameMembers([...(await amounts(shop))], [...answered.keys(), ...lost])
  await Customer.until(
    company,
    "/v1/transactions?type=withdrawal&status=pending",
    ({ length }) => length === 0
  )
  assert.isEmpty(await Customer.transactions(company, "type=withdrawal&status=failed"))
}

/** Starts `count` shops on processes that are about to lose their database. */
export const make = async (cluster: Cluster, count: number) => {
  const shops = await Customer.times(count, async (): Promise<Shop> => {
    const company = await cluster.company()
    await Customer.fund(company, 1_000_000)
    return {
      company,
      to: (await Customer.outside(company, "lightning_address")).destination,
      answered: new Map(),
      lost: new Set()
    }
  })
  const total = (of: (shop: Shop) => number) => shops.reduce((sum, shop) => sum + of(shop), 0)
  const answeredAt: Array<number> = []
  const over = new AbortController()

  const caller = async (shop: Shop) => {
    for (let sats = 100; !over.signal.aborted; sats++) {
      const { status, text } = await send(shop, sats)
      if (status === 201) {
        shop.answered.set(sats, text)
        answeredAt.push(performance.now())
      } else {
        assert.strictEqual(status, 503, text)
        shop.lost.add(sats)
      }
      await pass(status === 201 ? 5 : 50)
    }
  }

  const callers = {
    count,
    answers: () => total(({ answered }) => answered.size),
    losses: () => total(({ lost }) => lost.size),
    /** The longest time between two consecutive responses since the given time, in seconds. */
    secondsWithout: (sinceMillis: number): number => {
      const times = [sinceMillis, ...answeredAt.filter((atMillis) => atMillis >= sinceMillis)]
      return Math.max(0, ...times.slice(1).map((atMillis, i) => atMillis - (times[i] ?? atMillis))) / 1000
    },
    grows: (what: string, counted: () => number, by: number) => {
      const before = counted()
      return eventually(
        what,
        async () => counted() - before,
        (more) => more >= by
      )
    },
    /** Keeps the shops sending while `story` runs. */
    during: async (story: () => Promise<void>): Promise<void> => {
      const ends = async () => {
        try {
          await story()
        } finally {
          over.abort()
        }
      }
      await Promise.all([...shops.map(caller), ends()])
    },
    /** Waits until each process has found a database, so that any of them can serve requests. */
    served: async (): Promise<void> => {
      for (const { company } of shops) {
        await eventually(
          "databases for all processes",
          () =>
            Promise.all(
              Array.from({ length: 30 }, async () => (await company.get("/v1/transactions/balance")).status)
            ),
          (statuses) => statuses.every((status) => status === 200)
        )
      }
    },
    /** The number of acknowledged payments that are missing. */
    missing: async (): Promise<number> => {
      const found = await Promise.all(shops.map(amounts))
      return total(
        (shop) =>
          [...shop.answered.keys()].filter((sats) => found[shops.indexOf(shop)]?.includes(sats) !== true)
            .length
      )
    },
    /**
     * Checks that each acknowledged payment exists once and that repeating its request returns the same
     * response. Repeats the requests that got no response, and waits until all payments are complete.
     */
    agree: async (): Promise<void> => {
      await Promise.all(shops.map(agrees))
    }
  }
  return callers
}

export type Callers = Awaited<ReturnType<typeof make>>
