import { afterAll, assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { readFileSync } from "node:fs"
import http from "node:http"
import type { Locator, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import { ofCompany } from "./Console.ts"

// The console in a real browser, with one tab per check.

/** Pages without scripts reveal the focus only through the accessibility tree. */
const isFocused = async (one: Locator): Promise<boolean> =>
  (await one.and(one.page().locator(":focus")).count()) > 0

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

describe.skipIf(isMissing)("the console in a browser", () => {
  if (started === undefined) return
  const { browser, whole, shop, signedIn, tab, visit } = started

  it("console: an invoice is created, paid from the sandbox and shown as paid, and the balance and the events show it", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      const before = await Customer.balance(shop)
      await visit(page, "invoices/new", "New invoice")
      await page.getByLabel("Amount").fill("2500")
      await page.getByLabel("What for").fill("Coffee")
      await page.getByRole("button", { name: "Create invoice" }).click()
      await page.getByRole("img", { name: "QR code of the invoice" }).waitFor()
      await page.getByRole("button", { name: "Pay from the sandbox" }).click()
      await page.getByRole("heading", { name: "Coffee Paid", level: 1 }).waitFor()
      await page.getByRole("link", { name: "Events" }).click()
      await page.getByText("invoice.settled").first().waitFor()
      await page.getByRole("link", { name: "Overview" }).click()
      const shown = new Intl.NumberFormat("en").format(before + 2500)
      await page.getByTestId("available").getByText(`${shown} sats`).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a payment is estimated, confirmed by re-entering the key, sent once, and shown with its timeline", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      const { destination } = await Customer.outside(shop, "lightning_invoice", { amount_sats: 1000 })
      await visit(page, "send", "Send")
      await page.getByLabel("To").fill("settle@example.com")
      await page.getByLabel("Amount").fill("1000")
      await page.getByRole("button", { name: "Show the fee…" }).click()
      // A new operator has no wallet to pay yet.
      await page
        .getByText(
          "there is no such address at example.com on the sandbox's web. Addresses that work include settle@wallet.example"
        )
        .waitFor()
      await page.getByText("For a test, settle@wallet.example").waitFor()
      await page.getByLabel("Amount").fill("")
      await page.getByLabel("To").fill(destination)
      await page.getByLabel("Your reference").fill("INV-77")
      await page.getByRole("button", { name: "Show the fee…" }).click()
      await page.getByRole("heading", { name: "Check and send", level: 1 }).waitFor()
      const other = await whole.companyWith("free")
      await page.getByLabel("Your API key").fill(other.key)
      await page.getByRole("button", { name: "Send 1,000 sats" }).click()
      await page.getByText("This is not the key you signed in with").first().waitFor()
      await page.getByRole("button", { name: "Show the fee…" }).click()
      await page.getByLabel("Your API key").fill(shop.key)
      await page.getByRole("button", { name: "Send 1,000 sats" }).click()
      await page.getByRole("heading", { name: "−1,000 sats", level: 1 }).waitFor()
      await page.getByText("Payment completed").waitFor()
      await page.getByText("reference=INV-77").waitFor()
      assert.deepStrictEqual(
        complaints.filter((text) => !text.includes("401")),
        []
      )
    }))

  for (const colorScheme of ["light", "dark"] as const)
    it(`console: in the ${colorScheme} color scheme, every page fits a phone and violates neither WCAG 2.2 AA nor its content security policy`, async () => {
      const fits = async (page: Page, name: string, complaints: ReadonlyArray<string>) => {
        for (const width of [320, 1440])
          assert.isAtMost(await Console.widthAt(page, width), width, `${name} at ${width} px`)
        assert.deepStrictEqual(
          [await Console.violations(page), complaints],
          [[], []],
          `${name}, ${colorScheme}`
        )
      }
      await tab({ storageState: signedIn.company, colorScheme }, async (page, complaints) => {
        for (const [path, title] of ofCompany) {
          await visit(page, path, title)
          await fits(page, title, complaints)
        }
      })
    })

  it("console: an export contains exactly the payments that the filter selects", () =>
    tab({ storageState: signedIn.company }, async (page, complaints) => {
      await visit(page, "payments?type=deposit", "Payments")
      const link = page.getByRole("link", { name: /^Export these/ })
      const count = Number(/\d+/.exec((await link.textContent()) ?? "")?.[0])
      const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
      const [heads = "", ...rows] = readFileSync(await download.path(), "utf8")
        .trim()
        .split("\r\n")
      assert.match(heads, /^created_at,type,id,/)
      assert.lengthOf(rows, count)
      assert.isTrue(rows.every((row) => row.includes(",deposit,")))
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: without scripts and with only the keyboard, a user can sign in, open a page, choose a theme and sign out", () =>
    tab({ javaScriptEnabled: false }, async (page) => {
      const other = await whole.companyWith("free")
      await page.goto(`${whole.url}/console`)
      const tabTo = async (role: "link" | "button" | "textbox", name: string) => {
        const wanted = page.getByRole(role, { name, exact: true }).first()
        for (let i = 0; i < 60 && !(await isFocused(wanted)); i++) await page.keyboard.press("Tab")
        assert.isTrue(await isFocused(wanted), name)
      }
      await tabTo("textbox", "API key or operator token")
      await page.keyboard.type(other.key)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
      await tabTo("link", "Payments")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor()
      await tabTo("button", "Dark")
      await page.keyboard.press("Enter")
      await page.locator("html[data-theme=dark]").waitFor()
      await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor()
      await tabTo("button", "Sign out")
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Sign in", exact: true }).waitFor()
      const names = (await page.context().cookies()).map(({ name }) => name)
      assert.deepStrictEqual(names, ["satrail_theme"])
    }))

  it("console: in a high-contrast theme, the current page, period and theme differ from the others, and statuses keep their marks", () =>
    tab({ forcedColors: "active", storageState: signedIn.company }, async (page) => {
      await visit(page, "", "Overview")
      const marked = [".side li a[aria-current]", ".segments a[aria-current]", ".theme [aria-pressed=true]"]
      const kept = await page.evaluate<ReadonlyArray<string>>(
        `[...${JSON.stringify(marked)}.map((one) => getComputedStyle(document.querySelector(one))), getComputedStyle(document.querySelector(".st.good"), "::before")].map(({ forcedColorAdjust }) => forcedColorAdjust)`
      )
      assert.deepStrictEqual(kept, ["none", "none", "none", "none"])
    }))

  it("console: the key is never stored where a script can read it", () =>
    tab({ storageState: signedIn.company }, async (page) => {
      await visit(page, "", "Overview")
      const readable = await page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, location.href])"
      )
      assert.notInclude(String(readable), shop.key)
      assert.notInclude(String(readable), "__Host-")
      const cookie = (await page.context().cookies()).find(({ name }) => name === "__Host-satrail")
      assert.deepInclude(cookie, {
        name: "__Host-satrail",
        httpOnly: true,
        secure: true,
        sameSite: "Lax",
        path: "/"
      })
    }))

  it("console: a page from another origin cannot use the session, frame the console, or sign anyone in", async () => {
    const before = await Customer.balance(shop)
    const evil = http.createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<p>evil</p>")
    )
    const port = await boundPort(evil.listen(0, "127.0.0.1"))
    const context = await browser.newContext({ storageState: signedIn.company })
    const page = await context.newPage()
    // The first origin differs only in its port, so it counts as the same site. SameSite lets the cookie
    // through, but later checks reject the request. The second differs in its host.
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
          await tried("/console/send", { method: "POST", mode: "no-cors", body: "destination=x&max_fee_sats=1", headers: { "content-type": "application/x-www-form-urlencoded" } }),
          await tried("/console/sign-out", { method: "POST", mode: "no-cors", body: "" }),
          await tried("/console/session", { method: "POST", mode: "no-cors", body: JSON.stringify({ credential: ${JSON.stringify(shop.key)} }) })
        ]
      })()`)
      assert.deepStrictEqual(outcome, [
        "blocked",
        "blocked",
        "opaque",
        "blocked",
        "opaque",
        "opaque",
        "opaque"
      ])
      await page.evaluate(
        `document.body.insertAdjacentHTML("beforeend", '<iframe id="f" src=${JSON.stringify(`${whole.url}/console`)}></iframe>')`
      )
      const frame = await (await page.waitForSelector("#f")).contentFrame()
      await page.waitForTimeout(300)
      assert.strictEqual(await frame?.locator("main").count(), 0)
      const posted = page.waitForURL(`${whole.url}/**`)
      await page.evaluate(
        `(() => { const form = document.createElement("form"); form.method = "post"; form.action = ${JSON.stringify(`${whole.url}/v1/bitcoin/deposit/on-chain`)}; document.body.append(form); form.submit() })()`
      )
      await posted
    }
    // The session is unchanged.
    await page.goto(`${whole.url}/console`)
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
    const { data } = await shop.get("/v1/bitcoin/deposit/on-chain")
    assert.deepStrictEqual(data, [])
    assert.strictEqual(await Customer.balance(shop), before)
    await context.close()
    evil.close()
  })

  it("console: a link on another site leads to the page while the person is signed in, and can do nothing else", async () => {
    const mail = http.createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end(`<a href="${whole.url}/console/payments">Read</a>
<a href="${whole.url}/v1/transactions/balance">Balance</a>
<form method="post" action="${whole.url}/console/sign-out"><button>Sign out</button></form>`)
    )
    const port = await boundPort(mail.listen(0, "127.0.0.1"))
    const context = await browser.newContext({ storageState: signedIn.company })
    const page = await context.newPage()
    const open = () => page.goto(`http://localhost:${port}`)
    await open()
    await page.getByRole("link", { name: "Read" }).click()
    await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor()
    await open()
    await page.getByRole("link", { name: "Balance" }).click()
    await page.getByText("A session is valid only for requests from the console page").waitFor()
    await open()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("This form was sent from a page of another origin.").waitFor()
    await page.goto(`${whole.url}/console`)
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
    assert.strictEqual(page.url(), `${whole.url}/console`)
    await context.close()
    mail.close()
  })

  it("console: no path redirects to another origin", () =>
    tab({ storageState: signedIn.operator }, async (page, complaints) => {
      for (const path of [
        "//evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "..%2f..%2f",
        "__proto__",
        "constructor"
      ]) {
        for (const root of ["console", "operator/console"]) {
          await page.goto(`${whole.url}/${root}/${path}`)
          assert.strictEqual(new URL(page.url()).origin, whole.url, path)
        }
        const form = { theme: "dark", back: path }
        const answer = await page.request.post(`${whole.url}/console/theme`, {
          form,
          headers: { "sec-fetch-site": "same-origin" },
          maxRedirects: 0
        })
        assert.deepStrictEqual([answer.status(), answer.headers()["location"]], [303, "../console"], path)
      }
      assert.deepStrictEqual(complaints, [])
    }))
})
