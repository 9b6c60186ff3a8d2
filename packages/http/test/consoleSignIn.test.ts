import { afterAll, assert, it } from "@effect/vitest"
import { link } from "@satrail/features/audit/core/AuditLog"
import { Effect } from "effect"
import { operatorToken, start } from "./Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()
const session = await service.signIn(key)
const origin = "http://service"
const post = (path: string, form: Readonly<Record<string, string>>) =>
  service.send(
    new Request(`${origin}${path}`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams(form))
    })
  )
const open = async (path: string) => (await service.send(new Request(`${origin}${path}`))).text

/** The page to which the sign-in page returns, as its form states it. */
const backIn = (page: string) =>
  /name="back" value="([^"]*)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? assert.fail(page)

const landsAt = async (
  back: string,
  path = "/console/sign-in",
  form: Readonly<Record<string, string>> = { credential: key }
) => {
  const { status, headers } = await post(path, { ...form, back })
  assert.strictEqual(status, 303)
  return new URL(headers.get("location") ?? "", origin + path).href.slice(origin.length)
}

it("console: signing in leads to the page that was requested, with its filters", async () => {
  const places = [
    "/console",
    "/console/payments/in/01a227d7-1be9-7f7b-8dfe-da559cfc22be",
    "/console/payments?status=failed&day=2026-11-29",
    "/console/search?q=lnbc%20x%2F%3Fy&next=//evil.example",
    "/operator/console/withdrawals/01a227d7-1be9-7f7b-8dfe-da559cfc22be"
  ]
  for (const place of places) assert.strictEqual(await landsAt(backIn(await open(place))), place)
})

it("console: signing in after the link to a file leads to the page of the link, because a download would leave the page for signing in open", async () => {
  for (const [file, place] of [
    ["/console/payments/export?status=failed", "/console/payments?status=failed"],
    [
      "/console/payments/out/01a227d7-1be9-7f7b-8dfe-da559cfc22be/proof",
      "/console/payments/out/01a227d7-1be9-7f7b-8dfe-da559cfc22be"
    ]
  ] as const)
    assert.strictEqual(await landsAt(backIn(await open(file))), place)
})

it("console: the link to an export of an audit log leads to the page for signing in if the session ended, instead of to JSON", async () => {
  await service.signIn(operatorToken)
  await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
  for (const [console, credential, api] of [
    ["/console", key, "/v1/audit"],
    ["/operator/console", operatorToken, "/operator/audit"]
  ] as const) {
    const at = `${origin}${console}/audit?verb=console.signIn`
    const sent = (url: string, cookie: string) => service.send(new Request(url, { headers: { cookie } }))
    const cookie = await service.signIn(credential)
    const [, href = assert.fail(console)] =
      /href="([^"]*)"[^>]*>(?:<svg(?:(?!<\/a>).)*)?Export these/s.exec((await sent(at, cookie)).text) ?? []
    const url = new URL(href.replaceAll("&amp;", "&"), at).href
    assert.strictEqual(
      await landsAt(backIn((await sent(url, "")).text)),
      `${console}/audit?verb=console.signIn`
    )
    const { status, headers } = await sent(url, cookie)
    assert.strictEqual(status, 303)
    assert.strictEqual(
      new URL(headers.get("location") ?? "", url).href,
      `${origin}${api}?verb=console.signIn&format=csv`
    )
  }
})

it("console: a link on another site to an export leads to its list, and downloads nothing", async () => {
  const from = (site: string, path: string) =>
    service.send(
      new Request(`${origin}/console/${path}`, { headers: { cookie: session, "sec-fetch-site": site } })
    )
  for (const path of ["payments/export?status=failed", "invoices/export"]) {
    for (const site of ["cross-site", "same-site"]) {
      const { status, headers } = await from(site, path)
      assert.strictEqual(status, 303, `${site} ${path}`)
      const [list = ""] = path.split("/")
      assert.strictEqual(
        new URL(headers.get("location") ?? "", `${origin}/console/${path}`).href,
        `${origin}/console/${list}`
      )
    }
    for (const site of ["same-origin", "none"])
      assert.match(
        (await from(site, path)).headers.get("content-disposition") ?? "",
        /^attachment/,
        `${site} ${path}`
      )
  }
})

it("console: a form sent after the person signed out in another tab says that nothing was changed", async () => {
  const notice = "You are signed out, so nothing was changed. Sign in to continue with what you typed."
  const { text } = await post("/console/invoices/new", { amount: "100" })
  assert.include(text, notice)
  assert.strictEqual(backIn(text), "/console/invoices/new")
  assert.notInclude(await open("/console/invoices/new"), notice)
})

it("console: after a wrong key, the sign-in page still leads to the page that was requested", async () => {
  const place = "/console/payments?status=failed"
  const { status, text } = await post("/console/sign-in", { credential: "sr_wrong", back: place })
  assert.strictEqual(status, 401)
  assert.strictEqual(backIn(text), place)
})

