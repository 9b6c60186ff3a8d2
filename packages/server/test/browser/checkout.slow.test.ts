import * as Bip21 from "@satrail/bitcoin/Bip21"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { corpus } from "@satrail/testing/Corpus"
import { eventually, longestMillis, quickest } from "@satrail/testing/Waiting"
import { Result } from "effect"
import { createServer } from "node:http"
import axe from "axe-core"
import jsQR from "jsqr"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import * as Customer from "../Customer.ts"
import * as Checkouts from "./Checkouts.ts"
import { isMissing, launch } from "./Chromium.ts"

// The checkout page in a real browser, with one tab per check.

const widths = [320, 390, 1440]

/** Copy buttons smaller than a fingertip, and choices with text wider than their frame. */
const cramped = `[
  ...[...document.querySelectorAll(".copy")].filter((one) => one.checkVisibility() && Math.min(one.offsetWidth, one.offsetHeight) < 44),
  ...[...document.querySelectorAll(".choice, .button, .segment label")].filter((one) => one.scrollWidth > one.clientWidth)
].map(({ outerHTML }) => outerHTML)`

/** Text and codes that leave their page or cover a neighbor. */
const overlapping = `[
  ...[...document.querySelectorAll("main *")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1),
  ...[...document.querySelectorAll(".seller, .code code, .choice")].filter((one) => one.scrollWidth > one.clientWidth + 1),
  ...[...document.querySelectorAll(".amount bdi")].filter(({ firstChild }) => {
    const range = document.createRange()
    range.selectNodeContents(firstChild)
    return /\\d/.test(firstChild.textContent) && new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size > 1
  })
].map(({ outerHTML }) => outerHTML.slice(0, 120))`

interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green, blue and alpha of each pixel. */
  readonly pixels: ReadonlyArray<number>
}

