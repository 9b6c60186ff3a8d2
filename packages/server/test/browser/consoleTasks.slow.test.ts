import { afterAll, assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { Locator, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"

// A company bookkeeper's tasks. Each begins at the overview and takes at most three clicks, and no id has to be
// copied from a URL. What the keyboard does (type, Enter) is not a click.

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

describe.skipIf(isMissing)("a bookkeeper's tasks in the console", () => {
  if (started === undefined) return
  const { whole, tab, signIn } = started

  interface Task {
    readonly page: Page
    readonly shop: Company
    readonly click: (one: Locator) => Promise<void>
    /** Begins another task, with its own count, at the overview. */
    readonly home: () => Promise<void>
  }
  /** Counts the clicks of each task. The first begins at a new company's overview. */
  const from = (look: (task: Task) => Promise<void>) =>
    tab({}, async (page, complaints) => {
      const shop = await whole.companyWith("paid")
      await Customer.fund(shop, 200_000)
      await signIn(page, shop.key)
      const clicks = [0]
      const click = async (one: Locator) => {
        clicks.push((clicks.pop() ?? 0) + 1)
        await one.first().click()
      }
      const home = async () => {
        clicks.push(0)
        await page.goto(`${whole.url}/console`)
        await titled(page, "Overview")
      }
      await look({ page, shop, click, home })
      assert.deepStrictEqual(complaints, [])
      return clicks
    })
  const titled = (page: Page, name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name }).waitFor()
  const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name })
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })

  /** A paid checkout for an order. */
  const ordered = async (shop: Company, order: string) => {
    const body = {
      amount: 42.5,
      currency: "eur",
      order_id: order,
      description: "Two bags of coffee",
      metadata: { channel: "web" }
    }
    const checkout = await Customer.data(201, shop.post("/v1/checkouts", body))
    await Customer.data(200, shop.post("/sandbox/pay", { payment_request: checkout.payment_request }))
    return Customer.until(shop, `/v1/checkouts/${checkout.id}`, ({ status }) => status === "paid")
  }

  it("console: the newest payment's fiat value, checkout, order and timeline are 1 click away", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      await ordered(shop, "1042")
      await page.reload()
      await click(link(page, "Order 1042"))
      await titled(page, /^\+[\d,]+ sats Paid$/)
      await page.getByText("€42.50 when it was booked").waitFor()
      await page.getByText("Payment received", { exact: true }).waitFor()
      await page.getByText("Checkout paid", { exact: true }).waitFor()
      await page.getByText(/^1 BTC = €[\d,]+\.\d\d, Today/).waitFor()
      assert.isTrue(await link(page, "1042").first().isVisible())
      await page.getByText("channel=web").waitFor()
    })
    assert.deepStrictEqual(clicks, [1])
  })

  it("console: order 1042 is found by typing its number, and 1 click opens it with its postings", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      await ordered(shop, "1042")
      await page.keyboard.press("/")
      await page.keyboard.type("1042")
      await page.keyboard.press("Enter")
      await titled(page, "1 result for “1042”")
      await click(link(page, "Order 1042"))
      await titled(page, /^\+[\d,]+ sats Paid$/)
      const postings = page.getByRole("group", { name: "Postings" })
      await postings.getByText("Lightning node of the service").waitFor()
      await postings.getByText("Your account available").waitFor()
      for (const text of ["two bags", "web"]) {
        await page.getByRole("searchbox").fill(text)
        await page.keyboard.press("Enter")
        await titled(page, `1 result for “${text}”`)
      }
    })
    assert.deepStrictEqual(clicks, [1])
  })

  it("console: a refund takes 3 clicks from the overview and requires re-entering the key", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      await ordered(shop, "1042")
      await page.reload()
      await click(link(page, "Order 1042"))
      await click(link(page, "Refund…"))
      await page.getByLabel("Your API key").fill(shop.key)
      await click(button(page, /^Refund up to/))
      await titled(page, /^Refund of [\d,]+ sats created$/)
      assert.match((await page.locator("main pre").textContent()) ?? "", /^lnurl1/i)
      const refunds = await Customer.data(200, shop.get("/v1/refunds"))
      assert.strictEqual(refunds.length, 1)
    })
    assert.deepStrictEqual(clicks, [3])
  })

  it("console: a checkout takes 2 clicks to create, and 2 clicks to find the next day", async () => {
    const clicks = await from(async ({ page, click, home }) => {
      await click(link(page, "New checkout"))
      await page.getByLabel("Amount").fill("12.50")
      await page.getByLabel("Order").fill("2001")
      await click(button(page, "Create checkout"))
      await titled(page, /^Order 2001 Open/)
      await home()
      await click(link(page, "Checkouts"))
      await click(link(page, "Order 2001"))
      await titled(page, /^Order 2001 Open/)
    })
    assert.deepStrictEqual(clicks, [2, 2])
  })

  it("console: it takes 2 clicks to open a month's statement or export the payments of a day, and 3 to export what was received", async () => {
    const clicks = await from(async ({ page, shop, click, home }) => {
      await click(link(page, "Statements"))
      await titled(page, "Statements and export")
      const statement = link(page, /^Open/).first()
      const response = page.waitForResponse(/\/v1\/statements\/\d{4}-\d{2}\?format=html$/)
      await click(statement)
      assert.strictEqual((await response).status(), 200)
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      const { id } = await Customer.data(201, Customer.confirm(shop, destination, 1000))
      await Customer.ends(shop, id, "settled")
      /** The types of the exported payments. */
      const exported = async (count: number) => {
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          click(link(page, `Export these ${count}`))
        ])
        assert.strictEqual(download.suggestedFilename(), "payments.csv")
        const [, ...rows] = readFileSync(await download.path(), "utf8")
          .trim()
          .split("\r\n")
        return rows.map((row) => row.split(",")[1])
      }
      await home()
      // The newest day of the chart.
      await click(page.locator(".days.bars a:last-child"))
      assert.deepStrictEqual(await exported(2), ["withdrawal", "deposit"])
      await home()
      await click(link(page, "Payments"))
      await click(
        page.getByRole("navigation", { name: "Direction" }).getByRole("link", { name: "In", exact: true })
      )
      assert.deepStrictEqual(await exported(1), ["deposit"])
    })
    assert.deepStrictEqual(clicks, [2, 2, 3])
  })

  it("console: it takes 3 clicks to create a key that can only receive", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      await click(link(page, "API keys"))
      await click(link(page, "New key"))
      await page.getByLabel("Name").fill("till 3")
      await page.getByLabel("Your API key").fill(shop.key)
      await click(button(page, "Create key"))
      const key = (await page.locator("pre.secret").textContent()) ?? ""
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 403)
      assert.strictEqual(
        (await whole.ask("POST", "/v1/bitcoin/deposit/on-chain", { key, body: {} })).status,
        201
      )
    })
    assert.deepStrictEqual(clicks, [3])
  })

  it("console: a checkout that is paid on-chain is listed as confirming until it has enough confirmations", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      const body = { amount: 21_000, currency: "sats", order_id: "1043" }
      const { id, address } = await Customer.data(201, shop.post("/v1/checkouts", body))
      await Customer.data(201, shop.post("/sandbox/send", { address, amount_sats: 21_000 }))
      await Customer.until(shop, `/v1/checkouts/${id}`, ({ pending_sats }) => pending_sats === 21_000)
      await click(link(page, "Checkouts"))
      await page
        .getByRole("row")
        .filter({ hasText: "1043" })
        .getByText("Confirming", { exact: true })
        .waitFor()
    })
    assert.deepStrictEqual(clicks, [1])
  })

  it("console: an endpoint that was disabled is shown on the overview, and its page says why", async () => {
    const gone = createServer((_, response) => response.writeHead(410).end("moved to another system"))
    const port = await boundPort(gone.listen(0, "127.0.0.1"))
    const clicks = await from(async ({ page, shop, click }) => {
      const made = await Customer.data(
        201,
        shop.post("/v1/webhook-endpoints", { url: `http://127.0.0.1:${port}/orders` })
      )
      await Customer.fund(shop, 1000)
      await Customer.until(shop, `/v1/webhook-endpoints/${made.id}`, ({ status }) => status === "disabled")
      await page.reload()
      await page.getByText(/^Webhook disabled/).waitFor()
      await page.getByText(/will be sent once you enable it/).waitFor()
      await click(link(page, /^See why/))
      await page.getByText(/^Disabled: it returned 410: 410 in/).waitFor()
      await page.getByText("moved to another system").waitFor()
    })
    gone.close()
    assert.deepStrictEqual(clicks, [1])
  })

  it("console: a failed webhook is shown on the overview; its error is 1 click away, and another click and the key send it now", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      const made = await Customer.data(
        201,
        shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders" })
      )
      await Customer.fund(shop, 1000)
      await Customer.until(
        shop,
        `/v1/webhook-endpoints/${made.id}`,
        ({ failing_since }) => failing_since !== null
      )
      await page.reload()
      await page.getByText(/^Webhook failing since/).waitFor()
      await click(link(page, /^See why/))
      await page
        .getByRole("alert")
        .getByText(/No deliveries since .*: ./)
        .waitFor()
      await page.getByText("Why there was no response").waitFor()
      await page.getByText("connection refused").first().waitFor()
      await page.getByText("Event sent").waitFor()
      const attempts = async () => {
        const rows = await Customer.data(200, shop.get(`/v1/webhook-endpoints/${made.id}/deliveries`))
        return JSON.stringify(
          rows.map(({ last_attempt_at }: { readonly last_attempt_at: string }) => last_attempt_at)
        )
      }
      const before = await attempts()
      await click(button(page, "Send now").first())
      await page.getByLabel("Your API key").fill(shop.key)
      await click(button(page, "Confirm and continue"))
      await eventually("another attempt", attempts, (after) => after !== before)
      const kept = await eventually(
        "an earlier attempt is kept",
        async (): Promise<string | undefined> => {
          const rows = await Customer.data(200, shop.get(`/v1/webhook-endpoints/${made.id}/deliveries`))
          return rows.find(
            (row: { readonly earlier_attempts: ReadonlyArray<unknown> }) => row.earlier_attempts.length > 0
          )?.id
        },
        (found) => found !== undefined
      )
      await page.goto(`${whole.url}/console/webhooks/${made.id}?delivery=${kept}`)
      await page.getByRole("table", { name: "Earlier attempts, newest first" }).first().waitFor()
      assert.deepStrictEqual(await Console.violations(page), [])
      await Customer.fund(shop, 1000)
      await eventually("a second event waits", attempts, (after) => JSON.parse(after).length > 1)
      await page.reload()
      const all = await attempts()
      await button(page, "Resend all").first().click()
      await eventually("each is sent again", attempts, (after) => {
        const earlier: ReadonlyArray<string> = JSON.parse(all)
        return JSON.parse(after).every((at: string | null) => at === null || !earlier.includes(at))
      })
      await Customer.data(200, shop.post(`/v1/webhook-endpoints/${made.id}/disable`, {}))
      await page.reload()
      await page.getByText("Once enabled").first().waitFor()
    })
    assert.deepStrictEqual(clicks, [3])
  })

  it("console: the audit log is 1 click away and shows who made each change, with the values before and after; another click opens a payment", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      const made = await Customer.data(
        201,
        shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/orders", description: "Orders" })
      )
      await Customer.data(
        200,
        whole.ask("PATCH", `/v1/webhook-endpoints/${made.id}`, {
          key: shop.key,
          body: { url: "http://127.0.0.1:9/paid-orders" }
        })
      )
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      await Customer.data(201, Customer.confirm(shop, destination, 1000))
      const isThere = (entries: ReadonlyArray<{ readonly verb: string }>) =>
        ["webhooks.updateWebhookEndpoint", "send.confirm"].every((wanted) =>
          entries.some(({ verb }) => verb === wanted)
        )
      await eventually("the entry", () => Customer.data(200, shop.get("/v1/audit")), isThere)
      await click(link(page, "Audit log"))
      const row = page.getByRole("row").filter({ hasText: "→ http://127.0.0.1:9/paid-orders" })
      await row.getByText("http://127.0.0.1:9/orders", { exact: true }).waitFor()
      await row.getByText(/^Key “/).waitFor()
      const created = page.getByRole("row").filter({ hasText: "Created webhook endpoint" })
      await created.getByText("url: http://127.0.0.1:9/orders").waitFor()
      assert.notMatch((await created.textContent()) ?? "", /secret|\[|\{/)
      await click(link(page, "−1,000 sats"))
      await titled(page, /^−1,000 sats/)
    })
    assert.deepStrictEqual(clicks, [2])
  })

  it("console: it takes 2 clicks to approve a payment, whose page names who requested it; the page of who requested it says that another must approve it", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      const operate = (path: string, body: object) => whole.operate(`/companies/${shop.id}/${path}`, body)
      await whole.ask("PUT", `/operator/companies/${shop.id}/limits`, {
        key: Whole.operatorToken,
        body: { approval_above_sats: 500 }
      })
      const asks = await Customer.data(
        201,
        operate("api-keys", { name: "Payroll", scopes: ["send", "read", "approve"] })
      )
      const bob = await Customer.data(201, whole.operate("/tokens", { name: "Bob", scopes: ["all"] }))
      await Customer.data(200, whole.ask("POST", `/operator/api-keys/${asks.id}/approve`, { key: bob.token }))
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      const { id } = await Customer.data(
        201,
        whole.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: asks.key, body: { destination } })
      )
      await tab({}, async (theirs) => {
        await signIn(theirs, asks.key)
        await theirs.goto(`${whole.url}/console/payments/out/${id}`)
        await theirs.getByText("You requested it, so another person or key must approve it.").waitFor()
        assert.strictEqual(await button(theirs, /^Approve/).count(), 0)
      })
      await page.reload()
      await click(link(page, /^Review/))
      await page.getByText("Payroll", { exact: true }).waitFor()
      await page.getByLabel("Your API key").fill(shop.key)
      await click(button(page, "Approve 1,000 sats"))
      await page.getByText("Approved by").waitFor()
    })
    assert.deepStrictEqual(clicks, [2])
  })

  it("console: the overview shows what remains of each limit without a click", async () => {
    const clicks = await from(async ({ page, shop }) => {
      const key = Whole.operatorToken
      await whole.ask("PUT", `/operator/companies/${shop.id}/limits`, { key, body: { day_sats: 500_000 } })
      await page.reload()
      await page.getByText("Sending, 24 hours").waitFor()
      await page.getByText("0% of 500,000 used").waitFor()
    })
    assert.deepStrictEqual(clicks, [0])
  })

  it("console: it takes 3 clicks to pay a supplier's invoice and save the proof of payment, which shows the preimage", async () => {
    const clicks = await from(async ({ page, shop, click }) => {
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      await click(link(page, "Send"))
      await page.getByLabel("To").fill(destination)
      await page.keyboard.press("Enter")
      await page.getByLabel("Your API key").fill(shop.key)
      await click(button(page, "Send 1,000 sats"))
      await titled(page, /^−1,000 sats/)
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        click(link(page, "Proof of payment"))
      ])
      assert.match(readFileSync(await download.path(), "utf8"), /\nPreimage: [0-9a-f]{64}\n/)
    })
    assert.deepStrictEqual(clicks, [3])
  })
})
