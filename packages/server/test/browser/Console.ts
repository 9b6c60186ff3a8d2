import { longestMillis } from "@satrail/testing/Waiting"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { BrowserContextOptions, Locator, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Whole from "../Whole.ts"
import { launch } from "./Chromium.ts"

// The console of a complete service in a browser, with one tab per check.

export type State = Exclude<BrowserContextOptions["storageState"], string | undefined>

/** A company's pages, by path. */
export const ofCompany: ReadonlyArray<readonly [path: string, title: string]> = [
  ["", "Overview"],
  ["payments", "Payments"],
  ["payments/filter?by=status", "Filter by status"],
  ["checkouts", "Checkouts"],
  ["checkouts/new", "New checkout"],
  ["send", "Send"],
  ["statements", "Statements and export"],
  ["invoices", "Invoices"],
  ["invoices/new", "New invoice"],
  ["offers", "Offers"],
  ["offers/new", "New offer"],
  ["addresses", "Addresses"],
  ["addresses/new", "New Lightning address"],
  ["addresses/on-chain", "On-chain addresses"],
  ["addresses/domains", "Domains"],
  ["vouchers", "Vouchers"],
  ["vouchers/new", "New voucher"],
  ["refunds", "Refunds"],
  ["events", "Events"],
  ["keys", "API keys"],
  ["keys/new", "New API key"],
  ["webhooks", "Webhooks"],
  ["webhooks/new", "Add endpoint"],
  ["people", "People"],
  ["people/new", "Invite a person"],
  ["limits", "Limits"],
  ["audit", "Audit log"]
]
/** An operator's pages, by path. The title of the first one depends on the service's problems. */
export const ofOperator: ReadonlyArray<readonly [path: string, title: string | RegExp]> = [
  ["", /Now|need/],
  ["alarms", "Alarms"],
  ["pause", "Pause for everyone"],
  ["backlog", "Backlog"],
  ["companies", "Companies"],
  ["companies/new", "Open a company"],
  ["nodes", "Nodes and channels"],
  ["reconciliation", /^Reconciliation/],
  ["reconciliation/own-funds", "Own funds"],
  ["suspense", "Suspense"],
  ["adjustments", "Adjustments"],
  ["adjustments/new", "Request an adjustment"],
  ["people", "People"],
  ["people/new", "Invite a person"],
  ["platform-keys", "Platform keys"],
  ["platform-keys/new", "Issue a platform key"],
  ["tokens", "Tokens"],
  ["tokens/new", "Issue a token"],
  ["webhooks", "Webhooks"],
  ["webhooks/new", "Add endpoint"],
  ["audit", "Audit log"],
  ["search?q=nothing", "No results for “nothing”"]
]

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const rules = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`
const nameless = `[...document.querySelectorAll("table:not([aria-label])")].map(({ outerHTML }) => "no name: " + outerHTML.slice(0, 200))`

/** Accessibility violations that axe finds on a page, and tables without a name, which axe allows. */
export const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe)
  return [
    ...(await page.evaluate<ReadonlyArray<string>>(rules)),
    ...(await page.evaluate<ReadonlyArray<string>>(nameless))
  ]
}

/** Content that does not fit: a button beyond the padding of its cell, a figure that breaks, and a table wider than its panel. */
export const misfits = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const lines = (node) => {
      const range = document.createRange()
      range.selectNode(node)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
    }
    const seen = (found) => [...document.querySelectorAll(found)].filter((one) => one.checkVisibility())
    const beyond = seen("td > .btn:not(.quiet)").filter((one) => {
      const cell = one.parentElement
      return one.getBoundingClientRect().right > cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight) + 1
    })
    const broken = seen(".cover dd").filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && lines(node) > 1))
    const wide = innerWidth < 960 ? [] : seen(".scroll").filter((one) => one.scrollWidth > one.clientWidth)
    return [...beyond, ...broken, ...wide].map((one) => one.className + ": " + one.textContent.slice(0, 60))
  })()`)

/**
 * Measures the page's width with the text spacing that a reader may choose (WCAG 1.4.12). It makes text wider
 * than any installed font would, so the result also holds on other machines.
 */
const spaced = `(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync("* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important }")
  document.adoptedStyleSheets = [sheet]
  const width = document.documentElement.scrollWidth
  document.adoptedStyleSheets = []
  return width
})()`

/** The width of a page's content, with wide text, in a window of this width. */
export const widthAt = async (page: Page, width: number): Promise<number> => {
  await page.setViewportSize({ width, height: 800 })
  return Number(await page.evaluate(spaced))
}

/**
 * Presses a button that submits a form, and waits for the next page. An action before the next page appears
 * would be lost with the current page, or would cancel the submission.
 */
export const press = async (button: Locator): Promise<void> => {
  await button.waitFor()
  await Promise.all([button.page().waitForEvent("framenavigated"), button.click()])
  // A tab whose next page is still loading cannot be reloaded.
  await button.page().waitForLoadState()
}

/** Allows apps to connect through a relay, although no relay listens at this address. */
const env = {
  SATRAIL_NWC_RELAYS: "wss://relay.example",
  SATRAIL_OUTBOUND_ALLOW: "relay.example=http://127.0.0.1:9"
}

/** A service with a funded company and signed-in sessions. */
export const start = async (more: Readonly<Record<string, string>> = {}) => {
  const [browser, whole] = await Promise.all([launch(), Whole.start({ ...env, ...more })])
  const shop = await whole.companyWith("paid")
  await Customer.fund(shop, 100_000)

  /** Opens a tab and collects its errors. */
  const tab = async <A>(
    options: BrowserContextOptions,
    look: (page: Page, complaints: Array<string>) => Promise<A>
  ): Promise<A> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(longestMillis)
    const complaints: Array<string> = []
    const page = await context.newPage()
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (401|403|404)/.test(message.text()))
        complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("request", (request) => {
      if (!request.url().startsWith(whole.url)) complaints.push(`asked ${request.url()}`)
    })
    try {
      return await look(page, complaints)
    } finally {
      await context.close()
    }
  }
  const signIn = async (page: Page, key: string) => {
    await page.goto(`${whole.url}/console`)
    await page.getByLabel("API key or operator token").fill(key)
    await page.keyboard.press("Enter")
    await page.getByRole("navigation").first().waitFor()
  }
  const stateOf = (key: string): Promise<State> =>
    tab({}, async (page) => {
      await signIn(page, key)
      return page.context().storageState()
    })
  return {
    browser,
    whole,
    shop,
    stateOf,
    signedIn: { company: await stateOf(shop.key), operator: await stateOf(Whole.operatorToken) },
    tab,
    signIn,
    /** Opens the page at this path, and waits until it is shown. */
    visit: async (page: Page, path: string, title: string) => {
      await page.goto(`${whole.url}/console${path === "" ? "" : `/${path}`}`)
      await page.getByRole("heading", { name: title, exact: true, level: 1 }).waitFor()
    },
    /** Opens the operator console's page at this path, and waits until it is shown. */
    oversee: async (page: Page, path: string, title: string | RegExp) => {
      await page.goto(`${whole.url}/operator/console${path === "" ? "" : `/${path}`}`)
      await page.getByRole("heading", { name: title, level: 1 }).waitFor()
    },
    end: async () => {
      await browser.close()
      await whole.end()
    }
  }
}
export type Console = Awaited<ReturnType<typeof start>>
