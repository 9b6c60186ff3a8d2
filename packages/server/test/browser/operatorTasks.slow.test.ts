import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { type Company, eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Overseen from "./Overseen.ts"

// A service operator's tasks. Each takes at most three clicks from the page "Now", which are counted exactly,
// and no id is typed.

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

interface Report {
  readonly node: { readonly own_sats: number | null; readonly unexplained_sats: number }
  readonly differences: ReadonlyArray<unknown>
}

const token = "Your operator token"

describe.skipIf(isMissing)("an operator's tasks in the console", () => {
  if (started === undefined) return
  const { whole, tab, signIn } = started

  const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name })
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })
  const titled = (page: Page, name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name }).waitFor()
  const read = (path: string) =>
    Customer.data(200, whole.ask("GET", `/operator${path}`, { key: Whole.operatorToken }))
  const hours = (shop: Company, many: number) =>
    Customer.data(200, shop.post("/sandbox/clock", { advance_seconds: many * 3600 }))

  const opened = async (name: string): Promise<Company> => {
    const { id } = await Customer.data(201, whole.operate("/companies", { name, plan: "paid" }))
    const { key } = await Customer.data(
      201,
      whole.operate(`/companies/${id}/api-keys`, { name: "till", scopes: ["admin"] })
    )
    return {
      id,
      key,
      get: (route) => whole.ask("GET", route, { key }),
      post: (route, body, headers) =>
        whole.ask("POST", route, { key, body, ...(headers !== undefined && { headers }) })
    }
  }

  /** Counts the clicks of a task that begins at "Now". No task needs scripts. */
  const from = (
    look: (page: Page, click: (one: Locator) => Promise<void>) => Promise<void>,
    operator = Whole.operatorToken
  ) =>
    tab({ javaScriptEnabled: false }, async (page, complaints) => {
      await signIn(page, operator)
      assert.strictEqual(new URL(page.url()).pathname, "/operator/console")
      let clicks = 0
      await look(page, async (one) => {
        clicks++
        await one.first().click()
      })
      assert.deepStrictEqual(complaints, [])
      return clicks
    })

  it("console: a withdrawal in flight for hours is listed on the Now page, and 1 click shows its steps, the node's status and what to do", async () => {
    const shop = await opened("Tidewater Games")
    await Customer.fund(shop, 5_000_000)
    const { destination } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 3_500_000,
      behaviour: "hold"
    })
    const { id } = await Customer.data(201, Customer.confirm(shop, destination, 3_500_000))
    await eventually(
      "a dispatched withdrawal",
      () => read(`/withdrawals/${id}`),
      ({ timeline }) => timeline.length > 1
    )
    await hours(shop, 3)
    const clicks = await from(async (page, click) => {
      await click(link(page, /^A withdrawal has been in flight for 3 h/))
      await titled(page, /^−3,500,000 sats In flight for 3 h/)
      const now = page.getByRole("listitem").filter({ hasText: "Waiting for the node’s final result" })
      assert.strictEqual(await now.getAttribute("aria-current"), "step")
      await page.getByText("Wait. Do not pay it again.").waitFor()
      await page.getByText("The payment is on its way: neither paid nor failed.").waitFor()
      await now.getByText(/^since .* · checked \d+ times? · next check /).waitFor()
      await now.getByText("3 h; usually a few seconds").waitFor()
      await page.setViewportSize({ width: 1440, height: 900 })
      assert.deepStrictEqual(await Console.misfits(page), [])
      assert.strictEqual(await button(page, /cancel/i).count(), 0)
      assert.isTrue(await link(page, "Tidewater Games").first().isVisible())
    })
    assert.strictEqual(clicks, 1)
  })

  it("console: it takes 2 clicks to get from an alarm to its cause, and the alarm's row links to the section of the guide that says what to do", async () => {
    const clicks = await from(async (page, click) => {
      await click(link(page, "Alarms"))
      const row = page.getByRole("row").filter({ hasText: "A withdrawal has been in flight for 3 h" })
      await row.getByText("Active", { exact: true }).waitFor()
      assert.match(
        (await link(page, "Guide: pending withdrawal").first().getAttribute("href")) ?? "",
        /docs\/guides\/incidents#pending-withdrawal$/
      )
      await click(row.getByRole("link", { name: /^A withdrawal has been in flight/ }))
      await titled(page, /^−3,500,000 sats In flight for 3 h/)
    })
    assert.strictEqual(clicks, 2)
  })

  it("console: it takes 3 clicks to get from a pending withdrawal to its company and all of the company's payments", async () => {
    const clicks = await from(async (page, click) => {
      await click(link(page, /^A withdrawal has been in flight/))
      await click(link(page, "Tidewater Games"))
      await titled(page, "Tidewater Games Active")
      await click(link(page, "All payments"))
      await titled(page, "Payments")
      await page.getByRole("row").filter({ hasText: "+5,000,000" }).waitFor()
    })
    assert.strictEqual(clicks, 3)
  })

  it("console: freezing a company takes 3 clicks; the company's overview then shows the reason and offers only to unfreeze the company", async () => {
    const shop = await opened("Harbor Lane")
    const clicks = await from(async (page, click) => {
      await click(link(page, "Companies"))
      await click(link(page, "Freeze… Harbor Lane"))
      await page.getByLabel("Reason").fill("Key stolen, call us")
      await page.getByLabel(token).fill(Whole.operatorToken)
      await click(button(page, "Freeze Harbor Lane"))
      await titled(page, "Harbor Lane Frozen")
      await page.getByText("“Key stolen, call us”").first().waitFor()
      assert.deepStrictEqual(
        [await link(page, "Unfreeze…").count(), await link(page, /^Freeze/).count()],
        [1, 0]
      )
      await link(page, "Now").click()
      await link(page, "Harbor Lane is frozen").waitFor()
    })
    assert.strictEqual(clicks, 3)
    await tab({}, async (page) => {
      await signIn(page, shop.key)
      await page.getByText("Sending is frozen").waitFor()
      await page.getByText("“Key stolen, call us”").waitFor()
    })
  })

  it("console: it takes 2 clicks to pause sending and 2 clicks to resume it, and every page tells every user while sending is paused", async () => {
    const shop = await opened("Oakmere Payroll")
    const words = "Sending is paused for everyone"
    const seen = (key: string, path: string) =>
      tab({}, async (page) => {
        await signIn(page, key)
        await page.goto(`${whole.url}${path}`)
        await page.locator("main h1").waitFor()
        return (await page.locator(".banner").getByText(words).count()) === 1
      })
    const pausing = await from(async (page, click) => {
      await click(link(page, "Pause sending…"))
      await page.getByLabel(token).fill(Whole.operatorToken)
      await click(button(page, "Pause"))
      await page.locator(".banner").getByText(words).waitFor()
    })
    assert.deepStrictEqual(
      [
        await seen(Whole.operatorToken, "/operator/console/companies"),
        await seen(shop.key, "/console"),
        await seen(shop.key, "/console/send")
      ],
      [true, true, true]
    )
    const resuming = await from(async (page, click) => {
      await page.locator(".banner").getByText("by the configured token").waitFor()
      await click(link(page, "Resume sending…"))
      await titled(page, "Resume sending")
      await page.getByLabel(token).fill(Whole.operatorToken)
      await click(button(page, "Resume sending"))
      await titled(page, /Now|need/)
    })
    assert.isFalse(await seen(shop.key, "/console"))
    assert.deepStrictEqual([pausing, resuming], [2, 2])
  })

  it("console: it takes 2 clicks to request that the only payment without an owner goes to the company that issued its invoice, which is already selected, and 2 for another operator to assign it", async () => {
    const shop = await opened("Quillmark Press")
    await Overseen.suspended({ whole, shop })
    const bo = await Customer.data(201, whole.operate("/tokens", { name: "Bo", scopes: ["read", "mend"] }))
    const assigning = (operator: string, status: string, list: string) =>
      from(async (page, click) => {
        await click(link(page, "1 payment has no owner"))
        await titled(page, new RegExp(`^\\+1,000 sats ${status}`))
        assert.strictEqual(await page.getByRole("combobox", { name: "Company" }).inputValue(), shop.id)
        await page.getByLabel(token).fill(operator)
        await click(button(page, "Assign 1,000 sats"))
        await titled(page, "Suspense")
        await page.getByText(list).first().waitFor()
      }, operator)
    const requesting = await assigning(Whole.operatorToken, "Without an owner", "Quillmark Press")
    assert.strictEqual(await Customer.balance(shop), 0)
    const approving = await assigning(bo.token, "Awaits a second operator", "No unmatched money")
    assert.deepStrictEqual([requesting, approving], [2, 2])
    assert.strictEqual(await Customer.balance(shop), 1000)
  })

  it("console: it takes 3 clicks to issue a token, which is shown once and works, and 3 clicks to revoke it", async () => {
    let issued = ""
    const works = async () => (await whole.ask("GET", "/operator/status", { key: issued })).status
    const issuing = await from(async (page, click) => {
      await click(link(page, "Tokens"))
      await click(link(page, "Issue token"))
      await page.getByLabel("Name").fill("nightly export")
      await page.getByLabel(token).fill(Whole.operatorToken)
      await click(button(page, "Issue token"))
      await titled(page, "Token “nightly export” issued")
      issued = (await page.locator("pre.secret").textContent()) ?? ""
    })
    assert.strictEqual(await works(), 200)
    const revoking = await from(async (page, click) => {
      await click(link(page, "Tokens"))
      await click(link(page, "Revoke… nightly export"))
      await page.getByLabel(token).fill(Whole.operatorToken)
      await click(button(page, "Revoke nightly export"))
      await page
        .getByRole("row")
        .filter({ hasText: "nightly export" })
        .getByText("Revoked", { exact: true })
        .waitFor()
    })
    assert.strictEqual(await works(), 401)
    assert.deepStrictEqual([issuing, revoking], [3, 3])
  })

  it("console: a failed withdrawal's page marks the step that failed, says why, and does not claim that the node was never asked", async () => {
    const shop = await opened("Bluegate Arcade")
    await Customer.fund(shop, 50_000)
    const { destination } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 12_000,
      behaviour: "no_route"
    })
    const { id } = await Customer.data(201, Customer.confirm(shop, destination, 12_000))
    await Customer.ends(shop, id, "failed")
    await from(async (page) => {
      await page.goto(`${whole.url}/operator/console/withdrawals/${id}`)
      await titled(page, /^−12,000 sats Failed, returned/)
      assert.deepStrictEqual(await page.locator(".steps li.bad b").allTextContents(), [
        "Failed, money returned"
      ])
      await page.getByText("No route to the payee could carry the payment within the fee limit.").waitFor()
      assert.strictEqual(await page.getByRole("heading", { name: "What the node said" }).count(), 0)
    })
  })

  it("console: while the node does not respond, the page of a withdrawal in flight says to bring the node back, and not that the payee holds the payment", async () => {
    const shop = await opened("Kite Street")
    await Customer.fund(shop, 50_000)
    const { destination } = await Customer.outside(shop, "lightning_invoice", {
      amount_sats: 9000,
      behaviour: "hold"
    })
    const { id } = await Customer.data(201, Customer.confirm(shop, destination, 9000))
    await eventually(
      "a dispatched withdrawal",
      () => read(`/withdrawals/${id}`),
      ({ timeline }) => timeline.length > 1
    )
    await Customer.data(200, shop.post("/sandbox/fault", { what: "node", for_seconds: 3600 }))
    await from(async (page) => {
      await page.goto(`${whole.url}/operator/console/withdrawals/${id}`)
      await page.getByText("Bring the node back. Do not pay it again.").waitFor()
      await page.getByText("The node did not respond.").waitFor()
      assert.strictEqual(await page.getByText("payee’s side").count(), 0)
    })
    await Customer.data(200, whole.ask("DELETE", "/sandbox/fault/node", { key: shop.key }))
  })

  it("console: a difference between node and ledger is listed on the Now page, and 1 click shows both sides, the cause and what to do", async () => {
    const shop = await opened("Lakeside Books")
    // Each step of the clock triggers a reconciliation run. A difference is only reported after it has lasted
    // for some time.
    const reported = (is: (report: Report) => boolean) =>
      eventually(
        "a run",
        () => read("/reconciliation"),
        ({ report }) => report !== null && is(report)
      )
    const { report } = await reported(({ node }) => node.own_sats !== null)
    const body = { node_sats: report.node.own_sats + 200_000 }
    await Customer.data(
      200,
      whole.ask("PATCH", "/operator/reconciliation/own-funds", { key: Whole.operatorToken, body })
    )
    await hours(shop, 1)
    await reported(({ node }) => node.unexplained_sats < 0)
    await hours(shop, 1)
    await reported(({ differences }) => differences.length > 0)
    const clicks = await from(async (page, click) => {
      await page.setViewportSize({ width: 1440, height: 900 })
      assert.deepStrictEqual(await Console.misfits(page), [])
      await click(link(page, /^The Lightning node has [\d,]+ sats less than the ledger$/))
      await titled(page, /^Reconciliation [\d,]+ sats missing$/)
      const sides = page.getByRole("group", { name: "Actual against expected" })
      await sides.getByText("Lightning node", { exact: true }).waitFor()
      await page.setViewportSize({ width: 1440, height: 900 })
      const wide =
        '[...document.querySelectorAll("td")].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)'
      assert.deepStrictEqual(await page.evaluate(wide), [])
      await page.getByText("The node’s funds differ from the ledger and your own funds").waitFor()
      await page.setViewportSize({ width: 390, height: 844 })
      const difference = page
        .getByRole("row")
        .filter({ hasText: "The node’s funds differ" })
        .getByRole("cell")
      const [cause, missing] = [await difference.first().boundingBox(), await difference.last().boundingBox()]
      assert.isAtLeast(missing?.x ?? 0, (cause?.x ?? Infinity) + (cause?.width ?? 0))
      await page.getByText("Find each cause in the guide.").waitFor()
      await link(page, "Guide: causes").waitFor()
    })
    assert.strictEqual(clicks, 1)
  })
})
