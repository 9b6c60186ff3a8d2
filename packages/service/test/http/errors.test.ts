import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Policy from "@satrail/core/service/Policy"
import { Transactions } from "@satrail/core/reports/Transactions"
import * as Satrail from "../../src/core/Satrail.ts"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Memory from "../../src/memory/Memory.ts"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { answerTo } from "@satrail/testing/answerTo"
import { Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { Api } from "../../src/http/Api.ts"
import { OperatorToken } from "@satrail/http/api/Authentication"
import type * as Errors from "@satrail/http/wire/Errors"
import { catalogue } from "../../src/http/pages/Catalogue.ts"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Http from "../../src/http/Http.ts"
import * as Reference from "../../../../scripts/reference/Api.ts"
import { bad, domain, issuePaths, operatorToken, seen, start } from "../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
await service.fund(company.key, 100_000)
const confirm = (body: unknown, key = company.key) =>
  service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })
const estimate = (body: unknown) =>
  service.ask("POST", "/v1/bitcoin/withdraw/estimate", { key: company.key, body })
const sandbox = service.sandbox
const invoiceFor = async (sats: number, key = company.key) =>
  (
    await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: sats, currency: "sats" }
    })
  ).body.data.payment_request as string

// BOLT 11, "Examples": coffee for 2500 µBTC.
const mainnetInvoice =
  "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"

const sats = (destination: string, amount: number) => ({ destination, amount, currency: "sats" })
const outside = async (ask: Parameters<Sandbox.Sandbox["Service"]["destination"]>[0]) =>
  (await sandbox((one) => one.destination(ask))).destination

/** Reasons for refusing a destination. */
const destinations: Record<string, { readonly code: Errors.Code; readonly body: () => Promise<unknown> }> = {
  "an invoice of another network": {
    code: "wrong_network",
    body: async () => ({ destination: mainnetInvoice })
  },
  "an address of another network": {
    code: "wrong_network",
    body: async () => sats("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", 1000)
  },
  "a BOLT 12 invoice": {
    code: "unsupported",
    body: async () => sats("lni1qgsqvgnwgcg35z6ee2h3yczraddm72xrfua9uve2rlrm9deu7xyfzrc", 1)
  },
  "less than the amount of a BOLT 12 offer": {
    code: "amount_mismatch",
    body: async () => sats(await outside({ type: "bolt12_offer", amount: service.sats(100) }), 99)
  },
  "an amount other than the invoice's": {
    code: "amount_mismatch",
    body: async () => sats(await outside({ type: "lightning_invoice", amount: service.sats(100) }), 101)
  },
  "a missing amount": { code: "amount_required", body: async () => ({ destination: "a@wallet.example" }) },
  dust: { code: "dust", body: async () => sats(await outside({ type: "chain_address" }), 100) },
  "less than the recipient's minimum": {
    code: "amount_out_of_range",
    body: async () => sats(await outside({ type: "lightning_address", amount: service.sats(100) }), 99)
  },
  "an expired invoice": {
    code: "invoice_expired",
    body: async () => ({
      destination: await outside({ type: "lightning_invoice", amount: service.sats(100), expirySeconds: 1 })
    })
  },
  "an unknown address of this service": {
    code: "recipient_not_found",
    body: async () => sats("nobody@pay.example.com", 100)
  },
  "an unknown address of another service": {
    code: "recipient_refused",
    body: async () => sats("nobody@wallet.example", 100)
  },
  "a paid invoice of this service": {
    code: "invoice_not_payable",
    body: async () => {
      const destination = await invoiceFor(100)
      await sandbox((one) => one.pay({ paymentRequest: destination }))
      await service.work()
      return { destination }
    }
  },
  "an invoice paid by another withdrawal": {
    code: "payment_hash_used",
    body: async () => {
      const destination = await outside({
        type: "lightning_invoice",
        amount: service.sats(100),
        behaviour: "hold"
      })
      assert.strictEqual((await confirm({ destination })).status, 201)
      await service.work()
      return { destination }
    }
  },
  "an invalid text": { code: "malformed", body: async () => sats("nonsense", 1) },
  "an invoice with a typo": {
    code: "malformed",
    body: async () => ({ destination: mainnetInvoice.replace("lnbc2500u", "lnbc2501u") })
  }
}

describe("estimate and confirm reject an unpayable destination the same way, and hold nothing", () => {
  for (const [what, { code, body: make }] of Object.entries(destinations)) {
    const status = code === "malformed" ? 400 : 422
    it(`destination: ${what}: both estimate and confirm return ${status} ${code}`, async () => {
      const body = await make()
      const balance = () =>
        service.ask("GET", "/v1/transactions/balance", { key: company.key }).then(({ body }) => body.data)
      const before = await balance()
      for (const answer of [await estimate(body), await confirm(body)]) {
        assert.deepStrictEqual(
          [answer.status, answer.body.status, answer.body.data, answer.body.error?.code],
          [status, status, null, code],
          answer.text
        )
        if (code === "malformed") assert.deepStrictEqual(issuePaths(answer.body), ["destination"])
      }
      assert.deepStrictEqual(await balance(), before)
    })
  }
})

