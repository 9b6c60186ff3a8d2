import { afterAll, assert, describe, it } from "@effect/vitest"
import { Companies } from "@satrail/core/accounts/Companies"
import { made } from "@satrail/core/ledger/Answer"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { maxTables } from "../src/wire/Sheet.ts"
import { bad, operatorToken, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

type Row = Readonly<Record<string, string>>

/**
 * Parses an export with an independent CSV reader in strict mode: each record has the header's length, and
 * quotes appear only where allowed.
 */
const rowsOf = (text: string): ReadonlyArray<Row> =>
  parse<Row>(text, {
    columns: true,
    relax_column_count: false,
    relax_quotes: false,
    record_delimiter: "\r\n"
  })

const csv = async (key: string, path = "/v1/transactions/export"): Promise<ReadonlyArray<Row>> => {
  const { status, text } = await service.ask("GET", path, { key })
  assert.strictEqual(status, 200, text)
  return rowsOf(text)
}

/** Converts sats to msat. */
const msat = (sats = ""): bigint => {
  const [, sign, whole, fraction = ""] =
    /^(-?)(\d+)(?:\.(\d{1,3}))?$/.exec(sats) ?? assert.fail(`no amount: ${sats}`)
  return BigInt(`${sign}${whole}${fraction.padEnd(3, "0")}`)
}
const sum = (rows: ReadonlyArray<Row>, column: string) =>
  rows.reduce((total, row) => total + msat(row[column]), 0n)

const invoice = async (key: string, body: object) => {
  const { body: answer } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
    key,
    body: { amount: 1000, currency: "sats", ...body }
  })
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: answer.data.payment_request }))
  await service.work()
}
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
const withdraw = async (key: string, amount: number, metadata: object = {}) => {
  await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key,
    body: { amount, currency: "sats", destination, metadata }
  })
  await service.work()
}
const posted = async (id: string): Promise<number> =>
  (await service.ask("GET", `/operator/companies/${id}`, { key: operatorToken })).body.data.posted_sats

/** A company with a deposit and a withdrawal. */
const busy = async () => {
  const company = await service.company("free")
  await invoice(company.key, { amount: 50_000, metadata: { order: "1042", customer: 'Ann "A", Ltd' } })
  await withdraw(company.key, 1234, { order: "line\r\nbreak" })
  return company
}

