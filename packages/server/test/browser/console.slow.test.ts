import { afterAll, assert, describe, it } from "@effect/vitest"
import { quickest } from "@satrail/testing/Waiting"
import { readFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import * as Customer from "../Customer.ts"
import { eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import { loaded, ofCompany, ofOperator } from "./Console.ts"

// The console in a real browser: one browser, and a tab for each thing that is looked at.

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

describe.skipIf(isMissing)("the console in a browser", () => {
  if (started === undefined) return
  const { browser, whole, shop, signedIn, tab, signIn, open } = started

  it("console: a browser that asks for / comes to it, and who asks without one gets JSON", async () => {
    await tab({}, async (page) => {
      await page.goto(whole.url)
      assert.strictEqual(page.url(), `${whole.url}/console`)
      await page.getByRole("button", { name: "Sign in" }).waitFor()
    })
    assert.strictEqual((await whole.ask("GET", "/")).data.name, "satrail")
  })

  it("console: an invoice is made, paid from the sandbox and seen to arrive, and the balance and the events show it", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      const before = await Customer.balance(shop)
      await open(page, "receive", "New invoice")
      await page.getByLabel("Amount").fill("2500")
      await page.getByLabel("Description").fill("Coffee")
      await page.getByRole("button", { name: "Create" }).click()
      await page.getByRole("button", { name: "Pay it from the sandbox" }).click()
      await page.getByText("The payment has arrived").waitFor()
      await page.getByRole("link", { name: "Events" }).click()
      await page.getByText("invoice.settled").first().waitFor()
      await page.getByRole("link", { name: "Overview" }).click()
      const shown = new Intl.NumberFormat("en").format(before + 2500)
      await page.getByTestId("available").getByText(`${shown} sats`).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: what is sent is estimated first, wants the key again, and is a withdrawal with its timeline", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      await open(page, "send", "Send")
      await page.getByRole("button", { name: "Use an invoice of the sandbox" }).click()
      await eventually(
        "an invoice",
        () => page.getByLabel("To").inputValue(),
        (text) => text.startsWith("ln")
      )
      await page.getByRole("button", { name: "What does it cost?" }).click()
      await page.getByRole("button", { name: "Send 1000 sats" }).click()
      const dialog = page.getByRole("dialog")
      const other = await whole.companyWith("free")
      await dialog.getByLabel("The key that you signed in with").fill(other.key)
      await page.keyboard.press("Enter")
      await dialog.getByText("This is not the key").waitFor()
      await dialog.getByLabel("The key that you signed in with").fill(shop.key)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Withdrawal", level: 1 }).waitFor()
      await page.getByRole("main").getByText("withdrawal.lightning.completed").waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  for (const colorScheme of ["light", "dark"] as const)
    it(`console: every page, ${colorScheme}: fits a phone, has no violation of WCAG 2.2 AA or of its own policy`, async () => {
      for (const [storageState, pages] of [
        [signedIn.company, ofCompany],
        [signedIn.operator, ofOperator]
      ] as const)
        await tab({ storageState, colorScheme }, async (page, complaints) => {
          await page.goto(`${whole.url}/console`)
          await page.getByRole("navigation").waitFor()
          for (const name of pages) {
            await page.getByRole("navigation").getByRole("link", { name, exact: true }).click()
            await page.getByRole("heading", { name, level: 1 }).waitFor()
            await loaded(page)
            for (const width of [320, 1440]) assert.isAtMost(await Console.widthAt(page, width), width, `${name} at ${width} px`)
            assert.deepStrictEqual([await Console.violations(page), complaints], [[], []], `${name}, ${colorScheme}`)
          }
        })
    })

  it("console: what was booked is saved as a file", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      await open(page, "transactions", "Transactions")
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export all as CSV" }).click()])
      const text = readFileSync(await download.path(), "utf8")
      assert.match(text, /^company_id,booked_at,type,/)
      assert.include(text, shop.id)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: the keyboard alone signs in, goes to a page and signs out", () =>
    tab({}, async (page) => {
      const other = await whole.companyWith("free")
      await page.goto(`${whole.url}/console`)
      await page.getByLabel("An API key, or an operator's token").waitFor()
      await page.keyboard.press("Tab")
      await page.keyboard.type(other.key)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
      const focused = () => page.evaluate("document.activeElement.textContent")
      assert.strictEqual(await focused(), "Overview")
      for (let i = 0; i < 20 && (await focused()) !== "Transactions"; i++) await page.keyboard.press("Shift+Tab")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Transactions", level: 1 }).waitFor()
      for (let i = 0; i < 20 && (await focused()) !== "Sign out"; i++) await page.keyboard.press("Shift+Tab")
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Sign in" }).waitFor()
      assert.deepStrictEqual(await page.context().cookies(), [])
    }))

  it("console: a key is kept nowhere that a script could read it", () =>
    tab({ storageState: signedIn.company }, async (page) => {
      await open(page, "", "Overview")
      const readable = await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, location.href])"
      )
      assert.notInclude(String(readable), shop.key)
      assert.notInclude(String(readable), "__Host-")
      const [cookie] = await page.context().cookies()
      assert.deepInclude(cookie, { name: "__Host-satrail", httpOnly: true, secure: true, sameSite: "Strict", path: "/" })
    }))

  it("console: ten thousand transactions are scrolled through without a long task", () =>
    tab({ storageState: signedIn.company }, async (page) => {
      const all = 10_000
      const row = (index: number) => ({
        id: `0191f3b1-7c00-7a3b-9c1d-${String(all - index).padStart(12, "0")}`,
        company_id: shop.id,
        amount_sats: index,
        recipient: `lnbcrt${index}`,
        rail_type: "lightning",
        type: index % 2 === 0 ? "deposit" : "withdrawal",
        fee_microsats: 0,
        fee_sats: 0,
        status: "settled",
        created_at: "2026-01-31T12:00:00.000Z"
      })
      await page.route(/\/v1\/transactions\?/, (route) => {
        const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0)
        const data = Array.from({ length: 1000 }, (_, index) => row(from + index))
        const link = from + 1000 < all ? { link: `</v1/transactions?cursor=${from + 1000}>; rel="next"` } : {}
        return route.fulfill({ json: { status: 200, message: "", data }, headers: link })
      })
      await open(page, "transactions", "Transactions")
      await page.getByText("1000 and more").waitFor()
      const end = `(async () => {
        const box = document.querySelector(".virtual")
        for (let i = 0; i < 400 && !document.querySelector("main [role=status]").textContent.startsWith("10000"); i++) {
          box.scrollTop = box.scrollHeight
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)))
        }
        return document.querySelector("main [role=status]").textContent
      })()`
      assert.strictEqual(await page.evaluate(end), "10000")
      assert.isAtMost(await page.locator(".virtual tr").count(), 60)
      // What a task has cost the processor, not how long it had to wait for one.
      const longest = await quickest(50, async () => {
        await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] })
        await page.evaluate(`(async () => {
          const box = document.querySelector(".virtual")
          for (let i = 0; i < 60; i++) {
            box.scrollTop = (box.scrollHeight / 60) * i
            await new Promise((resolve) => requestAnimationFrame(resolve))
          }
        })()`)
        const trace: { readonly traceEvents: ReadonlyArray<{ readonly name: string; readonly tdur?: number }> } = JSON.parse(
          (await browser.stopTracing()).toString()
        )
        const tasks = trace.traceEvents.flatMap(({ name, tdur }) => (name.endsWith("RunTask") && tdur !== undefined ? [tdur / 1000] : []))
        assert.isAbove(tasks.length, 60)
        return Math.max(...tasks)
      })
      assert.isBelow(longest, 50)
    }))

  it("console: another origin's page cannot act by the session, frame the page, or sign anybody in", async () => {
    const before = await Customer.balance(shop)
    const evil = http.createServer((_request, response) => response.setHeader("content-type", "text/html").end("<p>evil</p>"))
    await new Promise<void>((resolve) => {
      evil.listen(0, "127.0.0.1", resolve)
    })
    const { port } = evil.address() as AddressInfo
    const context = await browser.newContext({ storageState: signedIn.company })
    const page = await context.newPage()
    // Of another port, which is the same site: SameSite lets the cookie through, and what is behind it does not. And of another host.
    for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
      await page.goto(origin)
      const outcome = await page.evaluate(`(async () => {
        const url = ${JSON.stringify(whole.url)}
        const tried = async (path, options) => fetch(url + path, { credentials: "include", ...options }).then(async (answer) => answer.type === "opaque" ? "opaque" : String(answer.status), () => "blocked")
        return [
          await tried("/v1/transactions/balance", {}),
          await tried("/v1/transactions/balance", { headers: { "x-satrail-console": "1" } }),
          await tried("/v1/bitcoin/deposit/on-chain", { method: "POST", mode: "no-cors", body: "{}", headers: { "content-type": "text/plain" } }),
          await tried("/console/session", { method: "DELETE", mode: "no-cors" }),
          await tried("/console/session", { method: "POST", mode: "no-cors", body: JSON.stringify({ credential: ${JSON.stringify(shop.key)} }) })
        ]
      })()`)
      assert.deepStrictEqual(outcome, ["blocked", "blocked", "opaque", "blocked", "opaque"])
      await page.evaluate(
        `document.body.insertAdjacentHTML("beforeend", '<iframe id="f" src=${JSON.stringify(`${whole.url}/console`)}></iframe>')`
      )
      const frame = await (await page.waitForSelector("#f")).contentFrame()
      await page.waitForTimeout(300)
      assert.strictEqual(await frame?.locator("#console").count(), 0)
      const posted = page.waitForURL(`${whole.url}/**`)
      await page.evaluate(
        `(() => { const form = document.createElement("form"); form.method = "post"; form.action = ${JSON.stringify(`${whole.url}/v1/bitcoin/deposit/on-chain`)}; document.body.append(form); form.submit() })()`
      )
      await posted
    }
    // The session is as it was.
    await page.goto(`${whole.url}/console`)
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
    const { data } = await shop.get("/v1/bitcoin/deposit/on-chain")
    assert.deepStrictEqual(data, [])
    assert.strictEqual(await Customer.balance(shop), before)
    await context.close()
    evil.close()
  })

  it("console: no address leads out of it", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      for (const path of ["//evil.example", "https://evil.example", "javascript:alert(1)", "..%2f..%2f", "__proto__", "constructor"]) {
        await page.goto("about:blank")
        await page.goto(`${whole.url}/console#/${path}`)
        await page.getByRole("heading", { level: 1 }).waitFor()
        assert.strictEqual(new URL(page.url()).origin, whole.url)
      }
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a key that is revoked signs its person out", () =>
    tab({}, async (page) => {
      const other = await whole.companyWith("free")
      await signIn(page, other.key)
      // A request that is under way when the key is revoked would sign out before the link is clicked.
      await page.getByTestId("available").waitFor()
      await page.getByText("Loading …").first().waitFor({ state: "hidden" })
      const [, , id = ""] = other.key.split("_")
      const { status } = await whole.ask("DELETE", `/operator/api-keys/${id}`, { key: Whole.operatorToken })
      assert.strictEqual(status, 200)
      await page.getByRole("link", { name: "Audit log" }).click()
      await page.getByText("You were signed out").waitFor()
    }))
})