it("console: an export that was requested leads to its list, because a file replaces no page", async () => {
  assert.strictEqual(
    await landsAt("/console/payments/export?status=failed"),
    "/console/payments?status=failed"
  )
})

it("console: signing in and choosing a theme lead only to pages of the console", async () => {
  const others = [
    "",
    "//evil.example",
    "https://evil.example/console",
    "/\\evil.example",
    "/console/../v1",
    "/console//evil.example"
  ]
  const more = [
    "/consolex",
    "/console@evil.example",
    "/pay/x",
    "/console?a\r\nset-cookie: b=c",
    "/console/%2e%2e/v1",
    "javascript:alert(1)"
  ]
  // Few of them with a key, because sign-ins are limited.
  for (const back of others.slice(0, 4))
    assert.strictEqual(await landsAt(back), "/console", JSON.stringify(back))
  for (const back of [...others, ...more])
    assert.strictEqual(
      await landsAt(back, "/console/theme", { theme: "dark" }),
      "/console",
      JSON.stringify(back)
    )
})

it("console: a page whose address is too long for a proxy's limit of response headers is not returned to", async () => {
  const longest = `/console/search?q=${"x".repeat(2000 - "/console/search?q=".length)}`
  assert.strictEqual(await landsAt(longest, "/console/theme", { theme: "dark" }), longest)
  assert.strictEqual(await landsAt(`${longest}x`, "/console/theme", { theme: "dark" }), "/console")
})

it("console: choosing a theme keeps the page's filters", async () => {
  const place = "/console/payments?status=failed&day=2026-11-29"
  const { text } = await service.send(new Request(origin + place, { headers: { cookie: session } }))
  assert.include(text, "Sign out")
  assert.strictEqual(await landsAt(backIn(text), "/console/theme", { theme: "dark" }), place)
})

it("console: the currency of amounts is chosen among bitcoin and those with an exchange rate, on any page", async () => {
  const place = "/console/payments?status=failed"
  const currencies = "aud,btc,cad,chf,cny,eur,gbp,hkd,jpy,nzd,usd"
  const shown = async (more: string) => {
    const cookie = more === "" ? session : `${session}; ${more}`
    const { text } = await service.send(new Request(origin + place, { headers: { cookie } }))
    const [, select = ""] = /<select[^>]*name="currency"[^>]*>(.*?)<\/select>/s.exec(text) ?? []
    const options = [...select.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value)
    return [
      /1 BTC = [^<]*/.exec(text)?.[0],
      options.join(),
      /<option value="([^"]*)" selected/.exec(select)?.[1]
    ]
  }
  assert.deepStrictEqual(await shown(""), ["1 BTC = €46,000.00", currencies, "eur"])
  const { headers } = await post("/console/theme", { currency: "usd", back: place })
  assert.strictEqual(headers.get("location"), `../${place.slice(1)}`)
  const [chosen = ""] = (headers.get("set-cookie") ?? "").split(";")
  assert.deepStrictEqual(await shown(chosen), ["1 BTC = $50,000.00", currencies, "usd"])
  const inBitcoin = `${session}; satrail_currency=btc`
  assert.deepStrictEqual(await shown("satrail_currency=btc"), [undefined, currencies, "btc"])
  await service.fund(key, 2100)
  for (const path of ["console", "console/payments"])
    assert.include(await service.page(inBitcoin, path), "0.00002100 BTC<", path)
  const { headers: none } = await post("/console/theme", { currency: "€; a=b", back: place })
  assert.isNull(none.get("set-cookie"))
})