describe("exports", () => {
  it("export: each line has the record's amount, fees and balance, and the lines add up to the ledger's balance to the msat", async () => {
    const { id, key } = await busy()
    const [opening, ...more] = await csv(key)
    const [closing, ...rows] = more.toReversed()
    assert.deepStrictEqual(
      [opening?.["type"], opening?.["balance_sats"], closing?.["type"]],
      ["opening", "0", "closing"]
    )
    assert.deepStrictEqual(
      rows.map(({ type, amount_sats, fiat_rate, fiat_amount, fiat_currency }) => [
        type,
        amount_sats,
        fiat_rate,
        fiat_amount,
        fiat_currency
      ]),
      [
        ["withdrawal", "-1234", "", "", ""],
        ["deposit", "50000", "", "", ""]
      ]
    )
    const [paid] = rows
    assert.isTrue(msat(paid?.["service_fee_sats"]) < 0n && msat(paid?.["network_fee_sats"]) < 0n)
    assert.strictEqual(
      sum(rows, "total_sats"),
      sum(rows, "amount_sats") + sum(rows, "service_fee_sats") + sum(rows, "network_fee_sats")
    )
    assert.strictEqual(sum(rows, "total_sats"), msat(closing?.["balance_sats"]))
    assert.strictEqual(Number(closing?.["balance_sats"]), await posted(id))
    assert.strictEqual(paid?.["balance_sats"], closing?.["balance_sats"])
  })

  it("export: one column has all metadata, and each requested metadata key has its own column", async () => {
    const { key } = await busy()
    const [, deposit, paid] = await csv(key, "/v1/transactions/export?metadata_keys=order,customer,order")
    assert.deepStrictEqual(
      [deposit?.["metadata.order"], deposit?.["metadata.customer"]],
      ["1042", 'Ann "A", Ltd']
    )
    assert.deepStrictEqual([paid?.["metadata.order"], paid?.["metadata.customer"]], ["line\r\nbreak", ""])
    assert.deepStrictEqual(JSON.parse(paid?.["metadata"] ?? ""), { order: "line\r\nbreak" })
  })

  it("export: a spreadsheet does not run any text as a formula, and still reads numbers as numbers", async () => {
    const { key } = await service.company("paid")
    const formulas = [
      "=1+1",
      "+1",
      "-1",
      "@SUM(1)",
      "\t=1",
      "\r=1",
      "\n=1",
      "＝1+1",
      "＋1",
      "－1",
      "＠SUM(1)",
      "|calc",
      '=HYPERLINK("https://evil.example")'
    ]
    for (const [n, formula] of formulas.entries())
      await invoice(key, { amount: 1000 + n, metadata: { note: formula } })
    await withdraw(key, 5)
    const rows = await csv(key, "/v1/transactions/export?metadata_keys=note")
    const notes = rows.slice(1, formulas.length + 1).map((row) => row["metadata.note"])
    assert.deepStrictEqual(
      notes,
      formulas.map((formula) => `'${formula.replace(/(?<=\s)=/, "'=")}`)
    )
    for (const row of rows)
      for (const [name, cell] of Object.entries(row)) {
        if (name.endsWith("_sats")) assert.match(cell, /^(-?\d+(\.\d{1,3})?)?$/)
        else assert.notMatch(cell, /^[=+\-@|＝＋－＠\t\r\n]/, name)
      }
  })

  it("export: a spreadsheet that separates cells by semicolons, tabs or lines alone does not run any text as a formula", async () => {
    const { key } = await service.company("paid")
    const formulas = ["=1+1", "+1", "-1", "@SUM(1)", "|calc", "＝1+1", '"=1+1', '""=1+1']
    const texts = [";", "\t", "\n", "\r\n"].flatMap((separator) =>
      formulas.map((formula) => `a${separator}${formula}${separator}b`)
    )
    for (const [n, note] of texts.entries()) await invoice(key, { amount: 1000 + n, metadata: { note } })
    const path = "/v1/transactions/export?metadata_keys=note"
    const { text } = await service.ask("GET", path, { key })
    for (const cell of text.split(/[;\t\r\n]/)) assert.notMatch(cell, /^"*[=+\-@|＝＋－＠]/)
    const rows = await csv(key, path)
    assert.deepStrictEqual(
      rows.slice(1, -1).map(({ metadata }) => JSON.parse(metadata ?? "")),
      texts.map((note) => ({ note }))
    )
  })

  it("export: the fiat amount of a checkout has its currency's decimals, as the checkout was priced", async () => {
    const { key } = await service.company("free")
    for (const [amount, currency] of [
      [1250, "jpy"],
      [12.5, "usd"]
    ] as const) {
      const { payment_request: paymentRequest } = (
        await service.ask("POST", "/v1/checkouts", { key, body: { amount, currency } })
      ).body.data
      await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
      await service.work()
    }
    const deposits = (await csv(key)).filter(({ type }) => type === "deposit")
    assert.deepStrictEqual(
      deposits.map(({ fiat_amount, fiat_currency }) => [fiat_amount, fiat_currency]),
      [
        ["1250", "JPY"],
        ["12.50", "USD"]
      ]
    )
  })

  it("export: a JSON Lines export has the same content as the CSV export, one object per line", async () => {
    const { key } = await busy()
    const { text, headers } = await service.ask("GET", "/v1/transactions/export?format=jsonl", { key })
    assert.strictEqual(headers.get("content-type"), "application/x-ndjson")
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    const rows = await csv(key)
    assert.lengthOf(lines, rows.length)
    for (const [n, line] of lines.entries())
      for (const [name, value] of Object.entries(line).filter(
        ([name]) => name !== "metadata" && !(name === "booked_at" && n === rows.length - 1)
      ))
        assert.strictEqual(value === null ? "" : String(value), rows[n]?.[name], `${n} ${name}`)
    assert.deepStrictEqual(lines[1]?.["metadata"], { order: "1042", customer: 'Ann "A", Ltd' })
  })

  it("export: a payment requested in fiat has its currency, value, rate and the source of the rate", async () => {
    const { key } = await service.company("paid")
    await invoice(key, { amount: 10, currency: "usd" })
    const { body } = await service.ask("POST", "/v1/checkouts", {
      key,
      body: { amount: 10, currency: "eur" }
    })
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: body.data.payment_request }))
    await service.work()
    await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
      key,
      body: { amount: 1, currency: "usd", destination }
    })
    await service.work()
    const [, asked, checkout, sent] = await csv(key)
    const list = (await service.ask("GET", "/v1/bitcoin/deposit/lightning-invoice", { key })).body.data
    const one = (await service.ask("GET", `/v1/transactions/withdrawals/${sent?.["id"]}`, { key })).body.data
    assert.deepStrictEqual(
      [...list, one].map(({ fiat }) => [fiat.currency, fiat.amount, fiat.rate, fiat.source]),
      [
        ["eur", "10.00", "46000", "simulated"],
        ["usd", "10.00", "50000", "simulated"],
        ["usd", "1.00", "50000", "simulated"]
      ]
    )
    assert.strictEqual(one.fiat.rate_at, sent?.["fiat_rate_at"])
    assert.deepStrictEqual(
      [sent?.["type"], sent?.["fiat_amount"], sent?.["fiat_currency"]],
      ["withdrawal", "-1.00", "USD"]
    )
    assert.match(asked?.["fiat_rate"] ?? "", /^\d+(\.\d+)?$/)
    assert.deepStrictEqual(
      [asked?.["fiat_amount"], asked?.["fiat_currency"], asked?.["fiat_rate_source"]],
      ["10.00", "USD", "simulated"]
    )
    assert.deepStrictEqual(
      [checkout?.["fiat_amount"], checkout?.["fiat_currency"], checkout?.["checkout_id"]],
      ["10.00", "EUR", body.data.id]
    )
    assert.isAtMost(Date.parse(asked?.["fiat_rate_at"] ?? ""), Date.parse(asked?.["booked_at"] ?? ""))
  })

  it("export: each adjustment, whether a credit or a debit, is a line of type adjustment and appears in the statement", async () => {
    const { id, key } = await service.company("paid")
    await invoice(key, { amount: 50_000 })
    const issued = await service.ask("POST", "/operator/tokens", {
      key: operatorToken,
      body: { name: "another", scopes: ["mend"] }
    })
    const book = async (amount_sats: number) => {
      const body = { company_id: id, amount_sats, reason: "counted again" }
      const asked = await service.ask("POST", "/operator/adjustments", { key: operatorToken, body })
      const path = `/operator/adjustments/${asked.body.data.id}/approve`
      assert.strictEqual(
        (await service.ask("POST", path, { key: issued.body.data.token })).body.data.status,
        "booked"
      )
    }
    await book(30.5)
    await book(-1000)
    // Entries posted in the current millisecond belong to the next period.
    const rows = await csv(
      key,
      `/v1/transactions/export?until=${new Date(Date.now() + 60_000).toISOString()}`
    )
    assert.deepStrictEqual(
      rows.map(({ type, amount_sats, total_sats, balance_sats }) => [
        type,
        amount_sats,
        total_sats,
        balance_sats
      ]),
      [
        ["opening", "", "", "0"],
        ["deposit", "50000", "50000", "50000"],
        ["adjustment", "30.5", "30.5", "50030.5"],
        ["adjustment", "-1000", "-1000", "49030.5"],
        ["closing", "", "", "49030.5"]
      ]
    )
    const { data } = (
      await service.ask("GET", `/v1/statements/${new Date().toISOString().slice(0, 7)}`, { key })
    ).body
    assert.deepInclude(data, {
      deposits: 1,
      deposits_sats: 50_000,
      credits_sats: 30.5,
      in_sats: 50_030.5,
      debits_sats: 1000,
      out_sats: 1000
    })
    assert.strictEqual(data.closing_sats, 49_030.5)
  })

  it("export: a period begins with its opening balance, and excludes entries at its end time", async () => {
    const { key } = await busy()
    const [, deposit, paid] = await csv(key)
    const from = encodeURIComponent(paid?.["booked_at"] ?? "")
    const later = await csv(key, `/v1/transactions/export?from=${from}`)
    const before = await csv(key, `/v1/transactions/export?until=${from}`)
    assert.notStrictEqual(paid?.["booked_at"], deposit?.["booked_at"])
    assert.deepStrictEqual(
      [later.map(({ type }) => type), before.map(({ type }) => type)],
      [
        ["opening", "withdrawal", "closing"],
        ["opening", "deposit", "closing"]
      ]
    )
    assert.strictEqual(later[0]?.["balance_sats"], before.at(-1)?.["balance_sats"])
  })

  it("export: the closing line of a period that has not ended has the time of the export, from which the next period continues", async () => {
    const { key } = await busy()
    const started = Date.now()
    const month = await csv(
      key,
      `/v1/transactions/export?until=${new Date(started + 86_400_000).toISOString()}`
    )
    const closing = month.at(-1)
    assert.strictEqual(closing?.["type"], "closing")
    const closedMillis = Date.parse(closing?.["booked_at"] ?? "")
    assert.isAtLeast(closedMillis, started)
    assert.isAtMost(closedMillis, Date.now() + 1)
    await invoice(key, { amount: 700 })
    const next = await csv(key, `/v1/transactions/export?from=${closing?.["booked_at"]}`)
    assert.strictEqual(next[0]?.["balance_sats"], closing?.["balance_sats"])
  })

  it("export: an invalid parameter is rejected, and the error names the parameter", async () => {
    const { key } = await service.company("paid", "read")
    for (const [query, path] of [
      ["format=xls", "format"],
      ["from=yesterday", "from"],
      ["from=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z", "until"],
      ["metadata_keys=a,,b", "metadata_keys"]
    ]) {
      const answer = await service.ask("GET", `/v1/transactions/export?${query}`, { key })
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"), query)
      assert.strictEqual(answer.body.error?.issues?.[0]?.path, path)
    }
    const receiver = await service.company("paid", "receive")
    assert.strictEqual(
      (await service.ask("GET", "/v1/transactions/export", { key: receiver.key })).status,
      403
    )
  })

  it("export: an operator can export one company or all companies, one after the other; a company cannot use the operator's exports", async () => {
    const [one, other] = [await busy(), await busy()]
    const all = await csv(operatorToken, "/operator/transactions/export")
    for (const { id, key } of [one, other]) {
      const ours = all.filter(({ company_id }) => company_id === id)
      const own = await csv(key)
      assert.deepStrictEqual(ours.slice(0, -1), own.slice(0, -1))
      assert.strictEqual(all.indexOf(ours[0] ?? {}) + ours.length - 1, all.indexOf(ours.at(-1) ?? {}))
      const looked = await csv(operatorToken, `/operator/companies/${id}/transactions/export`)
      assert.deepStrictEqual(looked.slice(0, -1), own.slice(0, -1))
    }
    assert.strictEqual(
      (await service.ask("GET", "/operator/transactions/export", { key: one.key })).status,
      401
    )
    assert.isTrue((await csv(one.key)).every(({ company_id }) => company_id === one.id))
  })

  it("export: the number of concurrent exports is limited, and an export frees its slot when it finishes or its client disconnects", async () => {
    const { key } = await busy()
    const asked = () =>
      service.handler(
        new Request("http://service/v1/transactions/export", { headers: { authorization: `Bearer ${key}` } })
      )
    const open = await Promise.all(Array.from({ length: maxTables.each }, asked))
    assert.deepStrictEqual(
      open.map(({ status }) => status),
      open.map(() => 200)
    )
    const refused = await service.ask("GET", "/v1/transactions/export", { key })
    assert.deepStrictEqual(seen(refused), bad(503, "overloaded"))
    await open[0]?.body?.cancel()
    await open[1]?.text()
    for (let i = 0; i < 5; i++) await csv(key)
  })

  it("export: companies that take several slots each leave slots for companies that have none", async () => {
    const companies = await Promise.all(
      Array.from({ length: maxTables.all / maxTables.each }, () => service.company("paid", "read"))
    )
    const open = []
    for (const { key } of [...companies, ...companies])
      open.push(
        await service.handler(
          new Request("http://service/v1/transactions/export", {
            headers: { authorization: `Bearer ${key}` }
          })
        )
      )
    const { key } = await service.company("paid", "read")
    const { status } = await service.ask("GET", "/v1/transactions/export", { key })
    for (const { body } of open) await body?.cancel()
    assert.strictEqual(status, 200)
  })
})

