import { afterAll, assert, describe, it } from "@effect/vitest"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Session from "../../../src/people/core/Session.ts"
import { OperatorTokens } from "@satrail/core/accounts/OperatorTokens"
import * as AuditLog from "../../../src/audit/core/AuditLog.ts"
import * as Time from "@satrail/sandbox/Time"
import { Clock, Context, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Acting from "@satrail/http/edge/Acting"
import { attemptsPerMinute } from "../../../src/people/http/ConsoleSession.ts"
import { make } from "@satrail/http/api/SignInLinks"
import {
  bad,
  cookieIn,
  fromConsole,
  operatorToken,
  seen,
  start,
  stillTime
} from "../../../../http/test/Service.ts"

const service = await start({ http: { console: true }, instead: Context.make(Acting.Proxies, 1) })
afterAll(service.dispose)

/** A new client address for each request, because requests are limited per address. */
let address = 0
const elsewhere = () => ({ "x-forwarded-for": `192.0.2.${++address}` })

const signIn = (credential: string, headers: Record<string, string> = fromConsole) =>
  service.ask("POST", "/console/session", { body: { credential }, headers: { ...elsewhere(), ...headers } })
const session = async (credential: string) => cookieIn(await signIn(credential))
const ask = (
  cookie: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = fromConsole
) =>
  service.ask(method, path, {
    headers: { ...elsewhere(), ...headers, cookie },
    ...(body !== undefined && { body })
  })

const balance = "/v1/transactions/balance"

describe("sessions", () => {
  it("session: a key signs in, and the cookie grants the key's access", async () => {
    const { key, id } = await service.company("paid", "read")
    const answer = await signIn(key)
    assert.strictEqual(answer.status, 200)
    assert.deepInclude(answer.body.data, {
      kind: "company",
      company_id: id,
      scopes: ["read"],
      stepped_up_until: null
    })
    assert.notInclude(answer.text, key)
    const set = answer.headers.get("set-cookie") ?? ""
    assert.match(
      set,
      /^__Host-satrail=k\.\w{12}\.0\.\w+; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Lax$/
    )
    const cookie = cookieIn(answer)
    assert.strictEqual((await ask(cookie, "GET", balance)).status, 200)
    assert.deepInclude((await ask(cookie, "GET", "/console/session")).body.data, { company_id: id })
    const refused = await ask(cookie, "POST", "/v1/bitcoin/deposit/lightning-invoice", {
      amount: 1,
      currency: "sats"
    })
    assert.deepStrictEqual(seen(refused), bad(403, "scope_required"))
  })

  it("session: a session that was written to the database with a hash of its text opens nothing", async () => {
    const { key, id } = await service.company()
    const [, holderId = ""] = (await session(key)).split(".")
    const place = { holder: "key", holderId, slot: 1 } as const
    const text = Redacted.value(Session.generate(place, (size) => new Uint8Array(size).fill(7)))
    const cookie = `__Host-satrail=${text}`
    for (const secretHash of [
      SecretHash.of(text),
      SecretHash.of(`${text} `),
      SecretHash.of(SecretHash.of(`${text} `))
    ]) {
      await service.run(
        Effect.gen(function* () {
          const nowMillis = yield* Clock.currentTimeMillis
          const found = Option.getOrUndefined(
            yield* (yield* NounReads).named(Session.noun, { holderId, slot: 1 })
          )
          const expiresAtMillis = nowMillis + Session.lifeMillis
          const times = {
            createdAtMillis: nowMillis,
            expiresAtMillis,
            steppedUpAtMillis: nowMillis,
            endedAtMillis: null
          }
          const row = { id: yield* Id.make, companyId: CompanyId.make(id), ...place, secretHash, ...times }
          const { commit } = yield* Journal
          yield* found === undefined
            ? commit(Session.started(row))
            : commit(Session.startedAgain(found, { secretHash, expiresAtMillis }, nowMillis))
        })
      )
      assert.deepStrictEqual(seen(await ask(cookie, "GET", balance)), bad(401, "unauthorized"))
    }
  })

  it("session: an operator's session is valid only for /operator, and a company's session is valid only for /v1", async () => {
    const operator = await session(operatorToken)
    assert.strictEqual((await ask(operator, "GET", "/operator/companies")).status, 200)
    assert.match((await ask(operator, "GET", balance)).body.message, /operator's session/)
    const { key } = await service.company()
    const company = await session(key)
    assert.match((await ask(company, "GET", "/operator/companies")).body.message, /company's session/)
  })

  it("session: a key in the header takes precedence over the cookie", async () => {
    const [one, other] = [await service.company(), await service.company()]
    const cookie = await session(one.key)
    await service.fund(other.key, 21)
    const { body } = await service.ask("GET", balance, {
      key: other.key,
      headers: { ...fromConsole, cookie }
    })
    assert.strictEqual(body.data.balance, 21)
  })

  it("session: the password that a browser sends to a proxy in front of the service does not end the session", async () => {
    const { key } = await service.company()
    for (const password of ["Basic YWRhOnNlY3JldA==", "Digest username=ada", "Negotiate YII=", "NTLM TlRM"]) {
      const headers = { ...fromConsole, authorization: password }
      const company = cookieIn(await signIn(key, headers))
      assert.strictEqual((await ask(company, "GET", balance, undefined, headers)).status, 200, password)
      const stepped = await ask(company, "POST", "/console/session/step-up", { credential: key }, headers)
      assert.strictEqual(stepped.status, 200, password)
      const operator = cookieIn(await signIn(operatorToken, headers))
      assert.strictEqual(
        (await ask(operator, "GET", "/operator/companies", undefined, headers)).status,
        200,
        password
      )
      // Without the console's marks, the cookie still grants nothing.
      const foreign = await ask(company, "GET", balance, undefined, {
        authorization: password,
        "sec-fetch-site": "cross-site"
      })
      assert.deepStrictEqual(seen(foreign), bad(401, "unauthorized"))
    }
  })

  it("session: only a valid key or token can sign in", async () => {
    const { key } = await service.company()
    for (const wrong of [
      "",
      "sr_regtest_x",
      `${key.slice(0, -1)}${key.endsWith("1") ? "2" : "1"}`,
      "op_1",
      `${operatorToken}x`,
      "k_1"
    ]) {
      const { status, headers } = await signIn(wrong, fromConsole)
      assert.isTrue(status === 401 || status === 400, wrong)
      assert.isNull(headers.get("set-cookie"))
    }
    // The configured token can be any text, so only the prefix of API keys says what was meant.
    for (const [wrong, said] of [
      ["sr_regtest_x", /^This API key is malformed/],
      ["op_1", /^This is not a valid operator token or API key/],
      [`${operatorToken}x`, /^This is not a valid operator token or API key/],
      [" ", /^This is not a valid operator token or API key/]
    ] as const)
      assert.match((await signIn(wrong, fromConsole)).body.message, said)
    for (const body of [
      {},
      { credential: 1 },
      { credential: key, link: "x" },
      [key],
      { credential: "x".repeat(257) }
    ])
      assert.deepStrictEqual(
        seen(await service.ask("POST", "/console/session", { body, headers: fromConsole })),
        bad(400, "malformed")
      )
  })

  it("session: signing out invalidates the cookie and every older cookie of the same browser", async () => {
    const { key } = await service.company()
    const first = await session(key)
    const second = cookieIn(await ask(first, "POST", "/console/session", { credential: key }))
    assert.notStrictEqual(first, second)
    assert.deepStrictEqual(seen(await ask(first, "GET", balance)), bad(401, "unauthorized"))
    const out = await ask(second, "DELETE", "/console/session")
    assert.match(
      out.headers.get("set-cookie") ?? "",
      /^__Host-satrail=; Path=\/; Max-Age=0; Secure; HttpOnly; SameSite=Lax$/
    )
    assert.deepStrictEqual(seen(await ask(second, "GET", balance)), bad(401, "unauthorized"))
  })

  it("session: a session cookie planted by an attacker is not accepted (session fixation)", async () => {
    const { key } = await service.company()
    const planted = `__Host-satrail=${Redacted.value(Session.generate({ holder: "key", holderId: key.slice(11, 23), slot: 0 }, () => new Uint8Array(32).fill(7)))}`
    const answer = await ask(planted, "POST", "/console/session", { credential: key })
    assert.notStrictEqual(cookieIn(answer), planted)
    assert.deepStrictEqual(seen(await ask(planted, "GET", balance)), bad(401, "unauthorized"))
  })

  it("session: a session ends immediately when its key or token is revoked", async () => {
    const { key } = await service.company()
    const cookie = await session(key)
    const { body } = await ask(cookie, "GET", "/console/session")
    await service.run(Effect.flatMap(ApiKeys, ({ revoke }) => revoke(body.data.id)))
    assert.deepStrictEqual(seen(await ask(cookie, "GET", balance)), bad(401, "unauthorized"))
    assert.deepStrictEqual(seen(await ask(cookie, "GET", "/console/session")), bad(401, "unauthorized"))
    const issued = await service.ask("POST", "/operator/tokens", {
      key: operatorToken,
      body: { name: "night", scopes: ["read"] }
    })
    const operator = await session(issued.body.data.token)
    assert.strictEqual((await ask(operator, "GET", "/operator/companies")).status, 200)
    await service.run(Effect.flatMap(OperatorTokens, ({ revoke }) => revoke(issued.body.data.id)))
    assert.deepStrictEqual(seen(await ask(operator, "GET", "/operator/companies")), bad(401, "unauthorized"))
  })

  it("session: a key limited to some addresses cannot sign in from another address, and its session does not work from another address", async () => {
    const { key } = await service.company()
    const cookie = await session(key)
    const { body } = await ask(cookie, "GET", "/console/session")
    const confined = { allowed_from: { for: "everything", ranges: ["203.0.113.0/24"] } }
    const put = await service.ask("PUT", `/operator/api-keys/${body.data.id}/allowed-from`, {
      key: operatorToken,
      body: confined
    })
    assert.strictEqual(put.status, 200)
    const refused = await signIn(key)
    assert.deepStrictEqual(
      [seen(refused), refused.headers.get("set-cookie")],
      [bad(403, "address_not_allowed"), null]
    )
    for (const path of [balance, "/console/session"])
      assert.deepStrictEqual(seen(await ask(cookie, "GET", path)), bad(403, "address_not_allowed"))
    const there = { ...fromConsole, "x-forwarded-for": "203.0.113.9" }
    assert.strictEqual((await ask(cookie, "GET", balance, undefined, there)).status, 200)
    assert.strictEqual((await signIn(key, there)).status, 200)
  })

  it("session: another origin's page cannot use a session or sign in", async () => {
    const { key } = await service.company()
    const cookie = await session(key)
    for (const site of ["cross-site", "same-site", "none"])
      for (const more of [{}, { "x-satrail-console": "1" }]) {
        const headers = { "sec-fetch-site": site, ...more }
        assert.deepStrictEqual(
          seen(await ask(cookie, "GET", balance, undefined, headers)),
          bad(401, "unauthorized")
        )
        assert.deepStrictEqual(
          seen(await ask(cookie, "POST", "/v1/vouchers", { amount: 1, currency: "sats" }, headers)),
          bad(401, "unauthorized")
        )
        assert.deepStrictEqual(
          seen(await ask(cookie, "DELETE", "/console/session", undefined, headers)),
          bad(401, "unauthorized")
        )
        const login = await signIn(key, headers)
        assert.deepStrictEqual([login.status, login.headers.get("set-cookie")], [401, null])
      }
    // A change also requires the header, which no form can send. If the browser doesn't send the page's
    // origin, every request requires it.
    const invoice = { amount: 1, currency: "sats" }
    const bare = await ask(cookie, "POST", "/v1/bitcoin/deposit/lightning-invoice", invoice, {
      "sec-fetch-site": "same-origin"
    })
    assert.deepStrictEqual(seen(bare), bad(401, "unauthorized"))
    assert.deepStrictEqual(seen(await ask(cookie, "GET", balance, undefined, {})), bad(401, "unauthorized"))
    assert.strictEqual(
      (await ask(cookie, "GET", balance, undefined, { "sec-fetch-site": "same-origin" })).status,
      200
    )
    assert.strictEqual((await ask(cookie, "GET", balance)).status, 200)
  })

  it("session: sending requires the same key to be re-entered", async () => {
    const { key } = await service.company("paid", "admin")
    await service.fund(key, 10_000)
    const cookie = await session(key)
    const voucher = { amount: 1, currency: "sats" }
    assert.deepStrictEqual(
      seen(await ask(cookie, "POST", "/v1/vouchers", voucher)),
      bad(403, "step_up_required")
    )
    const withdrawal = { amount: 1000, currency: "sats", destination: "a@wallet.example" }
    for (const path of ["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm"])
      assert.deepStrictEqual(seen(await ask(cookie, "POST", path, withdrawal)), bad(403, "step_up_required"))
    assert.strictEqual(
      (await ask(cookie, "POST", "/v1/bitcoin/deposit/lightning-invoice", { amount: 1, currency: "sats" }))
        .status,
      201
    )
    const other = await service.company()
    for (const wrong of [other.key, operatorToken])
      assert.deepStrictEqual(
        seen(await ask(cookie, "POST", "/console/session/step-up", { credential: wrong })),
        bad(401, "unauthorized")
      )
    assert.deepStrictEqual(
      seen(await ask(cookie, "POST", "/v1/vouchers", voucher)),
      bad(403, "step_up_required")
    )
    const stepped = await ask(cookie, "POST", "/console/session/step-up", { credential: key })
    assert.isString(stepped.body.data.stepped_up_until)
    assert.strictEqual((await ask(cookie, "POST", "/v1/vouchers", voucher)).status, 201)
    // Another session of the same key is not stepped up.
    assert.deepStrictEqual(
      seen(await ask(await session(key), "POST", "/v1/vouchers", voucher)),
      bad(403, "step_up_required")
    )
  })

  it("session: changing webhooks or deleting anything requires the key to be re-entered, and creating requests for payment does not", async () => {
    const { key } = await service.company("paid", "receive", "webhooks")
    const asked = { url: "https://shop.example/hook" }
    const { id } = (await service.ask("POST", "/v1/webhook-endpoints", { key, body: asked })).body.data
    const at = `/v1/webhook-endpoints/${id}`
    const addresses = "/v1/bitcoin/deposit/lightning-address"
    const address = (await service.ask("POST", addresses, { key, body: { handle: "till" } })).body.data
    const cookie = await session(key)
    const guarded: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["POST", "/v1/webhook-endpoints", { url: "https://thief.example/hook" }],
      ["PUT", at, { url: "https://thief.example/hook" }],
      ["PATCH", at, { url: "https://thief.example/hook" }],
      ["POST", `${at}/rotate-secret`, { overlap_seconds: 0 }],
      ["POST", `${at}/replay`, { replay_from: "2020-01-01T00:00:00Z" }],
      ["POST", `${at}/test`],
      ["POST", `${at}/disable`],
      ["POST", `${at}/enable`, {}],
      ["DELETE", at],
      ["DELETE", `${addresses}/${address.id}`]
    ]
    for (const [method, path, body] of guarded)
      assert.deepStrictEqual(
        seen(await ask(cookie, method, path, body)),
        bad(403, "step_up_required"),
        `${method} ${path}`
      )
    assert.strictEqual((await service.ask("GET", "/v1/webhook-endpoints", { key })).body.data.length, 1)
    assert.strictEqual(
      (await ask(cookie, "POST", "/v1/bitcoin/deposit/lightning-invoice", { amount: 1, currency: "sats" }))
        .status,
      201
    )
    await ask(cookie, "POST", "/console/session/step-up", { credential: key })
    assert.strictEqual((await ask(cookie, "POST", "/v1/webhook-endpoints", asked)).status, 201)
    for (const path of [at, `${addresses}/${address.id}`])
      assert.strictEqual((await ask(cookie, "DELETE", path)).status, 200)
  })

  it("session: an operator must re-enter the token before changing anything", async () => {
    const cookie = await session(operatorToken)
    const company = { name: "Example Ltd", plan: "free" }
    assert.deepStrictEqual(
      seen(await ask(cookie, "POST", "/operator/companies", company)),
      bad(403, "step_up_required")
    )
    assert.strictEqual(
      (await ask(cookie, "POST", "/console/session/step-up", { credential: operatorToken })).status,
      200
    )
    assert.strictEqual((await ask(cookie, "POST", "/operator/companies", company)).status, 201)
  })

  it("session: the audit log records each sign-in, re-entered key and sign-out", async () => {
    const { key } = await service.company()
    const cookie = await session(key)
    await ask(cookie, "POST", "/console/session/step-up", { credential: key })
    await ask(cookie, "DELETE", "/console/session")
    await service.run(AuditLog.link)
    const { body } = await service.ask("GET", "/v1/audit", { key })
    const verbs: ReadonlyArray<string> = body.data.map(({ verb }: { readonly verb: string }) => verb)
    assert.includeMembers([...verbs], ["console.signIn", "console.stepUp", "console.signOut"])
  })

  it("session: eight concurrent sign-ins create eight sessions", async () => {
    const { key } = await service.company()
    const cookies = await Promise.all(Array.from({ length: 8 }, () => session(key)))
    assert.strictEqual(new Set(cookies).size, 8)
    for (const cookie of cookies) assert.strictEqual((await ask(cookie, "GET", balance)).status, 200)
  })

  it("session: a service without the console has no sign-in", async () => {
    const bare = await start()
    assert.deepStrictEqual(
      seen(await bare.ask("POST", "/console/session", { body: { credential: "x" }, headers: fromConsole })),
      bad(404, "not_found")
    )
    await bare.dispose()
  })

  it(`session: per minute, one address may guess ${attemptsPerMinute} keys, and one key may sign in as often; guesses do not keep others at the address from signing in`, async () => {
    const own = await start({ http: { console: true }, around: stillTime })
    const attempt = async (credential: string) =>
      (await own.ask("POST", "/console/session", { body: { credential }, headers: fromConsole })).status
    const [one, other] = [await own.company(), await own.company()]
    for (const [credential, status] of [["sr_regtest_guess", 401] as const, [one.key, 200] as const]) {
      for (let i = 0; i < attemptsPerMinute; i++) assert.strictEqual(await attempt(credential), status)
      assert.strictEqual(await attempt(credential), 429)
    }
    assert.strictEqual(await attempt(other.key), 200)
    const guessed = await own.ask("POST", "/console/session", {
      body: { link: "link_guess" },
      headers: fromConsole
    })
    assert.deepStrictEqual(seen(guessed), bad(429, "rate_limited"))
    await own.dispose()
  })
})

describe("links", () => {
  it.effect("sign-in link: a link works once, and expires after 15 minutes", () =>
    Effect.gen(function* () {
      const links = make()
      const key = Redacted.make("key")
      const first = Redacted.value(yield* links.make(key))
      assert.strictEqual(yield* links.take(first), key)
      assert.isUndefined(yield* links.take(first))
      assert.isUndefined(yield* links.take(`${first}x`))
      const second = Redacted.value(yield* links.make(key))
      yield* TestClock.adjust("15 minutes")
      assert.isUndefined(yield* links.take(second))
    })
  )

  it.effect(
    "sign-in link: a link remains valid if the clock of a sandbox is ahead of the time at which it was printed",
    () =>
      Effect.gen(function* () {
        const [links, key, time] = [make(), Redacted.make("key"), yield* Time.make()]
        const link = Redacted.value(yield* links.make(key))
        yield* time.advance(3_600_000)
        assert.strictEqual(yield* Effect.provideService(links.take(link), Clock.Clock, time.clock), key)
      })
  )
})