it("console: what was typed into a form that was sent without a session is shown again after signing in, and takes effect once", async () => {
  /** The values of a page's fields by name, as a browser sends them. */
  const fieldsOf = (page: string, id = "") => {
    const [, fields = ""] = new RegExp(`<form${id}[^>]*>(.*?)</form>`, "s").exec(page) ?? assert.fail(page)
    const inputs = [...fields.matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
      const [name, value] = ["name", "value"].map((one) =>
        new RegExp(` ${one}="([^"]*)"`).exec(input)?.[1]?.replaceAll("&amp;", "&")
      )
      return name === undefined ? [] : [[name, value ?? ""] as const]
    })
    return Object.fromEntries(inputs)
  }
  const typed = {
    once: "0b61bd1f-4a52-4f4f-9f2c-6a3a3c1e4a11",
    amount: "123",
    currency: "sats",
    description: "Two & “three”"
  }
  const { text: page } = await post("/console/invoices/new", { ...typed, credential: "secret-of-somebody" })
  assert.notInclude(page, "secret-of-somebody")
  const asked = fieldsOf(page, '(?=[^>]*action="../../console/sign-in")')
  const wrong = await post("/console/sign-in", { ...asked, credential: "sr_wrong" })
  assert.strictEqual(wrong.status, 401)
  const entered = await post("/console/sign-in", {
    ...fieldsOf(wrong.text, '(?=[^>]*action="sign-in")'),
    credential: key
  })
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? ""
  assert.include(entered.text, "what you typed is kept.")
  assert.match(entered.text, /action="\.\.\/console\/invoices\/new"/)
  const send = (path: string, form: Readonly<Record<string, string>>) =>
    service.send(
      new Request(`${origin}${path}`, {
        method: "POST",
        headers: {
          cookie,
          "sec-fetch-site": "same-origin",
          "content-type": "application/x-www-form-urlencoded"
        },
        body: String(new URLSearchParams(form))
      })
    )
  const count = async () =>
    (await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice", { key })).body.data.length
  const before = await count()
  const again = await send("/console/invoices/new", fieldsOf(entered.text))
  assert.strictEqual(again.status, 200)
  assert.include(again.text, 'value="123"')
  assert.include(again.text, `name="once" value="${typed.once}"`)
  assert.strictEqual(await count(), before)
  for (let times = 0; times < 2; times++)
    assert.strictEqual((await send("/console/invoices/new", typed)).status, 303)
  assert.strictEqual(await count(), before + 1)
  // The second step of a payment is shown again as its first step, so that nothing is sent without a look.
  const payment = { ...typed, destination: "ann@wallet.example", max_fee_sats: "5", shown_again: "1" }
  const sending = await send("/console/send", payment)
  assert.include(sending.text, 'value="ann@wallet.example"')
  assert.include(sending.text, `name="once" value="${typed.once}"`)
  assert.notInclude(sending.text, "max_fee_sats")
})

it("console: a form that was sent without a session is kept only up to a size, because the page repeats what a stranger sent", async () => {
  const kept = await post("/console/invoices/new", { description: "x".repeat(4000) })
  const large = await post("/console/invoices/new", { description: '"'.repeat(20_000) })
  assert.include(kept.text, "Sign in to continue with what you typed.")
  assert.include(large.text, "Sign in, then try again.")
  assert.isBelow(large.text.length, kept.text.length)
})

it("console: a field that was emptied in a form that was sent without a session is empty after signing in, and a chosen option is chosen", async () => {
  const { id, key } = await service.company()
  const [{ id: keyId }] = (
    await service.ask("GET", `/operator/companies/${id}/api-keys`, { key: operatorToken })
  ).body.data
  await service.ask("PUT", `/operator/companies/${id}/limits`, {
    key: operatorToken,
    body: { hour_sats: 700, day_sats: 900 }
  })
  const shownAgain = async (
    at: string,
    form: Readonly<Record<string, string>>,
    console = "/operator/console",
    credential = operatorToken
  ) => {
    const { text } = await post(`${console}/${at}`, form)
    const entered = await post("/console/sign-in", {
      credential,
      back: backIn(text),
      kept: /name="kept" value="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? ""
    })
    const fields = [...entered.text.matchAll(/name="([^"]*)" value(?:="([^"]*)")?/g)].map(
      ([, name = "", value = ""]) => [name, value] as const
    )
    const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? ""
    const headers = {
      cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded"
    }
    const body = String(new URLSearchParams(Object.fromEntries(fields)))
    return (await service.send(new Request(`${origin}${console}/${at}`, { method: "POST", headers, body })))
      .text
  }
  const valueOf = (page: string, name: string) =>
    / value(?:="([^"]*)")?/.exec(
      new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(page)?.[0] ?? assert.fail(page)
    )?.[1] ?? ""
  const limits = await shownAgain(`companies/${id}/terms`, {
    do: "limits",
    hour_sats: "",
    day_sats: "500",
    recipients: "",
    recipient_types: "lnurl"
  })
  assert.deepStrictEqual(
    ["hour_sats", "day_sats"].map((name) => valueOf(limits, name)),
    ["", "500"]
  )
  assert.match(limits, /value="lnurl" checked/)
  const fees = await shownAgain(`companies/${id}/terms`, {
    do: "fees",
    lightning_base: "3",
    lightning_rate: "1000"
  })
  assert.deepStrictEqual(
    ["lightning_base", "lightning_rate"].map((name) => valueOf(fees, name)),
    ["3", "1000"]
  )
  assert.match(
    await shownAgain(`companies/${id}/terms`, { do: "plan", plan: "free" }),
    /<option value="free" selected/
  )
  // The old key is stolen.
  assert.strictEqual(
    valueOf(await shownAgain(`keys/${keyId}`, { do: "rotate", overlap: "0" }), "overlap"),
    "0"
  )
  const invited = await service.ask("POST", "/operator/people", {
    key: operatorToken,
    body: { company_id: id, name: "Mara", role: "viewer" }
  })
  const member = await shownAgain(
    `people/${invited.body.data.id}`,
    { do: "role", role: "bookkeeper" },
    "/console",
    key
  )
  assert.match(member, /value="bookkeeper" checked/)
})
