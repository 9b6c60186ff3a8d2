import { afterAll, assert, describe, it } from "@effect/vitest"
import { freePort } from "@satrail/testing/freePort"
import { longestMillis } from "@satrail/testing/Waiting"
import type { BrowserContext, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Whole from "../Whole.ts"
import { isMissing, launch } from "./Chromium.ts"

// People in a real browser with virtual devices, one browser context per person.

const start = async () => {
  const port = await freePort()
  // Passkeys belong to a domain, and localhost is the only one that browsers accept over http.
  const url = `http://localhost:${port}`
  const [browser, whole] = await Promise.all([
    launch(),
    Whole.start({ PORT: String(port), SATRAIL_PUBLIC_URL: url })
  ])
  return { url, browser, whole }
}
const started = isMissing ? undefined : await start()
afterAll(async () => {
  await started?.browser.close()
  await started?.whole.end()
})

describe.skipIf(isMissing)("people in a browser", () => {
  if (started === undefined) return
  const { url, browser, whole } = started
  const opened: Array<BrowserContext> = []
  afterAll(() => Promise.all(opened.map((context) => context.close())))

  /** A browser with a device that has passkeys. */
  const device = async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    opened.push(context)
    context.setDefaultTimeout(longestMillis)
    const page = await context.newPage()
    const complaints: Array<string> = []
    page.on("pageerror", (error) => complaints.push(String(error)))
    const cdp = await context.newCDPSession(page)
    await cdp.send("WebAuthn.enable")
    const options = {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    } as const
    let { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options })
    return {
      page,
      complaints /** Switches to another device, which has no passkeys. */,
      replace: async () => {
        await cdp.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId })
        authenticatorId = (await cdp.send("WebAuthn.addVirtualAuthenticator", { options })).authenticatorId
      },
      isUnlocked: (is: boolean) =>
        cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: is })
    }
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })
  const titled = (page: Page, name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name }).waitFor()

  const join = async (page: Page, link: string) => {
    await page.goto("about:blank")
    await page.goto(link)
    await page.getByLabel("Name of this device").fill("laptop")
    await button(page, "Add a passkey and sign in").click()
  }
  const invite = async (company_id: string, name: string, role: string): Promise<string> =>
    (await whole.operate("/people", { company_id, name, role })).data.link
  /** A signed-in administrator of a new company. The company has received a payment, which can be refunded. */
  const admin = async () => {
    const shop = await whole.companyWith("paid")
    const one = await device()
    await join(one.page, await invite(shop.id, "Mara K.", "admin"))
    await titled(one.page, "Overview")
    await Customer.fund(shop, 50_000)
    return { ...one, shop }
  }

  it("people: an invitation link adds a passkey and works only once; the person signs in with the passkey and sees their name", async () => {
    const { page, complaints, shop } = await admin()
    await page.getByRole("navigation").getByText("Mara K.").first().waitFor()
    await button(page, "Sign out").first().click()
    await button(page, "Sign in with a passkey").click()
    await titled(page, "Overview")
    await button(page, "Sign out").first().click()
    await page.goto(`${url}/console/payments?status=failed`)
    await page.getByLabel("API key or operator token").fill("sr_wrong")
    await button(page, /^Sign in$/).click()
    await page.waitForURL("**/console/sign-in")
    await button(page, "Sign in with a passkey").click()
    await titled(page, "Payments")
    assert.strictEqual(page.url(), `${url}/console/payments?status=failed`)
    // The session ends while the person fills in a form.
    await page.goto(`${url}/console/invoices/new`)
    await page.getByLabel("Amount").fill("123")
    await page.context().clearCookies()
    await button(page, "Create invoice").click()
    await page.getByText("Sign in to continue with what you typed.").waitFor()
    await button(page, "Sign in with a passkey").click()
    await titled(page, "New invoice")
    assert.strictEqual(await page.getByLabel("Amount").inputValue(), "123")
    const link = await invite(shop.id, "Joris", "viewer")
    const joris = await device()
    await join(joris.page, link)
    await titled(joris.page, "Overview")
    const thief = await device()
    await join(thief.page, link)
    await thief.page.getByRole("alert").getByText("was already used, or a newer one replaced it").waitFor()
    assert.deepStrictEqual([...complaints, ...joris.complaints, ...thief.complaints], [])
  })

  it("people: a bookkeeper can create records and export; pages for sending offer no form and say who can send", async () => {
    const { shop } = await admin()
    const [deposit] = await Customer.transactions(shop, "type=deposit&limit=1")
    const { page, complaints } = await device()
    await join(page, await invite(shop.id, "Nadia", "bookkeeper"))
    await titled(page, "Overview")
    const who = "Only operators and admins, and keys with the scope “send”, can"
    const navigation = page.getByRole("navigation").first()
    assert.strictEqual(await navigation.getByRole("link", { name: "Send", exact: true }).count(), 0)
    await page.goto(`${url}/console/payments/in/${deposit.id}`)
    await page.getByText(`${who} refund.`).waitFor()
    assert.strictEqual(await page.getByRole("link", { name: "Refund…" }).count(), 0)
    for (const path of [`payments/in/${deposit.id}/refund`, "send", "vouchers/new"]) {
      await page.goto(`${url}/console/${path}`)
      await titled(page, "Not allowed")
      await page.getByText(`${who} do this.`).waitFor()
      assert.strictEqual(await page.locator("main form").count(), 0, path)
    }
    await page.goto(`${url}/console/invoices/new`)
    await page.getByLabel("Amount").fill("100")
    await button(page, "Create invoice").click()
    await titled(page, /^Invoice Open/)
    await page.goto(`${url}/console/payments`)
    await page.getByRole("link", { name: "Export these 1" }).waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("people: clicking Refund asks for the passkey, and a locked device refunds nothing", async () => {
    const { page, isUnlocked, shop, complaints } = await admin()
    await page.goto(`${url}/console/payments`)
    await page.getByRole("row").getByRole("link").first().click()
    await page.getByRole("link", { name: "Refund…" }).click()
    await page.getByLabel("Amount").fill("1000")
    await isUnlocked(false)
    await button(page, /^Refund up to/).click()
    await page.getByRole("alert").waitFor()
    const refunds = async () => (await Customer.data(200, shop.get("/v1/refunds"))).length
    assert.strictEqual(await refunds(), 0)
    await isUnlocked(true)
    await button(page, /^Refund up to/).click()
    await titled(page, "Refund of 1,000 sats created")
    assert.strictEqual(await refunds(), 1)
    await page.goto(`${url}/console/audit`)
    await page.getByText("Mara K.").first().waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("people: an administrator can invite a person, revoke the person's lost passkey and its sessions, and let the person create a new passkey", async () => {
    const { page, complaints } = await admin()
    await page.goto(`${url}/console/people`)
    await page.getByRole("link", { name: "Invite" }).click()
    await page.getByLabel("Name").fill("Ines A.")
    await page.getByRole("radio", { name: /^Bookkeeper/ }).check()
    await button(page, "Create invitation").click()
    await titled(page, "Invitation for Ines A.")
    const linkOn = async () => (await page.locator("pre.secret").textContent()) ?? ""
    const ines = await device()
    await join(ines.page, await linkOn())
    await titled(ines.page, "Overview")
    await page.getByRole("link", { name: "Done" }).click()
    await page.getByRole("link", { name: "Ines A." }).click()
    await button(page, "Revoke passkeys and create a link").click()
    await titled(page, "Invitation for Ines A.")
    await ines.page.reload()
    await ines.page.getByText("You were signed out").waitFor()
    await button(ines.page, "Sign in with a passkey").click()
    await ines.page.getByRole("alert").waitFor()
    const found = await device()
    await join(found.page, await linkOn())
    await titled(found.page, "Overview")
    await page.goto(`${url}/console/people`)
    await page.getByRole("link", { name: "Ines A." }).click()
    await button(page, "Remove Ines A.").click()
    await titled(page, "People")
    await found.page.reload()
    await found.page.getByText("You were signed out").waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("people: a device holds only one passkey per person; another device adds a second one, which can be revoked", async () => {
    const { page, complaints, replace } = await admin()
    await page.goto(`${url}/console/people`)
    await page.getByLabel("Name of this device").fill("security key")
    await button(page, "Add a passkey").click()
    // A device does not hold two passkeys for one person.
    await page.getByRole("alert").getByText("No passkey was used").waitFor()
    await replace()
    await button(page, "Add a passkey").click()
    await button(page, "Revoke security key").click()
    await button(page, "Sign in with a passkey").waitFor()
    assert.deepStrictEqual(complaints, [])
  })

  it("people: a signed-in operator can change something only after using the passkey", async () => {
    const { page, complaints } = await device()
    await join(page, (await whole.operate("/people", { name: "Ada", role: "admin" })).data.link)
    await titled(page, /Now|need/)
    await page.getByText("Ada", { exact: true }).first().waitFor()
    await page.goto(`${url}/operator/console/companies/new`)
    await page.getByLabel("Name", { exact: true }).fill("Harbor Coffee")
    await page.getByText("Your device will ask for your passkey").waitFor()
    await button(page, "Open company").click()
    await titled(page, /^Harbor Coffee/)
    assert.deepStrictEqual(complaints, [])
  })
})
