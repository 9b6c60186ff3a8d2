import { afterAll, assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

const press = (page: Page, name: string) => Console.press(page.getByRole("button", { name, exact: true }))
/** Finds a field by the start of its label, because the label also contains hints. */
const fill = (page: Page, label: string, text: string) =>
  page.getByRole("textbox", { name: new RegExp(`^${label}`) }).fill(text)
const choose = (page: Page, label: string, value: string) =>
  page.getByRole("combobox", { name: label }).selectOption(value)

describe.skipIf(isMissing)("the console's forms in a browser", () => {
  if (started === undefined) return
  const { whole, tab, signIn, oversee, visit } = started
  const operate = (method: string, path: string, body?: object) =>
    whole.ask(method, `/operator${path}`, { key: Whole.operatorToken, body })
  /** A new company with a webhook endpoint. */
  const company = async () => {
    const shop = await whole.companyWith("paid")
    const endpoint = await Customer.data(
      201,
      shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/hook" })
    )
    return { ...shop, endpointId: String(endpoint.id) }
  }

  it("console: a user who creates a key must re-enter their own; the new key is shown once, is listed, and can be revoked after a confirmation", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, shop.key)
      await visit(page, "keys/new", "New API key")
      await fill(page, "Name", "till 3")
      await page.getByLabel("Read").check()
      await page.getByLabel("Your API key").fill(shop.key)
      await press(page, "Create key")
      const key = (await page.locator("pre.secret").textContent()) ?? ""
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 200)
      await page.getByRole("link", { name: "Done" }).click()
      const row = page.getByRole("row").filter({ hasText: "till 3" })
      await row.getByText("Read, Receive").or(row.getByText("Receive, Read")).waitFor()
      await row.getByRole("link", { name: "Revoke" }).click()
      await page.getByText("This cannot be undone").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 200)
      await press(page, "Revoke till 3")
      await page.getByRole("row").filter({ hasText: "till 3" }).getByText("Revoked").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 401)
      assert.notInclude(await page.content(), key)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an offer for a Lightning address is shown with a QR code and a DNS record, and can be paid repeatedly from the sandbox", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      const { id, address } = await Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-address", {}))
      const ask = async () => {
        await visit(page, "offers/new", "New offer")
        await choose(page, "For", String(id))
        await fill(page, "What for", "Donations")
        await press(page, "Create offer")
      }
      await signIn(page, shop.key)
      await ask()
      await page.getByRole("img", { name: "QR code of the offer" }).waitFor()
      const { data } = await shop.get("/v1/bitcoin/deposit/offer")
      await page.getByText(data[0].offer, { exact: true }).waitFor()
      await page.getByText(data[0].dns_record, { exact: true }).waitFor()
      for (const balance of [1000, 2000]) {
        await visit(page, `offers/${data[0].id}`, "Donations")
        await press(page, "Pay from the sandbox")
        await Customer.hasBalance(shop, balance)
      }
      await visit(page, "offers?status=address", "Offers")
      await page
        .getByRole("row")
        .filter({ hasText: String(address) })
        .getByRole("link", { name: "Donations" })
        .waitFor()
      await visit(page, "offers?status=company", "Offers")
      await page.getByText("No results").waitFor()
      // The address already has an offer, so the service rejects a second one, and the form keeps what was
      // entered.
      await ask()
      await page.getByText("must be a Lightning address without an offer").waitFor()
      assert.strictEqual(await page.getByLabel("What for").inputValue(), "Donations")
      assert.deepStrictEqual(await Console.violations(page), [])
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an invoice, a Lightning address, a bitcoin address and a voucher can be created, listed, opened and exported without scripts", () =>
    tab({ javaScriptEnabled: false }, async (page, complaints) => {
      const shop = await company()
      await Customer.fund(shop, 50_000)
      await signIn(page, shop.key)
      const opened = (name: string | RegExp) => page.getByRole("heading", { name, level: 1 }).waitFor()
      const exported = async (path: string) => {
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("link", { name: /^Export these/ }).click()
        ])
        assert.strictEqual(download.suggestedFilename(), `${path}.csv`)
        return readFileSync(await download.path(), "utf8")
          .trim()
          .split("\r\n")
      }

      await visit(page, "invoices/new", "New invoice")
      await fill(page, "Amount", "2500")
      await fill(page, "What for", "=Coffee")
      await press(page, "Create invoice")
      await opened(/^=Coffee Open/)
      await visit(page, "invoices?status=open&period=7", "Invoices")
      await page.getByRole("link", { name: "=Coffee" }).waitFor()
      const [heads = "", ...rows] = await exported("invoices")
      assert.match(heads, /^created_at,id,description,status,/)
      assert.match(rows.join("\n"), /^[^,\n]+,[^,\n]+,'=Coffee,open,2500,0,/)
      await page.getByRole("link", { name: "=Coffee" }).click()
      await press(page, "Cancel invoice")
      await opened("=Coffee Canceled")

      await visit(page, "addresses/new", "New Lightning address")
      await fill(page, "Handle", "counter")
      await press(page, "Create address")
      await opened(/^counter@/)
      await visit(page, "addresses", "Addresses")
      await page.getByRole("link", { name: /^counter@/ }).waitFor()
      assert.lengthOf(await exported("addresses"), 2)

      await visit(page, "addresses/on-chain", "On-chain addresses")
      await press(page, "New bitcoin address")
      await opened("Bitcoin address")
      await page.getByRole("img", { name: "QR code of the bitcoin address" }).waitFor()

      await visit(page, "vouchers/new", "New voucher")
      await fill(page, "Amount", "1000")
      await fill(page, "What for", "A coffee on us")
      await page.getByLabel("Your API key").fill(shop.key)
      await press(page, "Create voucher")
      await opened("Voucher of 1,000 sats created")
      assert.match((await page.locator("main code").textContent()) ?? "", /^lnurl1/i)
      await page.getByRole("link", { name: "Done" }).click()
      await opened(/^1,000 sats Open/)
      await press(page, "Cancel voucher")
      await opened("1,000 sats Canceled")
      await visit(page, "vouchers?status=over", "Vouchers")
      assert.lengthOf(await exported("vouchers"), 2)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: the options of a new checkout are in a form section that stays open while an error names one of them, and the checkout's page lists them", () =>
    tab({ javaScriptEnabled: false }, async (page, complaints) => {
      const shop = await company()
      await signIn(page, shop.key)
      await visit(page, "checkouts/new", "New checkout")
      assert.isFalse(await page.getByLabel("Button color").isVisible())
      await fill(page, "Amount", "12.50")
      await page.getByText("More options").click()
      for (const name of ["New quote", "Tip", "Email address"])
        await page.getByRole("checkbox", { name: new RegExp(`^${name}`) }).check()
      await fill(page, "Time to pay, minutes", "90 min")
      await fill(page, "Accepted underpayment", "2")
      await choose(page, "Language of the page", "de")
      await fill(page, "Contact", "help@shop.example")
      await fill(page, "URL after payment", "https://shop.example/thanks")
      await fill(page, "URL if canceled", "https://shop.example/cart")
      await fill(page, "Embedding site", "https://shop.example")
      await fill(page, "Button color", "blue")
      await press(page, "Create checkout")
      await page.getByText("Time to pay, minutes must be a whole number (got 90 min)").waitFor()
      await fill(page, "Time to pay, minutes", "90")
      await press(page, "Create checkout")
      await page
        .getByRole("alert")
        .getByText(/^Color must be/)
        .waitFor()
      await fill(page, "Button color", "#1d4ed8")
      await press(page, "Create checkout")
      await page.getByText("New quote, Tip, Email address").waitFor()
      const [made] = await Customer.data(200, shop.get("/v1/checkouts"))
      assert.deepInclude(made, {
        fiat_amount: "12.5",
        tolerance_percent: 2,
        locale: "de",
        contact: "help@shop.example",
        return_url: "https://shop.example/thanks",
        cancel_url: "https://shop.example/cart",
        embed_origin: "https://shop.example",
        color: "#1d4ed8"
      })
      assert.deepStrictEqual(made.options.toSorted(), ["email", "new_quote", "tip"])
      assert.strictEqual(Date.parse(made.expires_at) - Date.parse(made.created_at), 90 * 60_000)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: claiming a domain at first fails and shows the required TXT record, and succeeds once the record is set", () =>
    tab({}, async (page) => {
      const shop = await company()
      await signIn(page, shop.key)
      await visit(page, "addresses/domains", "Domains")
      await fill(page, "Domain", "shop.example")
      await press(page, "Claim domain")
      await page.getByText("_satrail-verify.shop.example").first().waitFor()
      await Customer.data(
        200,
        shop.post("/sandbox/txt", {
          name: "_satrail-verify.shop.example",
          value: `satrail-verify=${shop.id}`
        })
      )
      await press(page, "Claim domain")
      await page
        .getByRole("row")
        .filter({ hasText: "shop.example" })
        .getByText("Verified", { exact: true })
        .waitFor()
      const { data } = await shop.get("/v1/domains")
      assert.strictEqual(data[0].domain, "shop.example")
    }))

  it("console: events are listed newest first and can be filtered, and an event links to its record", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      for (let n = 0; n < 3; n++) await Customer.fund(shop, 1000 + n)
      await signIn(page, shop.key)
      await visit(page, "events?status=invoice", "Events")
      const types = await page.locator("main tbody a").allTextContents()
      assert.lengthOf(types, 6)
      assert.deepStrictEqual(new Set(types), new Set(["invoice.created", "invoice.settled"]))
      assert.strictEqual(types[0], "invoice.settled")
      const { data } = await shop.get("/v1/events?types=invoice.settled")
      await page.getByRole("link", { name: "invoice.settled" }).first().click()
      await page.getByText(`"id": "${data.at(-1).id}"`).waitFor()
      await page.getByRole("link", { name: "Find its record" }).click()
      await page.getByRole("heading", { name: /^1 result for/, level: 1 }).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a webhook endpoint can be added, edited, disabled, enabled, tested and deleted, and its secret rotated, once the user has re-entered the key", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      const endpoint = async () => (await shop.get(`/v1/webhook-endpoints/${shop.endpointId}`)).data
      await signIn(page, shop.key)
      await visit(page, `webhooks/${shop.endpointId}/settings`, "Settings")
      await fill(page, "Description", "Orders")
      await fill(page, "Event types", "invoice.settled, deposit.*")
      await press(page, "Save endpoint")
      await page.getByText("Nothing has been changed yet.").waitFor()
      assert.strictEqual((await endpoint()).description, "")
      await page.getByLabel("Your API key").fill(shop.key)
      await press(page, "Confirm and continue")
      const changed = await eventually(
        "a changed endpoint",
        endpoint,
        ({ description }) => description === "Orders"
      )
      assert.deepStrictEqual(changed.types, ["invoice.settled", "deposit.*"])
      await page.getByRole("link", { name: "Settings" }).click()
      await press(page, "Rotate secret")
      assert.match((await page.locator("pre.secret").textContent()) ?? "", /^whsec_/)
      await page.getByRole("link", { name: "Done" }).click()
      await page.getByRole("link", { name: "Settings" }).click()
      await press(page, "Disable")
      await eventually("a disabled one", endpoint, ({ status }) => status === "disabled")
      await press(page, "Enable")
      await eventually("an enabled one", endpoint, ({ status }) => status === "enabled")
      await press(page, "Send a test")
      const deliveries = () => shop.get(`/v1/webhook-endpoints/${shop.endpointId}/deliveries`)
      const { data } = await eventually("a delivery", deliveries, ({ data }) => data.length > 0)
      await page.reload()
      await page.getByRole("link", { name: "webhook_endpoint.test" }).waitFor()
      await tab({}, async (other) => {
        await signIn(other, Whole.operatorToken)
        await oversee(other, `companies/${shop.id}`, "Example Ltd Active")
        await other
          .getByRole("group", { name: "Webhook endpoints" })
          .getByText(/^(Enabled|Failing)/)
          .waitFor()
      })
      await page.getByRole("link", { name: "Settings" }).click()
      await fill(page, "Replay events after", String(data[0].event_id))
      await press(page, "Replay")
      await page.getByRole("link", { name: "Settings" }).click()
      await press(page, "Delete endpoint")
      await page.getByText("No endpoints yet").waitFor()
      await tab({}, async (other) => {
        await signIn(other, shop.key)
        await visit(other, "webhooks/new", "Add endpoint")
        await fill(other, "URL", "http://127.0.0.1:9/new")
        await other.getByLabel("Your API key").fill(shop.key)
        await press(other, "Add endpoint")
        assert.match((await other.locator("pre.secret").textContent()) ?? "", /^whsec_/)
      })
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: every page of a frozen company shows that it is frozen, and why", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      const told = page.locator(".banner").getByText("Sending is frozen")
      const looks = async (isFrozen: boolean) => {
        for (const [path, title] of [
          ["limits", "Limits"],
          ["send", "Send"]
        ] as const) {
          await visit(page, path, title)
          assert.strictEqual(await told.count(), isFrozen ? 1 : 0, title)
        }
      }
      await signIn(page, shop.key)
      await looks(false)
      await operate("POST", `/companies/${shop.id}/freeze`, { reason: "a stolen key", pending: "wait" })
      await looks(true)
      await page.getByText("“a stolen key”").waitFor()
      await operate("POST", `/companies/${shop.id}/unfreeze`)
      await looks(false)
      assert.deepStrictEqual(complaints, [])
    }))
})
