import { afterAll, assert, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Whole from "../Whole.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"

// The operator's forms in a real browser. A page with one form contains the confirmation itself, and a page
// with several forms leads to a separate confirmation page.

const started = isMissing ? undefined : await Console.start()
afterAll(() => started?.end())

describe.skipIf(isMissing)("the operator's forms in a browser", () => {
  if (started === undefined) return
  const { whole, signedIn, tab, signIn, oversee } = started
  const press = (page: Page, name: string) => Console.press(page.getByRole("button", { name }))
  const confirm = async (page: Page, token = Whole.operatorToken) => {
    await page.getByRole("heading", { level: 1, name: "Confirm it’s you" }).waitFor()
    await page.getByLabel("Your operator token").fill(token)
    await press(page, "Confirm and continue")
  }
  const read = async (path: string) =>
    Customer.data(200, whole.ask("GET", `/operator${path}`, { key: Whole.operatorToken }))
  const company = async () => {
    const shop = await whole.companyWith("paid")
    const [, , keyId = ""] = shop.key.split("_")
    return { ...shop, keyId }
  }

  it("console: an operator sets a company's fees, limits and plan, and a key's limits and addresses, and enters the token once", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      await oversee(page, `companies/${shop.id}/terms`, "Plan, fees and limits")
      await page.getByLabel("Lightning: fixed, sats").fill("2.5")
      await page.getByLabel("Lightning: % of the amount").fill("0.1")
      await press(page, "Save fees")
      await confirm(page)
      await page.getByText("2.5 sats + 0.1%", { exact: true }).waitFor()
      const own = { lightning: { base_sats: 2.5, parts_per_million: 1000 }, on_chain: null, internal: null }
      assert.deepStrictEqual((await read(`/companies/${shop.id}/fees`)).own, own)

      await oversee(page, `companies/${shop.id}/terms`, "Plan, fees and limits")
      await page.getByLabel("24 hours, sats").fill("5,000")
      await page.getByLabel("Lightning invoices").check()
      await press(page, "Save limits")
      await page.getByText("5,000 left").waitFor()
      const { limits } = await read(`/companies/${shop.id}/limits`)
      assert.deepInclude(limits, {
        day_sats: 5000,
        hour_sats: null,
        recipient_types: ["lightning_invoice"],
        recipients: null
      })

      await oversee(page, `companies/${shop.id}/terms`, "Plan, fees and limits")
      await page.getByRole("combobox", { name: "Plan", exact: true }).selectOption("free")
      await press(page, "Change plan")
      await page.getByText("free", { exact: true }).waitFor()
      assert.strictEqual((await read(`/companies/${shop.id}`)).plan, "free")

      await oversee(page, `keys/${shop.keyId}`, /^Key “test”/)
      await page.getByLabel("One payment, sats").fill("100")
      await press(page, "Save limits")
      await oversee(page, `keys/${shop.keyId}`, /^Key “test”/)
      await page.getByLabel("IP addresses and ranges").fill("203.0.113.0/24 2001:db8::/32")
      await page.getByRole("combobox", { name: "Applies to", exact: true }).selectOption("sending")
      await press(page, "Save addresses")
      await page.getByText("203.0.113.0/24, 2001:db8::/32, to send").waitFor()
      const key = await read(`/api-keys/${shop.keyId}`)
      assert.deepInclude(key.limits, { per_withdrawal_sats: 100, day_sats: null })
      assert.deepStrictEqual(key.allowed_from, {
        for: "sending",
        ranges: ["203.0.113.0/24", "2001:db8::/32"]
      })
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: an operator connects an app to a key, sees the app's connection string once, and disconnects the app by revoking the key", () =>
    tab({ storageState: signedIn.operator }, async (page, complaints) => {
      const shop = await company()
      await oversee(page, `keys/${shop.keyId}`, /^Key “test”/)
      await press(page, "Connect an app")
      await confirm(page)
      const text = (await page.locator("pre.secret").textContent()) ?? ""
      assert.match(
        text,
        /^nostr\+walletconnect:\/\/[0-9a-f]{64}\?relay=wss%3A%2F%2Frelay\.example%2F&secret=[0-9a-f]{64}$/
      )
      await page.getByRole("img", { name: "QR code of the connection" }).waitFor()
      assert.deepStrictEqual(await Console.violations(page), [])
      await page.getByRole("link", { name: "Done" }).click()
      await page.getByText("To disconnect it, revoke the key.").waitFor()
      assert.notInclude(await page.content(), text)
      await press(page, "Revoke test")
      await page.getByText("1 key was revoked").waitFor()
      assert.strictEqual((await whole.ask("GET", "/v1/transactions/balance", { key: shop.key })).status, 401)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a key that one operator requested works only after another operator approves it", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await Customer.fund(shop, 1000)
      const ada = await Customer.data(201, whole.operate("/tokens", { name: "Ada", scopes: ["companies"] }))
      const made = await Customer.data(
        201,
        whole.ask("POST", `/operator/companies/${shop.id}/api-keys`, {
          key: ada.token,
          body: { name: "payouts", scopes: ["read", "send"] }
        })
      )
      const opens = async () => (await whole.ask("GET", "/v1/transactions/balance", { key: made.key })).status
      await signIn(page, Whole.operatorToken)
      await oversee(page, `keys/${made.id}`, /^Key “payouts” Awaiting approval/)
      assert.strictEqual(await opens(), 401)
      await press(page, "Approve payouts")
      await confirm(page)
      await page.getByRole("heading", { level: 1, name: /^Key “payouts” Valid/ }).waitFor()
      assert.strictEqual(await opens(), 200)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a company with a large balance is unfrozen only after two operators request it, and until then the first operator sees the request as pending", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await Customer.fund(shop, 10_000_001)
      const bob = await Customer.data(
        201,
        whole.operate("/tokens", { name: "Bob", scopes: ["read", "loosen"] })
      )
      await Customer.data(
        200,
        whole.operate(`/companies/${shop.id}/freeze`, { reason: "a stolen key", pending: "go_on" })
      )
      const unfreeze = async (of: Page, token: string) => {
        await signIn(of, token)
        await oversee(of, `companies/${shop.id}/unfreeze`, "Unfreeze Example Ltd")
        await of.getByText("“a stolen key”").waitFor()
        await of.getByLabel("Your operator token").fill(token)
        await press(of, "Unfreeze Example Ltd")
      }
      await unfreeze(page, Whole.operatorToken)
      await page
        .getByText(/requested this. It takes effect when another operator sends the same request by /)
        .first()
        .waitFor()
      await tab({}, async (other) => {
        await unfreeze(other, bob.token)
        await other.getByRole("heading", { level: 1, name: "Example Ltd Active" }).waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: one operator requests an adjustment for a company chosen by name, and a second operator approves it", () =>
    tab({}, async (page, complaints) => {
      const shop = await company()
      await signIn(page, Whole.operatorToken)
      await Customer.data(201, whole.operate("/companies", { name: "Harbor Coffee", plan: "free" }))
      await oversee(page, "adjustments/new", "Request an adjustment")
      await page.getByRole("combobox", { name: "Company", exact: true }).selectOption("Harbor Coffee")
      await page.getByRole("combobox", { name: "Company", exact: true }).selectOption(shop.id)
      await page.getByLabel("Amount, sats").fill("500")
      await page.getByLabel("Reason").fill("Deposit credited late")
      await page.getByLabel("Your operator token").fill(Whole.operatorToken)
      await press(page, "Request adjustment")
      await page.getByRole("heading", { level: 1, name: /^\+500 sats Awaits/ }).waitFor()
      const bob = await Customer.data(201, whole.operate("/tokens", { name: "Bo", scopes: ["read", "mend"] }))
      const address = page.url()
      await tab({}, async (other) => {
        await signIn(other, bob.token)
        await other.goto(address)
        await press(other, "Approve +500 sats")
        await confirm(other, bob.token)
        await other.getByText("Booked").first().waitFor()
      })
      assert.strictEqual(await Customer.balance(shop), 500)
      assert.deepStrictEqual(complaints, [])
    }))

  it("console: a token with the scopes read and mend can use only the pages and actions that these scopes allow, and other pages name the required scope", () =>
    tab({}, async (page, complaints) => {
      const url = `${whole.url}/sandbox/webhooks/operator`
      const { id } = await Customer.data(
        201,
        whole.operate("/webhook-endpoints", { url, types: ["audit_head.updated"] })
      )
      const received = (many: number) =>
        Customer.until(started.shop, "/sandbox/webhooks/operator", ({ count }) => count === many)
      await whole.operate(`/webhook-endpoints/${id}/test`, {})
      await received(1)
      const bo = await Customer.data(201, whole.operate("/tokens", { name: "Bo", scopes: ["read", "mend"] }))
      await signIn(page, bo.token)
      await oversee(page, "suspense", "Suspense")
      await oversee(page, "adjustments/new", "Request an adjustment")
      await oversee(page, "reconciliation/own-funds", "Own funds")
      await page.getByLabel("On the Lightning node, sats").fill("0")
      await page.getByLabel("Your operator token").fill(bo.token)
      await press(page, "Declare own funds")
      await page.getByRole("heading", { level: 1, name: /^Reconciliation/ }).waitFor()
      await oversee(page, `webhooks/${id}`, /./)
      await Console.press(page.getByRole("button", { name: "Resend" }).first())
      await received(2)
      await oversee(page, "webhooks", "Webhooks")
      assert.strictEqual(await page.getByRole("link", { name: "Add endpoint" }).count(), 0)
      await oversee(page, `webhooks/${id}`, /./)
      assert.strictEqual(await page.getByRole("link", { name: "Settings" }).count(), 0)
      for (const path of ["webhooks/new", `webhooks/${id}/settings`]) {
        await oversee(page, path, "Not allowed")
        await page.getByText("Only admins, and tokens with the scope “all”, can do this.").waitFor()
      }
      await tab({}, async (other) => {
        const { token } = await Customer.data(201, whole.operate("/tokens", { name: "Mo", scopes: ["mend"] }))
        await signIn(other, token)
        for (const path of ["", "suspense", "reconciliation/own-funds"]) {
          await oversee(other, path, "Not allowed")
          await other.getByText("requires an operator token with the scope read").waitFor()
        }
      })
      assert.deepStrictEqual(complaints, [])
    }))
})
