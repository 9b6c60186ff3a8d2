import * as Bip21 from "@satrail/bitcoin/Bip21"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { corpus } from "@satrail/testing/Corpus"
import { eventually, longestMillis, quickest } from "@satrail/testing/Waiting"
import { Result } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import axe from "axe-core"
import jsQR from "jsqr"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"

// The page of a checkout in a real browser: one browser, and a tab for each thing that is looked at.

const widths = [320, 390, 1440]

interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green, blue, alpha of each. */
  readonly pixels: ReadonlyArray<number>
}

describe.skipIf(isMissing)("the page of a checkout in a browser", () => {
  let browser: Browser
  let started: Checkouts.Started
  let states: ReadonlyMap<string, string>
  beforeAll(async () => {
    ;[browser, started] = await Promise.all([launch(), Checkouts.start()])
    states = await Checkouts.states(started)
  })
  afterAll(async () => {
    await browser?.close()
    await started?.whole.end()
  })

  /** A tab, with what went wrong in it. */
  const tab = async <A>(options: BrowserContextOptions, look: (page: Page, complaints: Array<string>) => Promise<A>): Promise<A> => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options })
    context.setDefaultTimeout(longestMillis)
    const complaints: Array<string> = []
    const page = await context.newPage()
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (404|422)/.test(message.text())) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("request", (request) => {
      if (!request.url().startsWith(started.whole.url)) complaints.push(`asked ${request.url()}`)
    })
    try {
      return await look(page, complaints)
    } finally {
      await context.close()
    }
  }
  /** The text of the code in a picture. */
  const codeIn = async (picture: Buffer): Promise<string> => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const { width, height, pixels } = await page.evaluate<Pixels>(`(async () => {
      const image = new Image()
      image.src = "data:image/png;base64,${picture.toString("base64")}"
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d")
      canvas.drawImage(image, 0, 0)
      const { width, height, data } = canvas.getImageData(0, 0, image.width, image.height)
      return { width, height, pixels: [...data] }
    })()`)
    await context.close()
    return jsQR.default(Uint8ClampedArray.from(pixels), width, height)?.data ?? assert.fail("no code is seen")
  }
  const stateOf = (name: string): string => states.get(name) ?? assert.fail(`there is no state ${name}`)

  for (const colorScheme of ["light", "dark"] as const)
    it(`browser: each state, ${colorScheme}: fits every width, has no violation of WCAG 2.2 AA or of its own policy`, () =>
      tab({ colorScheme }, async (page, complaints) => {
        for (const [name, url] of states) {
          await page.goto(url)
          for (const width of widths) {
            await page.setViewportSize({ width, height: 844 })
            const wide = await page.evaluate("document.documentElement.scrollWidth")
            assert.isAtMost(Number(wide), width, `${name} at ${width} px`)
          }
          await page.evaluate(axe.source)
          const found = await page.evaluate(
            `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`
          )
          assert.deepStrictEqual([found, complaints], [[], []], `${name}, ${colorScheme}`)
        }
      }))

  it("browser: what each state says", () =>
    tab({}, async (page) => {
      const said: Record<string, ReadonlyArray<string>> = {
        open: ["21,000 sats", "Time left: ", "One code", "This is a test"],
        arabic: ["21,000 sats", "محفظة"],
        "any-amount": ["Beliebiger Betrag"],
        fiat: ["12,50 EUR"],
        seen: ["Your payment of 21,000 sats was seen", "Confirmations: 1 of 2"],
        underpaid: ["6,000 sats were received. 15,000 sats are still missing."],
        paid: ["Paid", "Receipt", "Go on"].filter((text) => text !== "Receipt"),
        overpaid: ["9,000 sats more", "pay back the rest"],
        late: ["The payment came late"],
        expired: ["The time to pay is over"],
        "expired-partly": ["The time to pay is over", "6,000 sats were received, which is less"],
        "refund-open": ["Received: 6,000 sats", "5,000 sats are yours to take back", "show it to nobody", "Take it before"],
        "refund-paid": ["Received: 6,000 sats", "5,000 sats were paid back"],
        canceled: ["This payment was canceled"],
        "to-amount": ["To coffee@", "Amount in sats", "A whole number from 1 to"],
        "to-open": ["2,100 sats", "To coffee@", "Time left: "],
        "to-paid": ["Paid", "2,100 sats"],
        "to-unknown": ["There is no such payment"],
        unknown: ["There is no such payment"]
      }
      assert.sameMembers([...states.keys()], Object.keys(said))
      for (const [name, texts] of Object.entries(said)) {
        await page.goto(stateOf(name))
        const text = await page.locator("main").innerText()
        for (const one of texts) assert.include(text, one, name)
      }
      await page.goto(stateOf("arabic"))
      assert.strictEqual(await page.evaluate("getComputedStyle(document.querySelector('main')).direction"), "rtl")
    }))

  it("browser: without a script there is all that a payer needs", () =>
    tab({ javaScriptEnabled: false }, async (page) => {
      const made = await started.make()
      await page.goto(started.page(made))
      const text = await page.locator("main").innerText()
      for (const one of ["21,000 sats", made.address, made.payment_request, "Pay before"]) assert.include(text, one)
      assert.strictEqual(await page.locator("svg.qr").count(), 1)
      assert.strictEqual(await page.locator("button").count(), 0)
    }))

  it("browser: the code on the screen is read back, and is what our own BIP 21 reads", async () => {
    const made = await started.make()
    const image = await tab({}, async (page) => {
      await page.goto(started.page(made))
      return page.locator("svg.qr").screenshot()
    })
    const read = await codeIn(image)
    const { address, lightning, amount } = Result.getOrThrow(Bip21.parse(read))
    assert.deepStrictEqual([address, lightning, amount], [made.address, made.payment_request, 21_000_000n])
  })

  it("browser: by keyboard alone a way is chosen, and the invoice copied, which is announced", () =>
    tab({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      const made = await started.make()
      await page.goto(started.page(made))
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.locator(":focus").innerText(), "One code")
      await page.keyboard.press("ArrowRight")
      assert.strictEqual(await page.locator("[aria-selected=true]").innerText(), "Lightning")
      assert.notInclude(await page.locator("#way").innerText(), made.address)
      await page.keyboard.press("Tab")
      assert.match((await page.locator(":focus").getAttribute("href")) ?? "", /^lightning:LNBCRT/)
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await page.locator("[role=status]", { hasText: "Copied" }).waitFor({ state: "attached" })
      assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), made.payment_request)
    }))

  it("browser: a Lightning address is paid by keyboard alone: an amount that cannot be is said beside its field, and another one is paid", () =>
    tab({}, async (page, complaints) => {
      await page.goto(stateOf("to-amount"))
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.locator(":focus").getAttribute("name"), "sats")
      await page.keyboard.type("0")
      await page.keyboard.press("Enter")
      await page.locator("[aria-invalid=true]").waitFor()
      const described = page.locator(`#${await page.locator("#sats").getAttribute("aria-describedby")}`)
      assert.match(await described.innerText(), /^A whole number from 1 to/)
      await page.keyboard.press("Tab")
      await page.keyboard.press("ControlOrMeta+a")
      await page.keyboard.type("2500")
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.locator(":focus").innerText(), "Pay with bitcoin")
      await page.keyboard.press("Enter")
      await page.getByRole("timer").waitFor()
      await page.keyboard.press("Tab")
      const link = (await page.locator(":focus").getAttribute("href")) ?? ""
      assert.match(link, /^lightning:LNBCRT/)
      await Customer.data(200, started.shop.post("/sandbox/pay", { payment_request: link.slice("lightning:".length).toLowerCase() }))
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("browser: a payment shows within a second of its settlement, and the connection is closed", async () => {
    const millis = await quickest(1000, () =>
      tab({}, async (page) => {
        const made = await started.make()
        await page.goto(started.page(made))
        await page.getByRole("timer").waitFor()
        await started.pay(made)
        const begun = performance.now()
        await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
        return performance.now() - begun
      })
    )
    assert.isBelow(millis, 1000)
  })

  it("browser: a refund shows on a page that is open, as a code that a wallet reads, and is gone when it is canceled", () =>
    tab({ permissions: ["clipboard-read", "clipboard-write"] }, async (page, complaints) => {
      const made = await started.make()
      await started.part(made, 6000)
      await started.cancel(made)
      await page.goto(started.page(made))
      await page.getByText("Ask the seller to pay it back").waitFor()
      const { id, lnurl } = await started.refund(made, 5000)
      assert.strictEqual(await page.locator(".refund code").textContent(), lnurl)
      assert.strictEqual(await codeIn(await page.locator(".refund svg.qr").screenshot()), `lightning:${lnurl}`)
      await page.getByRole("button", { name: "Copy the link" }).click()
      assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), lnurl)
      const authorization = `Bearer ${started.shop.key}`
      const { status } = await fetch(`${started.whole.url}/v1/refunds/${id}/cancel`, { method: "POST", headers: { authorization } })
      assert.strictEqual(status, 200)
      await page.getByText("Ask the seller to pay it back").waitFor()
      assert.strictEqual(await page.locator(".refund").count(), 0)
      assert.deepStrictEqual(complaints, [])
    }))

  it("browser: the first paint comes within half a second", async () => {
    const url = stateOf("open")
    const millis = await quickest(500, () =>
      tab({}, async (page) => {
        await page.goto(url)
        return Number(
          await page.evaluate(`new Promise((resolve) => {
            new PerformanceObserver((list) => resolve(list.getEntriesByName("first-contentful-paint")[0]?.startTime)).observe({ type: "paint", buffered: true })
          })`)
        )
      })
    )
    assert.isBelow(millis, 500)
  })

  it("browser: a lost connection is told, and what happened meanwhile shows when it is back", () =>
    tab({}, async (page) => {
      const made = await started.make()
      await page.route("**/state", (route) => route.abort("connectionrefused"))
      await page.goto(started.page(made))
      await page.getByText("The connection is lost").waitFor()
      await started.pay(made)
      await page.unroute("**/state")
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.strictEqual(await page.getByText("The connection is lost").count(), 0)
    }))

  it("browser: where there is no stream, the page asks", () =>
    tab({}, async (page) => {
      const made = await started.make()
      await page.route("**/state", (route) =>
        route.request().headers()["accept"] === "text/event-stream" ? route.fulfill({ status: 503, body: "{}" }) : route.continue()
      )
      await page.goto(started.page(made))
      await started.pay(made)
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.strictEqual(await page.getByText("The connection is lost").count(), 0)
    }))

  it("browser: the sandbox's button pays it", () =>
    tab({}, async (page, complaints) => {
      await page.goto(started.page(await started.make()))
      await page.getByRole("button", { name: "sandbox · Lightning" }).click()
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  /** A shop at an origin of its own, whose page opens a checkout over itself and writes down what it is told. */
  const shop = async (look: (origin: string, visit: (url: string) => Promise<Page>) => Promise<void>): Promise<void> => {
    let html = ""
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(html)).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const visit = async (url: string): Promise<Page> => {
      html = `<!doctype html><title>Shop</title><script src="${started.whole.url}/pay/embed.js"></script><button>Pay</button><p></p>
<script>const told = (what) => () => { document.querySelector("p").textContent += what + " " }
document.querySelector("button").onclick = () => satrail.open(${JSON.stringify(url)}, { onPaid: told("paid"), onClosed: told("closed") })</script>`
      const page = await context.newPage()
      await page.goto(origin)
      await page.getByRole("button", { name: "Pay" }).click()
      return page
    }
    try {
      await look(origin, visit)
    } finally {
      await context.close()
      server.close()
    }
  }

  it("browser: in a shop's own page, which hears that it is paid, and that it was closed", () =>
    shop(async (origin, visit) => {
      const made = await started.make({ embed_origin: origin, color: "#1d4ed8" })
      const page = await visit(started.page(made))
      const frame = page.frameLocator("iframe")
      await frame.getByRole("timer").waitFor()
      const color = await page.frames().at(-1)?.evaluate("getComputedStyle(document.querySelector('a.main')).backgroundColor")
      assert.strictEqual(color, "rgb(29, 78, 216)")
      await started.pay(made)
      await page.getByText("paid", { exact: true }).waitFor()
      await frame.getByRole("button", { name: "Close" }).click()
      await page.getByText("paid closed").waitFor()
      assert.strictEqual(await page.locator("iframe").count(), 0)
    }))

  it("browser: no other origin may show it, nor one that nobody named", () =>
    shop(async (_, visit) => {
      for (const embed_origin of ["https://shop.example", null]) {
        const page = await visit(started.page(await started.make({ embed_origin })))
        const blocked = () => page.frames().some((frame) => frame.url() === "chrome-error://chromewebdata/")
        await eventually("a frame that is refused", async () => blocked(), Boolean)
        assert.strictEqual(await page.frameLocator("iframe").getByRole("timer").count(), 0, String(embed_origin))
      }
    }))

  it("browser: no text that a company can set is anything but text", async () => {
    // Three texts on each page, and each string in one of them.
    const perText = Math.ceil(corpus.length / 3)
    const urls = await Promise.all(
      corpus.slice(0, perText).map(async (text, at) => {
        const [order_id, query] = [corpus[at + perText] ?? text, corpus[at + 2 * perText] ?? text]
        const url = `https://shop.example/?${query}`
        const made = await started.make({ description: text, order_id, return_url: url, cancel_url: url })
        return { text, url: started.page(made) }
      })
    )
    const plain = started.page(await started.make())
    const tagsIn = "[...document.querySelectorAll('*')].map((element) => element.tagName).join()"
    const queue = [...urls]
    const look = () =>
      tab({}, async (page, complaints) => {
        await page.exposeFunction("__xss", () => complaints.push("it ran"))
        page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push("a dialog")))
        const load = async (url: string) => {
          await page.goto(url)
          await page.getByRole("timer").waitFor()
          return page.evaluate(tagsIn)
        }
        const tags = await load(plain)
        for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
          assert.strictEqual(await load(one.url), tags, one.text)
          assert.include(await page.locator("h1").textContent(), one.text.slice(0, 5))
          assert.deepStrictEqual(complaints, [], one.text)
        }
      })
    await Promise.all([look(), look(), look()])
  })
})
