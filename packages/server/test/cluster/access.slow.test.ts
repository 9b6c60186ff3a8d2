import { assert, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Session from "@satrail/features/people/core/Session"
import * as Audit from "@satrail/core/ledger/Audit"
import * as PgClient from "@satrail/postgres/client/PgClient"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as Authenticator from "../../../features/test/people/http/Authenticator.ts"
import { cookieIn, fromConsole } from "../../../http/test/Service.ts"
import * as Customer from "../Customer.ts"
import { type Answer, type Company, eventually, send } from "../Service.ts"
import { suite } from "./Suite.ts"

const more = { SATRAIL_PUBLIC_URL: "https://pay.example.com", SATRAIL_PROXIES: "1" }

suite("access on three processes", { more }, (cluster) => {
  const urlOf = (at: number): string => cluster().urls()[at] ?? assert.fail(`no process ${at}`)
  const seen = ({ status, code }: Answer) => (code === undefined ? String(status) : `${status} ${code}`)
  /** The responses of each process to the same request. */
  const everywhere = (ask: (at: number) => Promise<Answer>) =>
    Promise.all([0, 1, 2].map(async (at) => seen(await ask(at))))
  const three = (answer: string) => [answer, answer, answer]

  const keyed = (at: number, { key }: Company, method: string, route: string, body?: unknown) =>
    send(urlOf(at) + route, method, { key, body })
  /** A request from the console, each time from another address, because requests are limited per address. */
  let address = 0
  const page = (at: number, method: string, route: string, body?: unknown, cookie = "") => {
    const headers = {
      ...fromConsole,
      "x-forwarded-for": `198.51.100.${++address}`,
      ...(cookie !== "" && { cookie })
    }
    return send(urlOf(at) + route, method, { headers, ...(body !== undefined && { body }) })
  }
  const passkeys = (at: number, path: string, body: unknown, cookie?: string) =>
    page(at, "POST", `/console/passkeys${path}`, body, cookie)
  const challenge = async (at: number, asked: object, cookie?: string): Promise<string> =>
    (await Customer.data(200, passkeys(at, "/challenge", asked, cookie))).challenge
  const invitationIn = ({ link }: Answer["data"]): string =>
    /#join=(inv_\S+)$/.exec(link)?.[1] ?? assert.fail(link)

  /** A signed-in administrator of this company, who has just confirmed who they are. */
  const admin = async ({ id: company_id }: Pick<Company, "id">) => {
    const invited = await cluster().operate("/people", { company_id, name: "Ada", role: "admin" })
    const invitation = invitationIn(invited)
    const device = Authenticator.make()
    const passkey = device.create(await challenge(0, { for: "join", invitation }))
    const joined = await passkeys(1, "/join", { invitation, name: "laptop", passkey })
    assert.strictEqual(joined.status, 200, joined.text)
    const cookie = cookieIn(joined)
    const signed = device.sign(await challenge(2, { for: "step-up" }, cookie), invited.id)
    assert.strictEqual((await passkeys(0, "/step-up", { passkey: signed }, cookie)).status, 200)
    return { id: String(invited.id), cookie }
  }

  const sats = { amount: 1000, currency: "sats" }
  const voucher = (company: Company) =>
    Customer.data(
      201,
      company.post("/v1/vouchers", sats, { "Idempotency-Key": randomBytes(8).toString("hex") })
    )
  const statusOf = async (company: Company, { id }: { readonly id: string }): Promise<string> =>
    (await Customer.data(200, company.get(`/v1/vouchers/${id}`))).status
  /** The key's id, which its vouchers name as their maker. */
  const makerOf = ({ key }: Company): string => key.split("_")[2] ?? assert.fail(key)

  const claim = async (
    at: number,
    { lnurlw }: { readonly lnurlw: string },
    company: Company
  ): Promise<string> => {
    const { destination } = await Customer.outside(company, "lightning_invoice", { amount_sats: 1000 })
    const k1 = new URL(lnurlw.replace("lnurlw:", "http:")).searchParams.get("k1") ?? ""
    return JSON.parse((await send(`${urlOf(at)}/lnurlw/callback?k1=${k1}&pr=${destination}`, "GET", {})).text)
      .status
  }
  /** Runs `meanwhile` while another request waits at a point. Returns both responses. */
  const during = async <A, B>(
    point: string,
    ask: () => Promise<A>,
    meanwhile: () => Promise<B>
  ): Promise<readonly [A, B]> => {
    const { waiting, open } = cluster().hold(point)
    const asked = ask()
    await eventually("a request at this point", waiting, ({ length }) => length === 1)
    const done = await meanwhile()
    open()
    return [await asked, done]
  }

  it("vouchers: if one process claims a voucher while another cancels it, by itself or with its maker's others, exactly one of them takes effect", async () => {
    const shop = await cluster().company()
    await Customer.fund(shop, 100_000)
    const cancels = {
      one:
        ({ id }: { readonly id: string }) =>
        async () =>
          seen(await keyed(1, shop, "POST", `/v1/vouchers/${id}/cancel`)),
      all: () => async () =>
        (
          await Customer.data(
            200,
            keyed(2, shop, "POST", "/v1/vouchers/cancel", { created_by: makerOf(shop) })
          )
        ).canceled
    }
    for (const [cancel, took, late] of [
      [cancels.one, "200", "409 voucher_not_open"],
      [cancels.all, 1, 0]
    ] as const) {
      const first = await voucher(shop)
      assert.deepStrictEqual(
        await during("before VoucherClaimed", () => claim(0, first, shop), cancel(first)),
        ["ERROR", took]
      )
      assert.strictEqual(await statusOf(shop, first), "canceled")
      const second = await voucher(shop)
      assert.deepStrictEqual(
        await during<unknown, string>("before VoucherCanceled", cancel(second), () => claim(0, second, shop)),
        [late, "OK"]
      )
      await Customer.until(shop, `/v1/vouchers/${second.id}`, ({ status }) => status === "claimed")
    }
    const all = await Customer.times(6, () => voucher(shop))
    const claims = await Promise.all([
      ...all.map((one, at) => claim(at % 3, one, shop)),
      ...all.map((one) => cancels.one(one)())
    ])
    assert.lengthOf(
      claims.filter((answer) => answer === "OK" || answer === "200"),
      all.length
    )
  })

  it("keys and people: once a key is revoked or a person removed, no process creates anything for them, and their open vouchers can be canceled", async () => {
    const shop = await cluster().company()
    const person = await admin(await cluster().operate("/companies", { name: "Example Ltd", plan: "paid" }))
    await Customer.fund(shop, 100_000)
    const create = (at: number) => keyed(at, shop, "POST", "/v1/vouchers", sats)
    const ask = (at: number) => page(at, "POST", "/v1/bitcoin/deposit/lightning-invoice", sats, person.cookie)
    assert.deepStrictEqual([await everywhere(create), await everywhere(ask)], [three("201"), three("201")])
    const operator = { key: cluster().operatorToken }
    assert.strictEqual(
      (await send(`${urlOf(0)}/operator/api-keys/${makerOf(shop)}`, "DELETE", operator)).status,
      200
    )
    assert.deepStrictEqual(await everywhere(create), three("401 unauthorized"))
    assert.strictEqual(
      (await send(`${urlOf(1)}/operator/people/${person.id}`, "DELETE", operator)).status,
      200
    )
    assert.deepStrictEqual(await everywhere(ask), three("401 unauthorized"))
    const { canceled } = await cluster().operate(
      `/companies/${shop.id}/vouchers/cancel`,
      { created_by: makerOf(shop) },
      200
    )
    assert.strictEqual(canceled, 3)
  })

  it("people: if an administrator promotes a person while another process uses a recovery link that a key issued for them, the link does not join", async () => {
    const company = await cluster().company()
    const ada = await admin(company)
    const invited = await Customer.data(
      201,
      page(1, "POST", "/v1/people", { name: "Bob", role: "viewer" }, ada.cookie)
    )
    const recovered = await Customer.data(
      200,
      send(`${urlOf(2)}/v1/people/${invited.id}/recover`, "POST", { key: company.key })
    )
    const invitation = invitationIn(recovered)
    const passkey = Authenticator.make().create(await challenge(0, { for: "join", invitation }))
    const [joined, promoted] = await during(
      "before PersonJoined",
      () => passkeys(1, "/join", { invitation, name: "stolen", passkey }),
      () => page(2, "PUT", `/v1/people/${invited.id}/role`, { role: "admin" }, ada.cookie)
    )
    assert.strictEqual(promoted.status, 200, promoted.text)
    assert.deepStrictEqual([seen(joined), cookieIn(joined)], ["409 person_changed", ""])
    const late = await everywhere((at) => passkeys(at, "/challenge", { for: "join", invitation }))
    assert.deepStrictEqual(late, three("401 unauthorized"))
  })

  it("sessions: every process refuses a session that was written to the database", async () => {
    const shop = await cluster().company()
    const place = { holder: "key", holderId: makerOf(shop), slot: 0 } as const
    const text = Redacted.value(Session.generate(place, randomBytes))
    const read = (cookie: string) =>
      everywhere((at) => page(at, "GET", "/v1/transactions/balance", undefined, cookie))
    const signedIn = await page(0, "POST", "/console/session", { credential: shop.key })
    assert.deepStrictEqual(await read(cookieIn(signedIn)), three("200"))
    const times = { expiresAtMillis: Date.now() + Session.lifeMillis, steppedUpAtMillis: Date.now() }
    // Someone with the database's password knows everything but the service's secret.
    for (const sign of [undefined, Audit.signer(Redacted.make("another secret"))]) {
      const hash = Session.hashOf(
        Session.proofOf(text, ""),
        { companyId: CompanyId.make(shop.id), ...place, ...times },
        sign
      )
      const rewritten = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          update satrail.console_sessions set secret_hash = ${hash}, expires_at_millis = ${times.expiresAtMillis},
            stepped_up_at_millis = ${times.steppedUpAtMillis} where holder_id = ${place.holderId} returning id`
      )
      const database = PgClient.layer({ url: Redacted.make(cluster().postgres.url) })
      assert.lengthOf(await Effect.runPromise(Effect.provide(rewritten, database)), 1)
      assert.deepStrictEqual(await read(`__Host-satrail=${text}`), three("401 unauthorized"))
    }
    assert.deepStrictEqual(await read(cookieIn(signedIn)), three("401 unauthorized"))
  })
})
