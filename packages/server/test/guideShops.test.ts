// Runs the guides' example shops as a reader would, next to the complete service. Each shop ships once, when
// the amount is credited.
import { webhooks } from "@satrail/client"
import { freePort } from "@satrail/testing/freePort"
import { eventually } from "@satrail/testing/Waiting"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import path from "node:path"
import { blocksOf, root } from "../../../test/Blocks.ts"
import * as Whole from "./Whole.ts"

const whole = await Whole.start()
afterAll(() => whole.end())

interface Delivery {
  readonly id: string
  readonly event_type: string
  readonly status: string
  readonly last_attempt_at: string | null
}

/**
 * The page's only program that receives webhooks, listening on another port. Its imports are installed next
 * to this package.
 */
const programOf = (page: string, port: number): string => {
  const [block, ...others] = blocksOf(page, readFileSync(path.join(root, page), "utf8")).filter(({ code }) =>
    /\b[Ww]ebhooks\.verify/.test(code)
  )
  assert.isDefined(block)
  assert.deepStrictEqual(others, [])
  assert.isFunction(webhooks.verify) // the program imports this package
  const code = stripTypeScriptTypes(block?.code ?? "").replace("listen(3000)", `listen(${port}, "127.0.0.1")`)
  assert.include(code, String(port))
  const file = path.join(
    import.meta.dirname,
    `../node_modules/.cache/shops/${path.basename(page, ".md")}.mjs`
  )
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, code)
  return file
}

const get = async <A>(promise: Promise<{ readonly status: number; readonly data: A }>): Promise<A> => {
  const { status, data } = await promise
  assert.isBelow(status, 300)
  return data
}

describe("the shops of the guides", () => {
  for (const page of ["docs/guides/webhooks.md", "docs/guides/checkout.md"])
    it(`guides: the shop in ${page} ships each paid checkout once, however often it is notified, and never ships an underpaid one, and logs why it refuses a delivery`, async () => {
      const company = await whole.companyWith("paid")
      const port = await freePort()
      const endpoint = await get(
        company.post("/v1/webhook-endpoints", {
          url: `http://127.0.0.1:${port}/webhooks`,
          types: ["checkout.*"]
        })
      )
      const shop = spawn(process.execPath, [programOf(page, port)], {
        env: { PATH: process.env["PATH"], WEBHOOK_SECRET: endpoint.secret },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let [said, errors] = ["", ""]
      shop.stdout.setEncoding("utf8").on("data", (text) => (said += text))
      shop.stderr.setEncoding("utf8").on("data", (text) => (errors += text))
      try {
        const play = (route: string, body: object) => get(company.post(`/sandbox/${route}`, body))
        /**
         * Waits for an event of this type, created after the given time, that was delivered and accepted by the
         * shop.
         */
        const delivered = async (type: string, after = "") => {
          const is = (one: Delivery) =>
            one.event_type === type && one.status === "delivered" && (one.last_attempt_at ?? "") > after
          const deliveries = (): Promise<ReadonlyArray<Delivery>> =>
            get(company.get(`/v1/webhook-endpoints/${endpoint.id}/deliveries`))
          return (
            (await eventually(`${type} delivered`, deliveries, (all) => all.some(is))).find(is) ??
            assert.fail(type)
          )
        }
        const listens = () =>
          fetch(`http://127.0.0.1:${port}/`).then(
            () => true,
            () => false
          )
        await eventually("a listening shop", listens, (isThere) => isThere)

        const unsigned = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", body: "{}" })
        assert.strictEqual(unsigned.status, 400)
        const isRefused = (text: string) => /^WebhookRefused: .*webhook-.*\n/m.test(text)
        await eventually("the reason of the refusal in the log", () => Promise.resolve(errors), isRefused)

        const made = await get(
          company.post("/v1/checkouts", { amount: 21_000, currency: "sats", order_id: "1042" })
        )
        await play("send", { address: made.address, amount_sats: 9000 })
        await play("mine", { blocks: 6 })
        await delivered("checkout.underpaid")
        assert.strictEqual(said, "")

        const { payment_request } = await get(company.get(`/v1/checkouts/${made.id}`))
        await play("pay", { payment_request })
        const paid = await delivered("checkout.paid")
        const shipped = "ship order 1042\n"
        const output = () => Promise.resolve(said)
        await eventually("a shipment", output, (text) => text === shipped)

        await get(company.post(`/v1/webhook-deliveries/${paid.id}/resend`, {}))
        await delivered("checkout.paid", paid.last_attempt_at ?? "")
        assert.strictEqual(said, shipped)
        assert.match(errors, /^(?:WebhookRefused: .+\n)+$/)
      } finally {
        shop.kill()
        await once(shop, "exit")
      }
    })
})
