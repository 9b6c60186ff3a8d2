import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { longestMillis } from "@satrail/testing/Waiting"
import type { Browser, Page } from "playwright-core"
import * as Whole from "../Whole.ts"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"
import * as Console from "./Console.ts"
import * as Overseen from "./Overseen.ts"
import * as Shown from "./Shown.ts"

// Every copy button of the checkout page, the receipt and both consoles, compared with the clipboard.

const permissions = ["clipboard-read", "clipboard-write"]

/** The languages of the checkouts in {@link Checkouts.states}. */
const copied: Readonly<Record<string, string>> = { en: "Copied", de: "Kopiert", fr: "Copié", ar: "تم النسخ" }

interface Copied {
  /** The text that the page shows or carries beside the button. */
  readonly shown: string
  readonly clipboard: string
  readonly label: string
  readonly announced: string
}

/** Clicks every copy button of a page. */
const copies = async (page: Page): Promise<ReadonlyArray<Copied>> => {
  await page.evaluate(
    "document.querySelectorAll('details').forEach((one) => { one.removeAttribute('name'); one.open = true })"
  )
  const copies: Array<Copied> = []
  for (const button of await page.locator("button[data-copy]").all()) {
    await page.evaluate("navigator.clipboard.writeText('nothing was copied')")
    await button.click()
    await page.locator("[data-copy][data-copied]").last().waitFor()
    copies.push(
      await page.evaluate<Copied>(`(async () => {
        const button = document.activeElement
        const code = button.closest(".code")?.querySelector("code")
        const holders = [...document.querySelectorAll("[title], code, pre, a")].map((one) => one.title || one.textContent)
        return {
          shown: code ? code.textContent : (holders.find((one) => one === button.dataset.copy) ?? "not on the page"),
          clipboard: await navigator.clipboard.readText(),
          label: getComputedStyle(button, "::before").content,
          announced: document.querySelector("#said").textContent
        }
      })()`)
    )
  }
  return copies
}

describe.skipIf(isMissing)("copy buttons of the checkout page", () => {
  let browser: Browser
  let started: Checkouts.Started
  beforeAll(async () => {
    ;[browser, started] = await Promise.all([launch(), Checkouts.start()])
  })
  afterAll(async () => {
    await browser?.close()
    await started?.whole.end()
  })

  it("copy: each button of every checkout state puts the whole text on the clipboard, and says so in the page's language", async () => {
    const context = await browser.newContext({ permissions, viewport: { width: 390, height: 844 } })
    context.setDefaultTimeout(longestMillis)
    const page = await context.newPage()
    const labels = new Set<string>()
    for (const [name, url] of await Checkouts.states(started)) {
      await page.goto(url)
      const said = copied[await page.evaluate<string>("document.documentElement.lang")]
      for (const { shown, clipboard, label, announced } of await copies(page)) {
        assert.isAbove(shown.length, 10, name)
        assert.deepStrictEqual([clipboard, label, announced], [shown, JSON.stringify(said), said], name)
        labels.add(label)
      }
    }
    assert.sameMembers(
      [...labels],
      Object.values(copied).map((one) => JSON.stringify(one))
    )
    await page.locator("[data-copied]:is(button)").last().waitFor({ state: "detached" })
    await context.close()
  })
})

describe.skipIf(isMissing)("copy buttons of the consoles", () => {
  let started: Console.Console
  beforeAll(async () => {
    started = await Console.start(Overseen.env)
  })
  afterAll(() => started?.end())

  it("copy: each button of a company's and an operator's pages puts the whole text on the clipboard, and says so", async () => {
    const { whole, shop, stateOf, tab } = started
    const filled = await Shown.fill(started)
    const visits = [
      ["console", shop.key, [...Console.ofCompany.map(([path]) => path), ...Object.values(filled.ofCompany)]],
      [
        "operator/console",
        Whole.operatorToken,
        [...Console.ofOperator.map(([path]) => path), ...Object.values(filled.ofOperator)]
      ]
    ] as const
    for (const [root, key, paths] of visits)
      await tab({ permissions, storageState: await stateOf(key) }, async (page, complaints) => {
        let pages = 0
        for (const path of paths) {
          await page.goto(`${whole.url}/${root}/${path}`)
          await Shown.settled(page)
          const all = await copies(page)
          for (const { shown, clipboard, label, announced } of all)
            assert.deepStrictEqual([clipboard, label, announced], [shown, '"Copied"', "Copied"], path)
          if (all.length > 0) pages += 1
        }
        assert.isAtLeast(pages, 7, root)
        assert.deepStrictEqual(complaints, [])
      })
  })
})
