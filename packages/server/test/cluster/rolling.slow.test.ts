import { assert, it } from "@effect/vitest"
import * as Customer from "../Customer.ts"
import { type Company, eventually, send } from "../Service.ts"
import { suite } from "./Suite.ts"
import * as Proxy from "./Proxy.ts"

const callers = 16

suite(
  "three processes are restarted one after the other",
  { more: { SATRAIL_DRAIN_SECONDS: "4" } },
  (cluster) => {
    it("shutdown: a stopping process first reports that it is not ready, and keeps responding for a while", async () => {
      const { running, url } = cluster().alive()[0] ?? assert.fail("no process is running")
      const stopping = cluster().restart(0)
      const { status, text } = await eventually(
        "a process that is not ready",
        () => send(`${url}/readyz`, "GET", {}),
        (answer) => answer.status !== 200
      )
      assert.deepStrictEqual(
        [status, JSON.parse(text).error.issues.map(({ path }: { readonly path: string }) => path)],
        [503, ["running"]]
      )
      assert.strictEqual((await send(`${url}/healthz`, "GET", {})).status, 200)
      assert.isFalse(running.isOver())
      await stopping
    })

    it("rolling restart: under load, no request fails and every withdrawal completes", async ({
      onTestFinished
    }) => {
      const proxy = await Proxy.make(cluster().urls)
      onTestFinished(proxy.end)
      const shops = await Customer.times(callers, async () => {
        const { id, key } = await cluster().company()
        const ask = (method: string, route: string, options: object = {}) =>
          send(proxy.url + route, method, { key, ...options })
        const company: Company = {
          id,
          key,
          get: (route) => ask("GET", route),
          post: (route, body, headers = {}) => ask("POST", route, { body, headers })
        }
        await Customer.fund(company, 100_000)
        return { company, to: (await Customer.outside(company, "lightning_address")).destination }
      })
      const over = new AbortController()
      const withdrawn = shops.map(() => 0)
      const work = shops.map(async ({ company, to }, at) => {
        for (let count = 0; !over.signal.aborted; withdrawn[at] = ++count) {
          await Customer.data(201, Customer.confirm(company, to, 10))
          await Customer.data(
            201,
            company.post("/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })
          )
          assert.isBelow(await Customer.balance(company), 100_000)
        }
      })
      /** Waits until every shop has made progress. */
      const loaded = async () => {
        const before = [...withdrawn]
        await eventually(
          "more withdrawals of each shop",
          async () => withdrawn,
          (now) => now.every((count, at) => count > (before[at] ?? 0))
        )
      }
      const restarts = async () => {
        for (const at of [0, 1, 2]) {
          await loaded()
          await cluster().restart(at)
        }
        await loaded()
        over.abort()
      }
      await Promise.all([...work, restarts()])

      const all = shops.map(({ company }) => company)
      await eventually(
        "the end of all withdrawals",
        async () =>
          (
            await Promise.all(
              all.map((company) =>
                Customer.transactions(company, "type=withdrawal&status=pending&limit=1000")
              )
            )
          ).flat(),
        ({ length }) => length === 0
      )
      const settled = (
        await Promise.all(
          all.map((company) => Customer.transactions(company, "type=withdrawal&status=settled&limit=1000"))
        )
      ).flat()
      assert.strictEqual(
        settled.length,
        withdrawn.reduce((sum, count) => sum + count, 0)
      )
      assert.strictEqual(cluster().deaths(), 0, "no process was killed")
    })
  }
)