describe("statements", () => {
  const month = new Date().toISOString().slice(0, 7)

  it("statement: the parts of a statement add up to the ledger's totals, to the msat", async () => {
    const { id, key } = await busy()
    const { body, headers } = await service.ask("GET", `/v1/statements/${month}`, { key })
    const { data } = body
    const of = (name: string) => BigInt(Math.round(data[name] * 1000))
    assert.strictEqual(headers.get("content-type"), "application/json")
    assert.strictEqual(
      of("opening_sats") + of("in_sats") - of("out_sats") - of("fees_sats"),
      of("closing_sats")
    )
    assert.strictEqual(of("fees_sats"), of("service_fees_sats") + of("network_fees_sats"))
    assert.deepInclude(data, {
      deposits: 1,
      deposits_sats: 50_000,
      withdrawals: 1,
      withdrawals_sats: 1234,
      is_final: false
    })
    assert.strictEqual(data.closing_sats, await posted(id))
    const looked = await service.ask("GET", `/operator/companies/${id}/statements/${month}`, {
      key: operatorToken
    })
    assert.deepStrictEqual(looked.body.data, data)
  })

  it("statement: a month before the first entry is empty and final; a future or invalid month is rejected, and the error names the parameter", async () => {
    const { key } = await service.company("paid", "read")
    const { body } = await service.ask("GET", "/v1/statements/2020-02", { key })
    assert.deepInclude(body.data, {
      opening_sats: 0,
      closing_sats: 0,
      is_final: true,
      to: "2020-03-01T00:00:00.000Z"
    })
    for (const text of ["2999-01", "2026-13", "may"]) {
      const answer = await service.ask("GET", `/v1/statements/${text}`, { key })
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"), text)
      assert.strictEqual(answer.body.error?.issues?.[0]?.path, "month")
    }
  })

  it("statement: browsers get a page by default, and the page runs no scripts, loads nothing and escapes text from payers", async () => {
    const opened = await service.run(
      Effect.flatMap(Companies, ({ open }) =>
        Effect.flatMap(open({ name: '<script>alert("1")</script>', plan: "free" }), made)
      )
    )
    const key = await service.keyFor(opened.id, "admin")
    await invoice(key, { amount: 1_234_567 })
    const asked = await service.ask("GET", `/v1/statements/${month}?format=html`, { key })
    assert.strictEqual(asked.headers.get("content-type"), "text/html; charset=utf-8")
    const [, style = ""] = /<style>([^]*?)<\/style>/.exec(asked.text) ?? []
    const hash = createHash("sha256").update(style).digest("base64")
    assert.strictEqual(
      asked.headers.get("content-security-policy"),
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    )
    assert.notInclude(asked.text, "<script")
    assert.include(asked.text, "&lt;script>alert(&quot;1&quot;)&lt;/script>")
    assert.include(asked.text, "1,234,567")
    assert.include(asked.text, "not closed yet")
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for (const [accept, query, isPage] of [
      [browser, "", true],
      [browser, "?format=json", false],
      ["application/json, text/html", "", false],
      ["*/*", "", false]
    ] as const) {
      const answer = await service.ask("GET", `/v1/statements/${month}${query}`, { key, headers: { accept } })
      assert.strictEqual(answer.headers.get("content-type")?.startsWith("text/html"), isPage, accept)
    }
  })
})

