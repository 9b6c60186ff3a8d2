import { afterAll, assert, describe, it } from "@effect/vitest"
import { programsMillis } from "@satrail/testing/Waiting"
import type { Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import { isMissing } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Overseen from "./Overseen.ts"

// Every page of the operator's console, found by following links with the keyboard.

const started = isMissing ? undefined : await Console.start(Overseen.env)
afterAll(() => started?.end())

const root = "/operator/console"

/**
 * The path of every page, with `:id` for a record. `search` is reached through a form, and every other page is
 * reached through links that a token with every scope can see.
 */
const all = [
  "",
  "adjustments",
  "adjustments/:id",
  "adjustments/new",
  "alarms",
  "audit",
  "backlog",
  "companies",
  "companies/:id",
  "companies/:id/freeze",
  "companies/:id/keys/new",
  "companies/:id/payments",
  "companies/:id/statements",
  "companies/:id/terms",
  "companies/:id/transfers",
  "companies/:id/unfreeze",
  "companies/:id/webhooks/:id",
  "companies/new",
  "deposits/:id",
  "keys/:id",
  "nodes",
  "pause",
  "people",
  "people/:id",
  "people/new",
  "platform-keys",
  "platform-keys/:id",
  "platform-keys/new",
  "reconciliation",
  "reconciliation/own-funds",
  "resume",
  "search",
  "suspense",
  "suspense/:id",
  "tokens",
  "tokens/:id/revoke",
  "tokens/new",
  "webhooks",
  "webhooks/:id",
  "webhooks/:id/settings",
  "webhooks/new",
  "withdrawals/:id"
]
const words = new Set(all.flatMap((path) => path.split("/")))
const patternOf = (path: string): string =>
  path
    .split("/")
    .map((part) => (words.has(part) ? part : ":id"))
    .join("/")

/** A page that refreshes during a check would lose the focus. */
const still = "window.setInterval = () => 0"

/**
 * Records the visible controls in a part of the page and which of them get the focus. Radio buttons with the
 * same name count as one control.
 */
const watch = (within: string) => `(() => {
  const nameOf = (one) => one.type === "radio" ? one.name : one
  const controls = [...document.querySelectorAll(${JSON.stringify(within)} + " :is(a[href], button, input, select, textarea, summary)")]
    .filter((one) => one.type !== "hidden" && !one.disabled && one.checkVisibility({ visibilityProperty: true }))
  window.missed = new Map(controls.map((one) => [nameOf(one), one.outerHTML.slice(0, 120)]))
  window.links = new Set()
  document.addEventListener("focusin", ({ target }) => {
    window.missed.delete(nameOf(target))
    if (target.href) window.links.add(target.href)
  })
  return window.missed.size
})()`

/** Moves the focus through the controls with Tab. Returns the targets of their links. */
const walk = async (page: Page, within: string, where: string): Promise<ReadonlyArray<string>> => {
  const controls = Number(await page.evaluate(watch(within)))
  for (let at = 0; at < controls; at++) await page.keyboard.press("Tab")
  // A wide table can be scrolled, and then takes the focus too.
  for (let at = 0; at < controls + 5 && Number(await page.evaluate("window.missed.size")) > 0; at++)
    await page.keyboard.press("Tab")
  assert.deepStrictEqual(
    await page.evaluate("[...window.missed.values()]"),
    [],
    `not reached with Tab: ${where}`
  )
  return (await page.evaluate("[...window.links]")) as ReadonlyArray<string>
}

/** The address of the focused link. */
const focused = (page: Page) => page.evaluate("document.activeElement.getAttribute('href')")
const tabTo = async (page: Page, href: string) => {
  for (let at = 0; at < 30 && (await focused(page)) !== href; at++) await page.keyboard.press("Tab")
  assert.strictEqual(await focused(page), href)
  await page.keyboard.press("Enter")
}

describe.skipIf(isMissing)("the operator's pages in a browser", () => {
  if (started === undefined) return
  const { whole, shop, signedIn, tab } = started

  it("console: the export of the audit log is saved as a file, and the page stays", () =>
    tab({ storageState: signedIn.operator }, async (page) => {
      await page.goto(`${whole.url}${root}/audit`)
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: /^Export these/ }).click()
      ])
      assert.deepStrictEqual(
        [download.suggestedFilename(), page.url()],
        ["audit.csv", `${whole.url}${root}/audit`]
      )
    }))

  /** Follows the links and visits at most two pages of each kind. Returns the kinds. */
  const crawl = (width: number, colorScheme: "light" | "dark") =>
    tab(
      { storageState: signedIn.operator, colorScheme, viewport: { width, height: 844 } },
      async (page, complaints) => {
        await page.addInitScript(still)
        const isNarrow = width < 700
        const open = async (path: string) => {
          const response = await page.goto(`${whole.url}${root}${path === "" ? "" : `/${path}`}`)
          assert.strictEqual(response?.status(), 200, path)
          await page.getByRole("heading", { level: 1 }).waitFor()
        }
        await open("")
        if (isNarrow) await tabTo(page, "#menu")
        await page.locator("nav.side").waitFor()
        const places = [
          ...(await walk(page, "nav.side", "menu")),
          `${whole.url}${root}`,
          `${whole.url}${root}/search?q=Example`
        ]
        const seen = new Map<string, Set<string>>()
        for (const place of places) {
          const { pathname, search } = new URL(place)
          if ((pathname !== root && !pathname.startsWith(`${root}/`)) || pathname.endsWith("/export"))
            continue
          const path = pathname.slice(root.length + 1)
          const pattern = patternOf(path)
          const before = seen.get(pattern) ?? new Set()
          if (before.has(path) || before.size === 2) continue
          seen.set(pattern, before.add(path))
          await open(path + search)
          for (const one of isNarrow ? [320, width] : [width])
            assert.isAtMost(await Console.widthAt(page, one), one, `${path} at ${one} px`)
          assert.deepStrictEqual(await Console.misfits(page), [], `${path} at ${width} px`)
          assert.deepStrictEqual(
            [await Console.violations(page), complaints],
            [[], []],
            `${path} at ${width} px, ${colorScheme}`
          )
          await tabTo(page, "#main")
          places.push(...(await walk(page, "main", path)))
        }
        return [...seen.keys()].toSorted()
      }
    )

  it(
    "console: every operator page fits a phone, violates no WCAG 2.2 AA rule in light colors, and can be reached with the keyboard",
    { timeout: programsMillis },
    async () => {
      await Overseen.records({ whole, shop })
      const found = await crawl(390, "light")
      assert.deepStrictEqual(
        found,
        all.filter((path) => path !== "resume")
      )
    }
  )

  it(
    "console: every operator page passes the same checks on a desktop in dark colors while sending is paused",
    { timeout: programsMillis },
    async () => {
      await Customer.data(200, whole.operate("/pause", { what: "sending" }))
      const found = await crawl(1440, "dark")
      assert.deepStrictEqual(
        found,
        all.filter((path) => path !== "pause")
      )
    }
  )
})