describe.skipIf(isMissing)("the checkout page in a browser", () => {
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

  /** Opens a tab and collects its errors. */
  const tab = async <A>(
    options: BrowserContextOptions,
    look: (page: Page, complaints: Array<string>) => Promise<A>
  ): Promise<A> => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options })
    context.setDefaultTimeout(longestMillis)
    const complaints: Array<string> = []
    const page = await context.newPage()
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (404|422)/.test(message.text()))
        complaints.push(message.text())
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
  /** Decodes the QR code in a picture. Addresses and invoices are in capital letters there (BIP 173). */
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
    const read =
      jsQR.default(Uint8ClampedArray.from(pixels), width, height) ??
      assert.fail("the picture contains no QR code")
    return read.data.toLowerCase()
  }
  const stateOf = (name: string): string => states.get(name) ?? assert.fail(`there is no state ${name}`)

  for (const colorScheme of ["light", "dark"] as const)
    it(`browser: in the ${colorScheme} color scheme, the page of each state fits every width and violates neither WCAG 2.2 AA nor its content security policy`, () =>
      tab({ colorScheme }, async (page, complaints) => {
        for (const [name, url] of states) {
          await page.goto(url)
          for (const width of widths) {
            await page.setViewportSize({ width, height: 844 })
            const wide = await page.evaluate("document.documentElement.scrollWidth")
            assert.isAtMost(Number(wide), width, `${name} at ${width} px`)
            assert.deepStrictEqual(await page.evaluate(cramped), [], `${name} at ${width} px`)
          }
          await page.evaluate(axe.source)
          const found = await page.evaluate(
            `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`
          )
          assert.deepStrictEqual([found, complaints], [[], []], `${name}, ${colorScheme}`)
        }
      }))

  it("browser: the page of each state contains the expected text", () =>
    tab({}, async (page) => {
      const said: Record<string, ReadonlyArray<string>> = {
        open: [
          "Example Ltd",
          "Two bags of coffee",
          "21,000 sats",
          "Pay within",
          "Open in wallet",
          "Simulate a payment",
          "Test mode"
        ],
        arabic: ["21,000 sats", "محفظة"],
        "any-amount": ["Beliebiger Betrag"],
        fiat: ["12,50 €", "1 BTC = "],
        "fiat-open": ["€42.50", "1 BTC = €", "Rate held for"],
        german: ["1.249,90 €", ["Kurs", "gilt", "noch"].join(" ")],
        "fiat-underpaid": ["still due", "of €42.50 received"],
        "fiat-paid": ["Paid", "€42.50 · ", "1 BTC = €", "Paid with", "Payment hash", "Save receipt"],
        "fiat-expired": ["This quote has expired", "The exchange rate was held until"],
        change: [
          "Paid. Your change is ready",
          "more than the price",
          "You have a refund of 12,000 sats",
          "Anyone who sees this code",
          "Valid until"
        ],
        "address-only": ["Scan with a wallet that can send on-chain", "Show a QR code for any wallet"],
        framed: ["Example Ltd", "€42.50", "Rate held for"],
        seen: ["Payment seen, waiting for a block", "1 of 2", "Transaction"],
        underpaid: ["15,000 sats still due", "6,000 sats of 21,000 sats received"],
        paid: [
          "Paid",
          "Example Ltd has received your payment.",
          "Return to shop",
          "Print receipt",
          "Payment hash"
        ],
        overpaid: [
          "Paid, with change due",
          "9,000 sats more than the price",
          "Ask the seller to return it",
          "Contact the seller"
        ],
        late: ["Your payment arrived late", "after the deadline", "The seller decides", "Contact the seller"],
        expired: [
          "This payment has expired",
          "Please don’t use the old code",
          "Back to shop",
          "Already paid?"
        ],
        "expired-partly": ["This payment has expired", "Received 6,000 sats, less than the price"],
        "refund-open": [
          "Received",
          "6,000 sats",
          "You have a refund of 5,000 sats",
          "Anyone who sees this code can collect the money",
          "Valid until"
        ],
        "refund-paid": ["Received", "6,000 sats", "Your refund of 5,000 sats is complete"],
        renewable: ["This quote has expired", "Get a new quote", "Back to shop", "Contact the seller"],
        "arabic-renewable": ["الحصول على سعر صرف جديد", "التواصل مع البائع"],
        questions: [
          "Add a tip?",
          "No tip",
          "5% €2.13",
          "10% €4.25",
          "15% €6.38",
          "Total €42.50",
          "Email for your receipt",
          "Continue"
        ],
        "arabic-questions": ["هل تودّ إضافة إكرامية؟", "€42.50"],
        tipped: ["€46.75", "Includes a tip of €4.25", "Change tip or receipt", "Open in wallet"],
        canceled: ["This payment was canceled", "Nothing was charged"],
        "to-amount": ["coffee@", "Choose an amount", "From $0.01 to"],
        "to-open": ["2,100 sats", "coffee@", "Pay within", "Scan with a Lightning wallet"],
        "to-paid": ["Paid", "2,100 sats"],
        "to-unknown": ["Payment not found", "What you can do"],
        unknown: ["Payment not found", "What you can do"]
      }
      assert.sameMembers([...states.keys()], Object.keys(said))
      for (const [name, texts] of Object.entries(said)) {
        await page.goto(stateOf(name))
        const text = (await page.locator("body").innerText()).replaceAll(/\s+/g, " ")
        for (const one of texts) assert.include(text, one, name)
      }
      await page.goto(stateOf("arabic"))
      assert.strictEqual(
        await page.evaluate("getComputedStyle(document.querySelector('main')).direction"),
        "rtl"
      )
    }))

  it("browser: without scripts the payer sees everything needed to pay, and no button that does nothing", () =>
    tab({ javaScriptEnabled: false }, async (page) => {
      const made = await started.make()
      await page.goto(started.page(made))
      const text = await page.locator("main").innerText()
      for (const one of ["21,000 sats", "Pay by"]) assert.include(text, one)
      assert.notInclude(text, "Pay within")
      const codes = await page.locator("code").allTextContents()
      assert.includeMembers(codes, [made.address, made.payment_request])
      assert.strictEqual(await page.locator("svg.qr").count(), 1)
      for (const button of await page.locator("button:visible").all())
        assert.isNotNull(await button.getAttribute("formaction"))
      await page.getByText("Pay to a bitcoin address").click()
      await page.getByRole("link", { name: "Show as QR code" }).click()
      assert.strictEqual(
        await codeIn(await page.locator(".tile").screenshot()),
        `bitcoin:${made.address}?amount=0.00021000`
      )
      await page.getByRole("button", { name: "By Lightning" }).click()
      await started.is(made, "paid", ({ status }) => status === "paid")
      await page.goto(started.page(made))
      assert.include(await page.locator("main").innerText(), "Example Ltd has received your payment.")
    }))

  it("browser: without scripts the payer can add a tip, change the tip, and get a new quote after the first quote has expired", () =>
    tab({ javaScriptEnabled: false }, async (page) => {
      const made = await started.make({
        amount: 42.5,
        currency: "eur",
        expiry_seconds: 60,
        options: ["new_quote", "tip", "email"]
      })
      const seen = () => started.is(made, "read", () => true)
      await page.goto(started.page(made))
      const heading = async () =>
        (await page.getByRole("heading", { level: 1 }).innerText()).replaceAll(/\s+/g, " ")
      await page.getByText("10%").click()
      assert.include(await page.locator(".total").innerText(), "€46.75")
      await page.getByLabel("Email for your receipt").fill("ann@example.com")
      await page.getByRole("button", { name: "Continue" }).click()
      assert.strictEqual(await heading(), "Amount due: €46.75")
      assert.deepStrictEqual(
        [(await seen()).payer_email, (await seen()).tip_sats],
        ["ann@example.com", Math.ceil((await seen()).amount_sats / 10)]
      )
      await page.getByRole("link", { name: "Change tip or receipt" }).click()
      assert.isTrue(await page.locator("#tip-10").isChecked())
      await page.getByText("No tip").click()
      await page.getByRole("button", { name: "Continue" }).click()
      assert.strictEqual(await heading(), "Amount due: €42.50")
      await started.advance(61)
      await started.is(made, "expired", ({ status }) => status === "expired")
      await page.goto(started.page(made))
      await page.getByRole("button", { name: "Get a new quote" }).click()
      assert.strictEqual(await heading(), "Add a tip?")
      await page.getByRole("button", { name: "Continue" }).click()
      const { payment_request } = await seen()
      assert.notStrictEqual(payment_request, made.payment_request)
      assert.include(await page.locator("code").allTextContents(), payment_request)
      await started.pay({ ...made, payment_request })
      await started.is(made, "paid", ({ status }) => status === "paid")
    }))

  it("browser: an email address without a top-level domain is reported at its field, and keeps what the payer chose", () =>
    tab({}, async (page) => {
      const made = await started.make({ amount: 42.5, currency: "eur", options: ["tip", "email"] })
      await page.goto(started.page(made))
      await page.getByText("10%").click()
      const email = page.getByLabel("Email for your receipt")
      await email.fill("ann@example")
      await page.getByRole("button", { name: "Continue" }).click()
      assert.isTrue(
        await email.evaluate("document.querySelector('#email')?.matches(':focus:invalid') ?? false")
      )
      await email.pressSequentially(".com")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Amount due: €46.75" }).waitFor()
      await started.is(made, "answered", ({ payer_email }) => payer_email === "ann@example.com")
    }))

  it("browser: after the device slept or its clock was set, the remaining time is the shortest possible, and then the server's", () =>
    tab({}, async (page) => {
      // The monotonic clock stops while a device sleeps.
      await page.addInitScript(
        "const { now } = Date; let slept = 0; Date.now = () => now() + slept; window.sleep = (millis) => { slept += millis }"
      )
      const url = started.page(await started.make())
      await page.goto(url)
      await page.route(url, (route) => route.abort("internetdisconnected"))
      await page.evaluate("window.sleep(3_000_000)")
      const shown = (what: string, expected: RegExp) =>
        eventually(
          what,
          () => page.getByRole("timer").locator("bdi").last().innerText(),
          (text) => expected.test(text)
        )
      assert.isOk(await shown("a countdown without the time asleep", /^0?[89]:\d\d$|^10:00$/))
      await page.unroute(url)
      assert.isOk(await shown("the server's countdown", /^5\d:\d\d$/))
    }))

  it("browser: with text of twice the size, every page still fits a phone", () =>
    tab({}, async (page) => {
      for (const [name, url] of states) {
        await page.goto(url)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert.deepStrictEqual(await page.evaluate(overlapping), [], name)
      }
    }))

  it("browser: a wallet in the browser (WebLN) is offered the invoice", () =>
    tab({}, async (page) => {
      const made = await started.make()
      await page.addInitScript(
        `let isCanceled = false
        const enable = async () => { if (!isCanceled) { isCanceled = true; throw new Error("canceled") } }
        window.webln = { enable, sendPayment: async (invoice) => { document.title = invoice } }`
      )
      await page.goto(started.page(made))
      const wallet = page.getByRole("button", { name: "Pay with your browser’s wallet" })
      await wallet.click()
      // A payer who canceled can try again.
      await wallet.click()
      const title = await eventually(
        "an invoice at the wallet",
        () => page.title(),
        (title) => title.startsWith("lnbcrt")
      )
      assert.strictEqual(title, made.payment_request)
    }))

  for (const width of [700, 1440])
    it(`browser: a paid page printed ${width} px wide is one column, with each fact in at most three lines`, () =>
      tab({ viewport: { width, height: 844 } }, async (page) => {
        await page.goto(states.get("fiat-paid") ?? "")
        await page.emulateMedia({ media: "print" })
        const rows = await page.locator(".rows > *").all()
        const heights = await Promise.all(
          rows.map(async (row) => (await row.boundingBox())?.height ?? Infinity)
        )
        assert.isAtLeast(heights.length, 5)
        assert.isBelow(Math.max(...heights), 80)
        const [amount, mark] = [
          await page.locator(".bill .amount").boundingBox(),
          await page.locator(".way .mark").boundingBox()
        ]
        assert.isAtLeast(mark?.y ?? 0, (amount?.y ?? Infinity) + (amount?.height ?? 0))
        // Also on paper and as text, a payment of the sandbox says that it is a test.
        assert.isTrue(await page.getByText("Test mode: no real money moves").isVisible())
        const receipt = await page.request.get(`${(states.get("fiat-paid") ?? "").split("?")[0]}/receipt`)
        assert.include(await receipt.text(), "Test mode: no real money moves")
      }))

  it("browser: the receipt of an on-chain payment links to the payment's transaction in the operator's block explorer", () =>
    tab({}, async (page) => {
      await page.goto(stateOf("late"))
      const id = await page.locator("dt", { hasText: "Transaction" }).locator("+ dd code").textContent()
      const link = page.getByRole("link", { name: "View in block explorer" }).first()
      assert.strictEqual(await link.getAttribute("href"), `https://explorer.example/tx/${id}`)
    }))

  it("browser: the displayed QR code decodes to a URI that our BIP 21 parser can read", async () => {
    const made = await started.make()
    const image = await tab({}, async (page) => {
      await page.goto(started.page(made))
      return page.locator(".tile").screenshot()
    })
    const read = await codeIn(image)
    const { addresses, lightning, amount } = Result.getOrThrow(Bip21.parse(read))
    assert.deepStrictEqual(
      [addresses, lightning, amount],
      [[made.address], [made.payment_request], 21_000_000n]
    )
  })

  it("browser: in a dark high-contrast theme, a wallet can still scan the QR code, and the chosen tip differs from the others", () =>
    tab({ forcedColors: "active", colorScheme: "dark" }, async (page) => {
      await page.goto(stateOf("open"))
      assert.match(await codeIn(await page.locator(".tile").screenshot()), /^bitcoin:/)
      await page.goto(stateOf("questions"))
      const colors = await page.evaluate<ReadonlyArray<string>>(
        `[...document.querySelectorAll(".choice")].map((one) => getComputedStyle(one).backgroundColor)`
      )
      assert.strictEqual(new Set(colors).size, 2, colors.join(" "))
    }))

  it("browser: a payer can copy the invoice and select another code with only the keyboard, and screen readers announce the copying", () =>
    tab({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      const made = await started.make()
      await page.goto(started.page(made))
      const focused = page.locator(":focus")
      await page.keyboard.press("Tab")
      assert.match((await focused.getAttribute("href")) ?? "", /^bitcoin:/)
      await page.keyboard.press("Tab")
      assert.strictEqual(await focused.getAttribute("aria-label"), "Copy invoice")
      await page.keyboard.press("Enter")
      await page.locator("[role=status]", { hasText: "Copied" }).waitFor({ state: "attached" })
      assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), made.payment_request)
      await page.keyboard.press("Tab")
      assert.strictEqual(await focused.innerText(), "Pay to a bitcoin address")
      await page.keyboard.press("Enter")
      await page.keyboard.press("Tab")
      assert.strictEqual(await focused.getAttribute("aria-label"), "Copy address")
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), "0.00021000 BTC")
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await page.getByText("Scan with a wallet that can send on-chain").waitFor()
      assert.strictEqual(
        await codeIn(await page.locator(".tile").screenshot()),
        `bitcoin:${made.address}?amount=0.00021000`
      )
    }))

  it("browser: a payer can pay a Lightning address with only the keyboard, and an invalid amount is reported beside the amount field", () =>
    tab({}, async (page, complaints) => {
      await page.goto(stateOf("to-amount"))
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.locator(":focus").getAttribute("name"), "amount")
      await page.keyboard.type("0")
      await page.keyboard.press("Enter")
      await page.locator("[aria-invalid=true]").waitFor()
      const described = page.locator(`#${await page.locator("#amount").getAttribute("aria-describedby")}`)
      assert.match(await described.innerText(), /^Enter an amount from \$0\.01 to/)
      await page.keyboard.press("Tab")
      await page.keyboard.press("ControlOrMeta+a")
      await page.keyboard.type("2500")
      await page.keyboard.press("Tab")
      await page.keyboard.press("ArrowRight")
      assert.match(await described.innerText(), /^Enter an amount from 1 sat to/)
      await page.keyboard.press("Tab")
      await page.keyboard.type("For the coffee")
      await page.keyboard.press("Tab")
      assert.strictEqual(await page.locator(":focus").innerText(), "Continue")
      await page.keyboard.press("Enter")
      await page.getByRole("timer").waitFor()
      await page.keyboard.press("Tab")
      const link = (await page.locator(":focus").getAttribute("href")) ?? ""
      assert.match(link, /^lightning:LNBCRT/)
      await Customer.data(
        200,
        started.shop.post("/sandbox/pay", { payment_request: link.slice("lightning:".length).toLowerCase() })
      )
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  it("browser: the page shows a payment within a second of its settlement and then closes the connection", async () => {
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

  /** Everything that a page shows except the remaining time. */
  const drawn = (page: Page) =>
    page.evaluate<string>(`(() => {
      const main = document.querySelector("main").cloneNode(true)
      for (const timer of main.querySelectorAll("[role=timer]")) timer.replaceWith("the time that is left")
      return document.title + main.outerHTML
    })()`)

  type Way = readonly [
    name: string,
    heading: string,
    body: Readonly<Record<string, unknown>>,
    act: (made: Checkouts.Made) => Promise<unknown>
  ]
  const fiat = { amount: 42.5, currency: "eur" }
  const renewable = { options: ["new_quote"], contact: "help@shop.example" }
  const ways: ReadonlyArray<Way> = [
    ["paid over Lightning", "Paid", fiat, (made) => started.pay(made)],
    [
      "seen on-chain",
      "Payment seen, waiting for a block",
      fiat,
      (made) => started.send(made, made.amount_sats)
    ],
    ["paid on-chain", "Paid", {}, (made) => started.send(made, 21_000).then(() => started.mine(6))],
    ["partly paid", "still due", fiat, (made) => started.part(made, 10_000)],
    ["overpaid", "Paid, with change due", fiat, (made) => started.pay(made, made.amount_sats + 5000)],
    ["canceled", "This payment was canceled", {}, (made) => started.cancel(made)],
    [
      "paid late",
      "Your payment arrived late",
      {},
      async (made) => {
        await started.cancel(made)
        await started.send(made, 21_000)
        await started.mine(6)
      }
    ],
    [
      "overpaid, with a refund",
      "Paid. Your change is ready",
      fiat,
      async (made) => {
        await started.send(made, made.amount_sats + 5000)
        await started.mine(6)
        await started.is(made, "paid", ({ status }) => status === "paid")
        await started.refund(made, 5000)
      }
    ],
    ["expired", "This quote has expired", { ...fiat, expiry_seconds: 60 }, () => started.advance(61)],
    [
      "expired, with a new quote on offer",
      "This quote has expired",
      { ...fiat, expiry_seconds: 60, ...renewable },
      () => started.advance(61)
    ],
    [
      "open again with a new quote",
      "Amount due",
      { ...fiat, expiry_seconds: 60, ...renewable },
      async (made) => {
        await started.advance(61)
        await Checkouts.renew(started.page(made))
      }
    ],
    [
      "answered",
      "Amount due",
      { ...fiat, options: ["tip", "email"] },
      (made) => Checkouts.answer(started.page(made), { tip: "15" })
    ]
  ]
  for (const [name, heading, body, act] of ways)
    it(`browser: an open page shows exactly what a reload shows: ${name}`, () =>
      tab({ timezoneId: "America/New_York" }, async (page, complaints) => {
        const made = await started.make(body)
        const url = started.page(made)
        await page.goto(url)
        if (name !== "answered") await page.getByText("Pay to a bitcoin address").click()
        await act(made)
        await page.getByRole("heading", { name: heading }).waitFor()
        const other = await page.context().newPage()
        const reloaded = async () => {
          await other.goto(url)
          return drawn(other)
        }
        const followed = async () => (await drawn(page)).replace(/(<details[^>]*) open=""/, "$1")
        await eventually(
          "a page that equals a reloaded one",
          async () => [await followed(), await reloaded()] as const,
          ([left, right]) => left === right
        )
        assert.deepStrictEqual(complaints, [])
      }))

  it("browser: an open page shows a refund as a code that a wallet can read, and removes the code when the refund is canceled", () =>
    tab({ permissions: ["clipboard-read", "clipboard-write"] }, async (page, complaints) => {
      const made = await started.make()
      await started.part(made, 6000)
      await started.cancel(made)
      await page.goto(started.page(made))
      await page.getByText("Ask the seller for a refund").waitFor()
      const { id, lnurl } = await started.refund(made, 5000)
      assert.strictEqual(await page.locator(".refund code").textContent(), lnurl)
      assert.strictEqual(await codeIn(await page.locator(".refund .tile").screenshot()), `lightning:${lnurl}`)
      await page.getByRole("button", { name: "Copy refund link" }).click()
      assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), lnurl)
      const authorization = `Bearer ${started.shop.key}`
      const { status } = await fetch(`${started.whole.url}/v1/refunds/${id}/cancel`, {
        method: "POST",
        headers: { authorization }
      })
      assert.strictEqual(status, 200)
      await page.getByText("Ask the seller for a refund").waitFor()
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

  it("browser: on a slow network, nothing on a page moves while it loads", async () => {
    for (const name of [
      "fiat-open",
      "arabic",
      "fiat-underpaid",
      "seen",
      "fiat-paid",
      "change",
      "renewable",
      "questions",
      "to-amount"
    ])
      await tab({ timezoneId: "America/New_York" }, async (page) => {
        await page.addInitScript(
          "window.moved = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) moved += value }).observe({ type: 'layout-shift', buffered: true })"
        )
        const client = await page.context().newCDPSession(page)
        await client.send("Network.enable")
        const slow = { offline: false, latency: 200, downloadThroughput: 40_000, uploadThroughput: 20_000 }
        await client.send("Network.emulateNetworkConditions", slow)
        await page.goto(stateOf(name))
        // A shift is reported after the frame in which it happened.
        await page.evaluate(
          "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
        )
        assert.isBelow(Number(await page.evaluate("moved")), 0.005, name)
      })
  })

  it("browser: a page and everything it loads total at most 60 kB, and the QR code is above the fold on a phone", async () => {
    for (const name of [
      "questions",
      "tipped",
      "renewable",
      "fiat-open",
      "fiat-underpaid",
      "seen",
      "fiat-paid",
      "change",
      "expired",
      "to-amount",
      "to-open",
      "unknown"
    ])
      await tab({}, async (page) => {
        await page.goto(stateOf(name))
        const bytes = await page.evaluate<number>(
          `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, { transferSize }) => sum + transferSize, 0)`
        )
        assert.isTrue(bytes > 5000 && bytes <= 60_000, `${name}: ${bytes} bytes`)
        if (!["fiat-open", "fiat-underpaid", "to-open"].includes(name)) return
        const code = await page.locator(".way > .code").boundingBox()
        assert.isAtMost((code?.y ?? 844) + (code?.height ?? 1), 844, name)
        const tile = await page.locator(".qr").boundingBox()
        assert.isAtLeast(tile?.width ?? 0, 300, name)
      })
  })

  it("browser: a lost connection is announced, and changes during the outage are shown after reconnecting", () =>
    tab({}, async (page) => {
      const made = await started.make()
      await page.route("**/state", (route) => route.abort("connectionrefused"))
      await page.goto(started.page(made))
      await page.getByText("Connection lost").waitFor()
      await started.pay(made)
      await page.unroute("**/state")
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.strictEqual(await page.getByText("Connection lost").count(), 0)
    }))

  it("browser: a paid page that cannot be fetched for a while is shown later, without a lost connection", () =>
    tab({}, async (page) => {
      const made = await started.make()
      let refused = 0
      await page.goto(started.page(made))
      // More often than a page that is older than the announced state is fetched.
      await page.route(started.page(made), (route) =>
        refused++ < 6 ? route.abort("connectionrefused") : route.continue()
      )
      await started.pay(made)
      await page.getByText("Connection lost").waitFor()
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.strictEqual(await page.getByText("Connection lost").count(), 0)
    }))

  it("browser: a paid page whose fetch never ends is fetched again", () =>
    tab({}, async (page) => {
      // The page's own time limit, shortened.
      await page.addInitScript({
        content: `
          const { send } = XMLHttpRequest.prototype
          XMLHttpRequest.prototype.send = function () {
            if (this.timeout > 0) this.timeout = 100
            send.call(this)
          }`
      })
      const made = await started.make()
      let fetches = 0
      await page.goto(started.page(made))
      await page.route(started.page(made), async (route) => {
        if (fetches++ > 0) await route.continue()
      })
      await started.pay(made)
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.isAtLeast(fetches, 2)
    }))

  it("browser: if the page cannot open an event stream, it polls", () =>
    tab({}, async (page) => {
      const made = await started.make()
      await page.route("**/state", (route) =>
        route.request().headers()["accept"] === "text/event-stream"
          ? route.fulfill({ status: 503, body: "{}" })
          : route.continue()
      )
      await page.goto(started.page(made))
      await started.pay(made)
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      assert.strictEqual(await page.getByText("Connection lost").count(), 0)
    }))

  it("browser: the sandbox's buttons pay the price or another amount", () =>
    tab({}, async (page, complaints) => {
      await page.goto(started.page(await started.make()))
      await page.getByRole("button", { name: "By Lightning" }).click()
      await page.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      await page.goto(started.page(await started.make()))
      await page.getByRole("button", { name: "Too much" }).click()
      await page.getByRole("heading", { name: "Paid, with change due" }).waitFor()
      assert.deepStrictEqual(complaints, [])
    }))

  /** A shop at its own origin. Its page opens a checkout as an overlay and records the events it receives. */
  const shop = async (
    look: (origin: string, visit: (url: string, isStuck?: boolean) => Promise<Page>) => Promise<void>
  ): Promise<void> => {
    let html = ""
    const server = createServer((_, response) =>
      response.setHeader("content-type", "text/html").end(html)
    ).listen(0, "127.0.0.1")
    const origin = `http://127.0.0.1:${await boundPort(server)}`
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const visit = async (url: string, isStuck = false): Promise<Page> => {
      html = `<!doctype html><title>Shop</title><script src="${started.whole.url}/pay/embed.js"></script><button>Pay</button><p></p>
<script>const told = (what) => () => { document.querySelector("p").textContent += what + " " }
document.querySelector("button").onclick = () => satrail.open(${JSON.stringify(url)}, { onPaid: told("paid"), onClosed: told("closed") })</script>`
      const page = await context.newPage()
      // The request for the checkout's page is never answered.
      if (isStuck) await page.route(`${url}*`, () => undefined)
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

  it("browser: a checkout embedded in a shop's page notifies that page when the checkout is paid and when it is closed", () =>
    shop(async (origin, visit) => {
      const made = await started.make({ embed_origin: origin, color: "#1d4ed8" })
      const page = await visit(started.page(made))
      const frame = page.frameLocator("iframe")
      await frame.getByRole("timer").waitFor()
      await eventually(
        "the seller's color",
        async () =>
          page
            .frames()
            .at(-1)
            ?.evaluate("getComputedStyle(document.querySelector('a.primary')).backgroundColor"),
        (color) => color === "rgb(29, 78, 216)"
      )
      await started.pay(made)
      await page.getByText("paid", { exact: true }).waitFor()
      await frame.getByRole("button", { name: "Close" }).click()
      await page.getByText("paid closed").waitFor()
      assert.strictEqual(await page.locator("iframe").count(), 0)
    }))

  it("browser: an embedded checkout keeps its close button visible, closes on Escape or on a click outside, and then returns the focus to where it was", () =>
    shop(async (origin, visit) => {
      const page = await visit(started.page(await started.make({ embed_origin: origin })))
      const frame = page.frameLocator("iframe")
      const close = frame.getByRole("button", { name: "Close" })
      const isClosed = async (how: string) => {
        await page.locator("iframe").waitFor({ state: "detached" })
        assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "Pay", how)
        await page.getByRole("button", { name: "Pay" }).click()
        await close.waitFor()
      }
      await close.waitFor()
      await frame
        .getByText("Powered by")
        .or(frame.getByText("How do I pay?"))
        .first()
        .scrollIntoViewIfNeeded()
      const box = (await close.boundingBox()) ?? assert.fail("the close button is not displayed")
      assert.isTrue(box.y >= 0 && box.y + box.height <= 844, `the close button is at ${box.y}`)
      await frame.locator("h1").click()
      await page.keyboard.press("Escape")
      await isClosed("Escape in the frame")
      await page.setViewportSize({ width: 1440, height: 900 })
      await eventually(
        "a frame that fits the wider window",
        () => page.locator("iframe").boundingBox(),
        (place) => place?.width === 416 && place.height <= 900 - 48
      )
      await page.mouse.click(10, 10)
      await isClosed("a click outside")
      for (let press = 0; press < 12; press++) await page.keyboard.press("Tab")
      assert.notStrictEqual(await page.evaluate("document.activeElement.textContent"), "Pay")
    }))

  it("browser: the frame of an embedded checkout is as high as its content", () =>
    shop(async (origin, visit) => {
      const made = await started.make({ embed_origin: origin })
      const page = await visit(started.page(made))
      await page.setViewportSize({ width: 1440, height: 1400 })
      const frame = page.frameLocator("iframe")
      await frame.getByRole("timer").waitFor()
      const heights = async () => {
        const [outside, inside] = [
          await page.locator("iframe").boundingBox(),
          await frame.locator("body").boundingBox()
        ]
        return [Math.round(outside?.height ?? 0), Math.round(inside?.height ?? 1)] as const
      }
      const fits = () => eventually("a frame that fits", heights, ([outside, inside]) => outside === inside)
      const [open] = await fits()
      await started.pay(made)
      await frame.getByRole("heading", { name: "Paid", exact: true }).waitFor()
      const [paid] = await fits()
      assert.isBelow(paid, open)
    }))

  it("browser: an embedded checkout that does not load closes on Escape", () =>
    shop(async (origin, visit) => {
      const page = await visit(started.page(await started.make({ embed_origin: origin })), true)
      await page.keyboard.press("Escape")
      await page.locator("iframe").waitFor({ state: "detached" })
      assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "Pay")
    }))

  it("browser: when the browser blocks the checkout's frame, the payer can still close the checkout from the shop's page", () =>
    shop(async (_, visit) => {
      const page = await visit(started.page(await started.make({ embed_origin: "https://shop.example" })))
      await page.getByRole("button", { name: "Close" }).click()
      await page.getByText("closed").waitFor()
      assert.strictEqual(await page.locator("dialog").count(), 0)
    }))

  it("browser: only an origin that the company names may frame the checkout page", () =>
    shop(async (_, visit) => {
      for (const embed_origin of ["https://shop.example", null]) {
        const page = await visit(started.page(await started.make({ embed_origin })))
        const blocked = () => page.frames().some((frame) => frame.url() === "chrome-error://chromewebdata/")
        await eventually("a frame that is refused", async () => blocked(), Boolean)
        assert.strictEqual(
          await page.frameLocator("iframe").getByRole("timer").count(),
          0,
          String(embed_origin)
        )
      }
    }))

  it("browser: text set by a company is always rendered as plain text", async () => {
    // Each page shows three texts, so that every string of the corpus appears once.
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
          assert.include(await page.locator(".what").textContent(), one.text.slice(0, 5))
          assert.deepStrictEqual(complaints, [], one.text)
        }
      })
    await Promise.all([look(), look(), look()])
  })
})
