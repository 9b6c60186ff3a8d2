import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { eventually } from "../Service.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()
/** A field by what its label begins with: hints are after it. */
const fill = (page: Page, label: string, text: string) => page.getByRole("textbox", { name: new RegExp(`^${label}`) }).fill(text)
const choose = (page: Page, label: string, value: string) => page.getByRole("combobox", { name: label }).selectOption(value)

describe.skipIf(isMissing)("the console's forms in a browser", () => {
  if (started === undefined) return
  const { whole, signedIn, tab, signIn, open, stepUp } = started
  const operate = (method: string, path: string, body?: object) => whole.ask(method, `/operator${path}`, { key: Whole.operatorToken, body })
  /** A company of its own, and an endpoint of its. */
  const company = async () => {
    const shop = await whole.companyWith("paid")
    const [, , keyId = ""] = shop.key.split("_")
    const endpoint = await Customer.data(201, shop.post("/v1/webhook-endpoints", { url: "http://127.0.0.1:9/hook" }))
    return { ...shop, keyId, endpointId: String(endpoint.id) }
  }

  it("console: a key is made with the key shown again, told once, listed, and revoked by a second press", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, shop.key)
      await page.getByRole("link", { name: "API keys", exact: true }).click()
      await fill(page, "Name", "till 3")
      await page.getByLabel("read", { exact: true }).check()
      await press(page, "Create the key")
      await stepUp(page, shop.key)
      const key = (await page.locator("section.card code").textContent()) ?? ""
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 200)
      const row = page.getByRole("row").filter({ hasText: "till 3" })
      await row.getByText("receive").waitFor()
      await row.getByRole("button", { name: "Revoke" }).click()
      await row.getByText("Revoke till 3? Press again.").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 200)
      await row.getByRole("button", { name: "Revoke" }).click()
      await row.getByText("revoked").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key })).status, 401)
      await page.getByRole("link", { name: "till 3" }).click()
      await page.getByRole("heading", { name: "API key", exact: true, level: 1 }).waitFor()
      await page.getByText("read, receive").waitFor()
      assert.notInclude(await page.content(), key)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an offer is made for a Lightning address, with its QR code and its record, and paid from the sandbox again and again", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      const { id, address } = await Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-address", {}))
      await signIn(page, shop.key)
      await open(page, "receive", "New invoice")
      await choose(page, "What", "offer")
      await choose(page, "For", String(id))
      await fill(page, "Description", "Donations")
      await press(page, "Create")
      await page.getByRole("img", { name: "The offer as a QR code" }).waitFor()
      const { data } = await shop.get("/v1/bitcoin/deposit/offer")
      await page.getByText(data[0].offer, { exact: true }).waitFor()
      await page.getByText(data[0].dns_record, { exact: true }).waitFor()
      for (const balance of [1000, 2000]) {
        await press(page, "Pay it from the sandbox")
        await eventually(
          "the payment",
          () => Customer.balance(shop),
          (now) => now === balance
        )
      }
      await open(page, "receive", "New invoice")
      await page
        .getByRole("row")
        .filter({ hasText: String(address) })
        .getByRole("link", { name: "Donations" })
        .waitFor()
      // An address has one: the service says so.
      await choose(page, "What", "offer")
      await choose(page, "For", String(id))
      await press(page, "Create")
      await page.getByText("The address has an offer already").waitFor()
      assert.deepStrictEqual(await Console.violations(page), [])
      assert.deepStrictEqual(complaints, ["Failed to load resource: the server responded with a status of 400 (Bad Request)"])
    }))

  it("console: a key is made by the keyboard alone", () =>
    tab({}, async (page) => {
      const shop = await company()
      await signIn(page, shop.key)
      await open(page, "keys", "API keys")
      const label = () =>
        page.evaluate("document.activeElement.closest('label')?.textContent.split('Where')[0] ?? document.activeElement.textContent")
      const tabTo = async (text: string) => {
        for (let i = 0; i < 40 && (await label()) !== text; i++) await page.keyboard.press("Tab")
        assert.strictEqual(await label(), text)
      }
      await page.getByRole("button", { name: "Create the key" }).waitFor()
      await tabTo("Name")
      await page.keyboard.type("kiosk")
      await tabTo("read")
      await page.keyboard.press("Space")
      await tabTo("Create the key")
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").waitFor()
      await page.keyboard.type(shop.key)
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "kiosk" }).waitFor()
    }))

  it("console: an endpoint is changed, its secret rotated, disabled, enabled, tested and deleted", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      const endpoint = async () => (await shop.get(`/v1/webhook-endpoints/${shop.endpointId}`)).data
      await signIn(page, shop.key)
      await open(page, `webhook/${shop.endpointId}`, "Webhook endpoint")
      await fill(page, "Description", "Orders")
      await fill(page, "Types of events", "invoice.settled, deposit.*")
      await press(page, "Change the endpoint")
      const changed = await eventually("a changed endpoint", endpoint, ({ description }) => description === "Orders")
      assert.deepStrictEqual(changed.types, ["invoice.settled", "deposit.*"])
      await press(page, "Rotate the secret")
      assert.match((await page.locator("section.card code").textContent()) ?? "", /^whsec_/)
      await press(page, "Disable")
      await eventually("a disabled one", endpoint, ({ status }) => status === "disabled")
      await press(page, "Enable")
      await eventually("an enabled one", endpoint, ({ status }) => status === "enabled")
      await press(page, "Send a test")
      await page.getByText(/^(Delivered: the endpoint answered 2|Not delivered: )/).waitFor()
      const deliveries = () => shop.get(`/v1/webhook-endpoints/${shop.endpointId}/deliveries`)
      const { data } = await eventually("a delivery", deliveries, ({ data }) => data.length > 0)
      await press(page, "Look again")
      await page.getByRole("cell", { name: "webhook_endpoint.test" }).waitFor()
      await tab({}, async (other) => {
        await signIn(other, Whole.operatorToken)
        await open(other, `company/${shop.id}`, "Company")
        await other
          .getByRole("table", { name: "Webhook endpoints" })
          .getByText(/^(enabled|failing)$/)
          .waitFor()
      })
      await fill(page, "After the event", String(data[0].event_id))
      await press(page, "Send everything after it again")
      await press(page, "Delete")
      await page.getByText("Delete the endpoint? Press again.").waitFor()
      await press(page, "Delete")
      await page.getByText("There is no endpoint yet.").waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an operator gives a company its plan, fees and limits, and a key its limits and addresses, with the token shown again", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      await open(page, `company/${shop.id}`, "Company")
      const fees = page.locator("form").filter({ hasText: "Set the fees" })
      const lightning = fees.locator("fieldset").first()
      await lightning.getByLabel("Sats each").fill("2.5")
      await lightning.getByLabel("Millionths of the amount").fill("1000")
      await press(page, "Set the fees")
      await stepUp(page, Whole.operatorToken)
      await page.getByText("2.5 sats + 0.1 %", { exact: true }).waitFor()
      const charged = await operate("GET", `/companies/${shop.id}/fees`)
      const own = { lightning: { base_sats: 2.5, parts_per_million: 1000 }, on_chain: null, internal: null }
      assert.deepStrictEqual(charged.data.own, own)

      await fill(page, "Sats in any 24 hours", "5000")
      await page.getByLabel("lightning invoice", { exact: true }).check()
      await press(page, "Set the limits")
      await page.getByText("day sats 5000, recipient types lightning_invoice").waitFor()
      const limited = await operate("GET", `/companies/${shop.id}/limits`)
      assert.deepInclude(limited.data.limits, { day_sats: 5000, hour_sats: null, recipient_types: ["lightning_invoice"], recipients: null })

      await choose(page, "Plan", "free")
      await press(page, "Change the plan")
      await eventually(
        "another plan",
        () => operate("GET", `/companies/${shop.id}`),
        ({ data }) => data.plan === "free"
      )

      await open(page, `key/${shop.keyId}`, "API key")
      await fill(page, "Sats for one withdrawal", "100")
      await press(page, "Set the limits")
      await page.getByText("per withdrawal sats 100", { exact: true }).waitFor()
      await fill(page, "Addresses and ranges", "203.0.113.0/24 2001:db8::/32")
      await choose(page, "For", "sending")
      await press(page, "Set the addresses")
      await page.getByText("203.0.113.0/24, 2001:db8::/32 to send").waitFor()
      const { data } = await operate("GET", `/api-keys/${shop.keyId}`)
      assert.deepInclude(data.limits, { per_withdrawal_sats: 100, day_sats: null })
      assert.deepStrictEqual(data.allowed_from, { for: "sending", ranges: ["203.0.113.0/24", "2001:db8::/32"] })
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an operator connects an app to a key, is shown its string once, and ends it with the key", () =>
    tab({ storageState: signedIn.operator }, async (page, complaints) => {
      const company = await whole.companyWith("paid")
      // None of the company's keys was used yet: afterwards an app is connected to a key before a second operator approves it.
      const [, , keyId = ""] = company.key.split("_")
      const shop = { ...company, keyId }
      await open(page, `key/${shop.keyId}`, "API key")
      await press(page, "Connect an app")
      await page.getByText("Connect an app to this key? Press again.").waitFor()
      await press(page, "Connect an app")
      await stepUp(page, Whole.operatorToken)
      const text = (await page.locator("section.card code").textContent()) ?? ""
      assert.match(text, /^nostr\+walletconnect:\/\/[0-9a-f]{64}\?relay=wss%3A%2F%2Frelay\.example%2F&secret=[0-9a-f]{64}$/)
      await page.getByRole("img", { name: "The connection as a QR code" }).waitFor()
      assert.deepStrictEqual(await Console.violations(page), [])
      const { data } = await operate("GET", `/api-keys/${shop.keyId}/wallet-connection`)
      await page.getByText(data.app_key).waitFor()
      await page.reload()
      await page.getByText(data.app_key).waitFor()
      assert.notInclude(await page.content(), text)
      await press(page, "Disconnect")
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key: shop.key })).status, 200)
      await press(page, "Disconnect")
      await page.getByText("revoked").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key: shop.key })).status, 401)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a frozen company is shown as frozen in the operator's list, on the operator's page, and on its own overview and send page", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      const row = page.getByRole("row").filter({ has: page.locator(`a[href$="${shop.id}"]`) })
      await tab({}, async (own) => {
        const told = own.getByText("Sending is frozen.")
        const looks = async (isFrozen: boolean) => {
          for (const [path, title] of [
            ["", "Overview"],
            ["send", "Send"]
          ] as const) {
            await open(own, path, title)
            await own.reload()
            await own.getByRole("heading", { name: title, level: 1 }).waitFor()
            if (isFrozen) await told.waitFor()
            else {
              await Console.loaded(own)
              assert.strictEqual(await told.count(), 0, title)
            }
          }
        }
        await signIn(own, shop.key)
        await looks(false)

        await open(page, `company/${shop.id}`, "Company")
        await page.getByText("active", { exact: true }).waitFor()
        await fill(page, "Reason", "a stolen key")
        await press(page, "Freeze the company")
        await stepUp(page, Whole.operatorToken)
        await page.getByText(/^frozen since .*: a stolen key$/).waitFor()
        await open(page, "", "Companies")
        await row.getByText("frozen", { exact: true }).waitFor()
        await looks(true)
        assert.notInclude(await own.content(), "a stolen key")

        await open(page, `company/${shop.id}`, "Company")
        await press(page, "Unfreeze")
        await page.getByText("active", { exact: true }).waitFor()
        await looks(false)
      })
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a key that one operator requested works only after another operator approves it", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      const { data: ada } = await operate("POST", "/tokens", { name: "Ada", scopes: ["companies"] })
      const { data: made } = await whole.ask("POST", `/operator/companies/${shop.id}/api-keys`, {
        key: ada.token,
        body: { name: "payouts", scopes: ["read", "send"] }
      })
      const opens = async () => (await whole.ask("GET", "/v1/transactions/balance", { key: made.key })).status
      await open(page, `key/${made.id}`, "API key")
      await page.getByText("Another operator approves it, or revokes it.").waitFor()
      await press(page, "Approve the key")
      await page.getByText("Approve payouts? Press again.").waitFor()
      assert.strictEqual(await opens(), 401)
      await press(page, "Approve the key")
      await stepUp(page, Whole.operatorToken)
      await page.getByRole("button", { name: "Approve the key" }).waitFor({ state: "detached" })
      assert.strictEqual(await opens(), 200)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a company with a large balance is unfrozen when a second operator sends the same request, and the first is told so", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      await Customer.fund(shop, 10_000_001)
      const { data: bob } = await operate("POST", "/tokens", { name: "Bob", scopes: ["read", "loosen"] })
      await operate("POST", `/companies/${shop.id}/freeze`, { reason: "a stolen key", pending: "go_on" })
      const frozen = (of: Page) => of.getByText(/^frozen since .*: a stolen key$/)
      await open(page, `company/${shop.id}`, "Company")
      await press(page, "Unfreeze")
      await stepUp(page, Whole.operatorToken)
      await page.getByText(/requested this. It takes effect when another operator sends the same request by /).waitFor()
      await frozen(page).waitFor()
      await tab({}, async (other) => {
        await signIn(other, bob.token)
        await open(other, `company/${shop.id}`, "Company")
        await frozen(other).waitFor()
        await press(other, "Unfreeze")
        await stepUp(other, bob.token)
        await other.getByText("active", { exact: true }).waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    }))

  for (const colorScheme of ["light", "dark"] as const)
    it(`console: the pages of one thing, ${colorScheme}: fit a phone, have no violation of WCAG 2.2 AA or of their own policy`, async () => {
      const shop = await company()
      const key = { path: `key/${shop.keyId}`, title: "API key" }
      const pages = [key, { path: `webhook/${shop.endpointId}`, title: "Webhook endpoint" }]
      const look = async (page: Page, complaints: ReadonlyArray<string>, all: typeof pages) => {
        for (const { path, title } of all) {
          await open(page, path, title)
          await Console.loaded(page)
          for (const width of [320, 1440]) assert.isAtMost(await Console.widthAt(page, width), width, `${title} at ${width} px`)
          assert.deepStrictEqual([await Console.violations(page), complaints], [[], []], `${title}, ${colorScheme}`)
        }
      }
      await tab({ colorScheme }, async (page, complaints) => {
        await signIn(page, shop.key)
        await look(page, complaints, pages)
      })
      await tab({ storageState: signedIn.operator, colorScheme }, (page, complaints) =>
        look(page, complaints, [key, { path: `company/${shop.id}`, title: "Company" }])
      )
    })
})