describe("the audit log as a file", () => {
  it("audit: the whole log can be exported as CSV or JSON Lines; filters apply, and other companies' entries are left out", async () => {
    const { key } = await busy()
    for (let i = 0; i < 3; i++)
      await service.ask("POST", "/v1/vouchers", { key, body: { amount: 10, currency: "sats" } })
    await service.run(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }))
    const page = (await service.ask("GET", "/v1/audit", { key })).body.data
    const rows = await csv(key, "/v1/audit?format=csv")
    const asTexts = (row: object) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value === null ? "" : Array.isArray(value) ? JSON.stringify(value) : String(value)
        ])
      )
    assert.deepStrictEqual(rows, page.map(asTexts))
    const lines = await service.ask("GET", "/v1/audit?format=jsonl&verb=vouchers.createVoucher", { key })
    const vouchers = page.filter(({ verb }: { readonly verb: string }) => verb === "vouchers.createVoucher")
    assert.lengthOf(vouchers, 3)
    assert.deepStrictEqual(
      lines.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      vouchers
    )
    const all = await csv(operatorToken, "/operator/audit?format=csv")
    assert.isAbove(all.length, rows.length)
    assert.property(all[0], "head")
    const mixed = await service.ask("GET", "/v1/audit?format=csv&limit=10", { key })
    assert.deepStrictEqual(seen(mixed), bad(400, "malformed"))
  })
})