describe("estimates that query a recipient's server", () => {
  const perMinute = (count: number) => ({ count, everyMillis: 60_000 / count })
  const limited = (perCompany: number, perHost: number) =>
    start({ settings: { estimates: { perCompany: perMinute(perCompany), perHost: perMinute(perHost) } } })

  it("estimate: above a company's limit per minute, the response is 429 with Retry-After and the recipient's server is not contacted; other companies are unaffected", async () => {
    const few = await limited(3, 100)
    const [{ key }, other] = [await few.company("paid", "read"), await few.company("paid", "read")]
    const { destination } = await few.sandbox((one) => one.destination({ type: "lightning_address" }))
    const ask = (key: string, to: string) =>
      few.ask("POST", "/v1/bitcoin/withdraw/estimate", {
        key,
        body: { destination: to, amount: 100, currency: "sats" }
      })
    for (let i = 0; i < 3; i++) assert.strictEqual((await ask(key, destination)).status, 200)
    // If the payee's server were contacted now, it would be unreachable.
    await few.sandbox((one) => one.pause("web"))
    const refused = await ask(key, destination)
    assert.deepStrictEqual(seen(refused), bad(429, "rate_limited"))
    assert.strictEqual(refused.headers.get("retry-after"), "1")
    assert.include(refused.body.message, "3 estimates per minute per company")
    await few.sandbox((one) => one.resume("web"))
    assert.strictEqual((await ask(other.key, destination)).status, 200)
    // Estimates that contact no server are not limited.
    const { destination: chain } = await few.sandbox((one) => one.destination({ type: "chain_address" }))
    for (let i = 0; i < 5; i++) assert.strictEqual((await ask(key, chain)).body.error?.code, "dust")
    await few.dispose()
  })

  it("estimate: all companies together may send a host a limited number of requests per minute; other hosts are unaffected", async () => {
    const few = await limited(100, 2)
    const { destination } = await few.sandbox((one) => one.destination({ type: "lightning_address" }))
    const ask = async (to: string) => {
      const { key } = await few.company("paid", "read")
      return few.ask("POST", "/v1/bitcoin/withdraw/estimate", {
        key,
        body: { destination: to, amount: 100, currency: "sats" }
      })
    }
    for (let i = 0; i < 2; i++) assert.strictEqual((await ask(destination)).status, 200)
    const refused = await ask(destination)
    assert.deepStrictEqual(seen(refused), bad(429, "rate_limited"))
    assert.include(refused.body.message, "2 estimates per minute for this payee's server")
    assert.notStrictEqual((await ask("a@other.example")).status, 429)
    await few.dispose()
  })
})

describe("an outage is reported as 503 with Retry-After, and the service recovers without intervention", () => {
  const outages: Record<
    string,
    readonly [
      part: "node" | "chain" | "web",
      ask: () => Promise<Awaited<ReturnType<typeof service.ask>>>,
      code: Errors.Code
    ]
  > = {
    "the Lightning node": [
      "node",
      () =>
        service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
          key: company.key,
          body: { amount: 1, currency: "sats" }
        }),
      "node_unavailable"
    ],
    "the chain": [
      "chain",
      () => service.ask("POST", "/v1/bitcoin/deposit/on-chain", { key: company.key }),
      "chain_unavailable"
    ],
    "the recipient": [
      "web",
      () => estimate({ destination: "a@wallet.example", amount: 100, currency: "sats" }),
      "recipient_unreachable"
    ]
  }
  for (const [what, [part, ask, code]] of Object.entries(outages)) {
    it(`outage: ${what}: the response is 503 ${code} with Retry-After, and the service recovers without intervention`, async () => {
      await sandbox((one) => one.pause(part))
      const { status, headers, body, text } = await ask().finally(() => sandbox((one) => one.resume(part)))
      assert.deepStrictEqual([status, body.error?.code, headers.get("retry-after")], [503, code, "1"])
      assert.notMatch(text, /Error|cause|stack| at /)
      assert.notStrictEqual((await ask()).status, 503)
    })
  }
})

/** A service in which every request for a balance has this result. */
const broken = (balance: Transactions["Service"]["balance"], http = {}) => {
  const never = () => Effect.die("not called in this test")
  return start({
    http,
    instead: Context.make(
      Transactions,
      Transactions.of({ balance, deposit: never, callback: never, withdrawal: never, list: never })
    )
  })
}

