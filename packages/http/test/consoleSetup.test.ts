import { afterAll, assert, it } from "@effect/vitest"
import { link } from "@satrail/features/audit/core/AuditLog"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import { Context, Effect, Layer } from "effect"
import { operatorToken, skippingTime, start } from "./Service.ts"

const service = await start({ http: { console: true }, around: skippingTime })
afterAll(service.dispose)
const { key } = await service.company()
const cookie = await service.signIn(key)
const page = (path: string, as = cookie) => service.page(as, path)
const overview = () => page("console")

it("console: before its first payment, a company sees what is left to set up, and cannot send", async () => {
  const first = await overview()
  for (const text of [
    "Set up your account",
    "0 of 2 done",
    ">Invite a person<",
    ">Add a webhook<",
    "New checkout"
  ])
    assert.include(first, text)
  assert.notMatch(first, /class="btn"[^>]*>Send</)
  const made = await service.ask("POST", "/v1/webhook-endpoints", {
    key,
    body: { url: "https://shop.example/webhooks" }
  })
  assert.strictEqual(made.status, 201, made.text)
  const second = await overview()
  assert.include(second, "1 of 2 done")
  assert.notInclude(second, ">Add a webhook</a>")
})

it("console: the page Now of a service without companies offers to open the first one", async () => {
  const fresh = await start({ http: { console: true } })
  // The page also lists what needs attention, such as a ledger that was never compared.
  await fresh.run(
    Effect.scoped(
      Effect.flatMap(Layer.build(Reconciler.layer), (built) =>
        Context.get(built, Reconciler.Reconciler).run()
      )
    )
  )
  const operator = await fresh.signIn(operatorToken)
  const offered = async () =>
    (await fresh.page(operator, "operator/console")).includes(">Open the first company</a>")
  assert.isTrue(await offered())
  await fresh.company()
  assert.isFalse(await offered())
  await fresh.dispose()
})

it("console: an empty list ends without a line about its rows", async () => {
  const operator = await service.signIn(operatorToken)
  for (const path of [
    "checkouts",
    "refunds",
    "vouchers",
    "invoices",
    "offers",
    "addresses",
    "audit?text=nothing"
  ]) {
    const text = await page(`console/${path}`)
    assert.match(text, /<h2>No /, path)
    assert.notMatch(text, /times in|\d shown/, path)
  }
  for (const path of ["suspense", "adjustments", "backlog", "companies?search=nothing"])
    assert.notMatch(await page(`operator/console/${path}`, operator), /times in|\d shown/, path)
  await service.fund(key, 1000)
  assert.match(await page("console/invoices"), /1 shown · times in /)
})

it("console: an entry of the audit log links to the page of the record that it is about", async () => {
  await service.fund(key, 100_000)
  const made = await service.ask("POST", "/v1/vouchers", { key, body: { amount: 1000, currency: "sats" } })
  const { id } = made.body.data
  await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
  const [, href = ""] = /<a href="([^"]*)">Voucher<\/a>/.exec(await page("console/audit")) ?? []
  assert.match(href, new RegExp(`console/vouchers/${id}$`))
  const path = new URL(href, "http://service/console/audit").pathname.slice(1)
  assert.include(await page(path), "voucher id")
})

it("console: the table of 12 months dates each balance with the last day of its month, and the running month's with today, in any time zone", async () => {
  const now = new Date()
  const named = (date: Date) =>
    date.toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" })
  const ended = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0))
  for (const zone of ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    const text = await page("console?span=365", `${cookie}; satrail_zone=${zone}`)
    const [, table = ""] = /Value now<\/th>.*?<tbody>(.*?)<\/tbody>/s.exec(text) ?? []
    const days = [...table.matchAll(/<th scope="row">([^<]*)</g)].map(([, day]) =>
      day?.replace(/, \d{4}$/, "")
    )
    assert.deepStrictEqual([days.length, ...days.slice(-2)], [12, named(ended), named(now)], zone)
  }
})

it("console: a time zone's cookie that cannot be decoded counts as absent, with and without a session", async () => {
  for (const zone of ["%zz", "%ff", "%"])
    for (const as of [`satrail_zone=${zone}`, `${cookie}; satrail_zone=${zone}`])
      assert.match(await page("console", as), /<title>(?:Sign in|Overview) · /, as)
})

it("console: a day that a payment cannot have does not filter the payments", async () => {
  for (const day of [
    "+275760-09-13",
    "+275760-09-12",
    "-000001-01-01",
    "0001-01-01",
    "9999-12-31",
    "2026",
    "2026-13-01"
  ])
    assert.match(
      await page(`console/payments?day=${encodeURIComponent(day)}`),
      /<title>Payments · .*1,000/s,
      day
    )
})