describe("unexpected errors", () => {
  it("C56: errors: a crash returns 500 with a reference and no details, and the log has the reference and the cause", async () => {
    const crashing = await broken(() => Effect.die(new Error("secret detail at 10.0.0.1")))
    const { key } = await crashing.company()
    const { status, body, text } = await crashing.ask("GET", "/v1/transactions/balance?", { key })
    assert.deepStrictEqual([status, body.status, body.data, body.error?.code], [500, 500, null, "internal"])
    assert.notInclude(text, "secret")
    const reference = /Reference: ([0-9a-f]{32})$/.exec(body.message)?.[1] ?? "none"
    const logged = crashing.logged.filter((line) => line.includes(reference))
    assert.lengthOf(logged, 1)
    assert.include(logged[0], "/v1/transactions/balance")
    assert.notInclude(crashing.logged.join(), key)
    await crashing.dispose()
  })

  it("errors: an unavailable store returns 503 store_unavailable", async () => {
    const away = await broken(() =>
      Effect.fail(new StoreUnavailable({ operation: "balance", cause: new Error("ECONNREFUSED 10.0.0.1") }))
    )
    const { key } = await away.company()
    const { status, headers, body, text } = await away.ask("GET", "/v1/transactions/balance", { key })
    assert.deepStrictEqual(
      [status, body.error?.code, headers.get("retry-after")],
      [503, "store_unavailable", "1"]
    )
    assert.notInclude(text, "10.0.0.1")
    assert.isTrue(
      away.logged.some((line) => line.includes("StoreUnavailable")),
      "the cause is logged"
    )
    await away.dispose()
  })

  it("errors: an outage with a known reason is logged in one line, with what failed, the reason and the remedy, without the cause", async () => {
    const words = { reason: "the database denies a privilege", remedy: "Run `satrail migrate`." }
    const outage = { operation: "balance", cause: new Error("ECONNREFUSED 10.0.0.1"), ...words }
    const away = await broken(() => Effect.fail(new StoreUnavailable(outage)))
    const { key } = await away.company()
    await away.ask("GET", "/v1/transactions/balance", { key })
    const lines = away.logged.filter((line) => line.includes("answered 503"))
    assert.lengthOf(lines, 1)
    assert.include(
      lines[0],
      "request: answered 503: balance: the database denies a privilege. Run `satrail migrate`."
    )
    assert.notInclude(lines[0], "ECONNREFUSED")
    await away.dispose()
  })

  it("errors: an overloaded store returns 503 overloaded, and does not log a line for each request", async () => {
    const busy = await broken(() =>
      Effect.fail(new StoreUnavailable({ operation: "balance", why: "overloaded", cause: new Error("full") }))
    )
    const { key } = await busy.company()
    const { status, headers, body } = await busy.ask("GET", "/v1/transactions/balance", { key })
    assert.deepStrictEqual([status, body.error?.code, headers.get("retry-after")], [503, "overloaded", "1"])
    assert.isFalse(busy.logged.some((line) => line.includes("StoreUnavailable")))
    await busy.dispose()
  })

  it("errors: if a client disconnects, the work for its request stops", async () => {
    const ended = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const slow = await broken(() =>
      Effect.sync(begun.resolve).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Effect.sync(ended.resolve))
      )
    )
    const { key } = await slow.company()
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${key}` }
    const answer = slow.send(
      new Request("http://service/v1/transactions/balance", { signal: leaving.signal, headers })
    )
    await begun.promise
    leaving.abort()
    await ended.promise
    assert.strictEqual((await answer).status, 499)
    await slow.dispose()
  })

  it("C5: withdrawal: if a client disconnects after the funds are held, the payment is still sent exactly once", async () => {
    const held = Promise.withResolvers<void>()
    let confirm: Withdrawals["Service"]["confirm"] = () => Effect.die("not begun")
    const instead = Withdrawals.of({
      estimate: () => Effect.die("not called in this test"),
      confirmed: () => undefined,
      handOver: () => Effect.void,
      confirm: (ask) =>
        Effect.tap(confirm(ask), () => Effect.andThen(Effect.sync(held.resolve), Effect.never))
    })
    const left = await start({ instead: Context.make(Withdrawals, instead) })
    confirm = (await left.run(Withdrawals)).confirm
    const { key } = await left.company()
    await left.fund(key, 5000)
    const { destination, paymentHash = PaymentHash.make("") } = await left.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: left.sats(1000), behaviour: "hold" })
    )
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const body = JSON.stringify({ destination })
    const request = { method: "POST", signal: leaving.signal, headers, body }
    const answer = left.send(new Request("http://service/v1/bitcoin/withdraw/confirm", request))
    await held.promise
    leaving.abort()
    assert.strictEqual((await answer).status, 499)
    const statuses = async () => {
      await left.work()
      const { body } = await left.ask("GET", "/v1/transactions?type=withdrawal", { key })
      return body.data.map(({ status }: { readonly status: string }) => status)
    }
    assert.deepStrictEqual(await statuses(), ["pending"])
    await left.sandbox((sandbox) => sandbox.release({ paymentHash, outcome: "settle" }))
    assert.deepStrictEqual(await statuses(), ["settled"])
    const payments = await left.sandbox(({ payments }) => payments)
    assert.deepStrictEqual(
      payments.filter((one) => one.paymentHash === paymentHash).map(({ times }) => times),
      [1]
    )
    await left.dispose()
  })

  it("errors: a request interrupted by a shutdown returns 503 stopping", async () => {
    // A server that stops interrupts its remaining requests, although no client has disconnected.
    const stopped = await broken(() => Effect.interrupt)
    const { key } = await stopped.company()
    const answer = await stopped.ask("GET", "/v1/transactions/balance", { key })
    assert.deepStrictEqual(seen(answer), bad(503, "stopping"))
    assert.strictEqual(answer.headers.get("retry-after"), "1")
    await stopped.dispose()
  })

  it("errors: a request that exceeds the time limit returns 503 timeout, and its work stops", async () => {
    const ended = Promise.withResolvers<void>()
    const never = () => Effect.onInterrupt(Effect.never, () => Effect.sync(ended.resolve))
    const withdrawals = Withdrawals.of({
      estimate: never,
      confirm: never,
      confirmed: () => undefined,
      handOver: () => Effect.void
    })
    const slow = await start({ http: { timeoutMillis: 20 }, instead: Context.make(Withdrawals, withdrawals) })
    const { key } = await slow.company()
    const body = { destination: "a@wallet.example", amount: 1, currency: "sats" }
    const answer = await slow.ask("POST", "/v1/bitcoin/withdraw/estimate", { key, body })
    assert.deepStrictEqual(
      [answer.status, answer.body.error?.code, answer.headers.get("retry-after")],
      [503, "timeout", "1"]
    )
    await ended.promise
    await slow.dispose()
  })

  it("errors: a body that stalls, even of a GET, returns 503 timeout, and the connection closes after the response", async () => {
    const server = ManagedRuntime.make(
      HttpRouter.serve(Http.layer({ timeoutMillis: 50 }), {
        disableLogger: true,
        disableListenLog: true
      }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
        Layer.provide(
          Layer.merge(
            Layer.succeed(OperatorToken, Redacted.make(operatorToken)),
            Layer.succeed(Readiness, [])
          )
        ),
        Layer.provide(Satrail.layer({ ...Policy.defaults, network: "regtest", domain })),
        Layer.provide(
          Layer.mergeAll(
            Memory.layer,
            FixedRates.layer(),
            Sandbox.layer({ seed: "stall", network: "regtest" })
          )
        )
      )
    )
    const { address } = await server.runPromise(HttpServer.HttpServer)
    const port = "port" in address ? address.port : assert.fail("no port")
    for (const line of ["POST /operator/companies", "GET /healthz"]) {
      const text = await answerTo(
        port,
        `${line} HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer ${operatorToken}\r\n` +
          "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
      )
      const [head = "", body = ""] = text.split("\r\n\r\n")
      assert.match(head, /^HTTP\/1\.1 503 /)
      assert.match(head, /^connection: close$/im)
      assert.match(head, /^retry-after: 1$/im)
      const { status, data, error } = JSON.parse(body)
      assert.deepStrictEqual([status, data, error.code], [503, null, "timeout"])
    }
    await server.dispose()
  })
})

describe("the table of errors", () => {
  it("errors: every code is snake_case, with a status, a meaning and a remedy", () => {
    for (const [code, { status, meaning, remedy }] of Object.entries(catalogue)) {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/)
      assert.isTrue(status >= 400 && status < 600)
      assert.match(meaning, /\.$/)
      assert.match(remedy, /\.$/)
    }
  })

  it("errors: the reference page has every code", () => {
    const page = Reference.errors()
    for (const [code, { status }] of Object.entries(catalogue))
      assert.include(page, `| \`${code}\` | ${status} |`)
  })

  it("errors: the endpoints page shows what each endpoint requires", () => {
    const page = Reference.endpoints(Api)
    assert.include(
      page,
      "| `POST /v1/bitcoin/withdraw/estimate` | Estimate a withdrawal | `read` or `send` |"
    )
    assert.include(
      page,
      "| `POST /v1/bitcoin/send/confirm` | Send bitcoin (alias of `/v1/bitcoin/withdraw/confirm`) | `send` |"
    )
    assert.include(page, "| `POST /operator/companies` | Create a company | `companies` |")
    assert.include(page, "| `GET /healthz` | Check whether the process is up | no key |")
  })
})
