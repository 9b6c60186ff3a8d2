import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Embedded from "../../postgres/test/Embedded.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import * as Http from "../../http/test/Service.ts"
import { get } from "../../http/test/Wallet.ts"

// Neither the database nor a dump of it contains a secret that grants access. The test calls every endpoint
// that creates something, with an Idempotency-Key if supported, and searches every row of every table.

const runtime = ManagedRuntime.make(Layer.provideMerge(Storage.layerClient(), Embedded.layer))
const service = await Http.start({ storage: Layer.effectContext(Effect.orDie(runtime.contextEffect)) })
afterAll(async () => {
  await service.dispose()
  await runtime.dispose()
})

/** Returns every row of every table, by table. */
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'satrail' and table_type = 'BASE TABLE' order by 1`
  return yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql.unsafe<{ readonly rows: string | null }>(
        `select string_agg(to_jsonb(t)::text, ' ') as rows from satrail.${name} t`
      ),
      ([all]) => ({ name, rows: all?.rows ?? "" })
    )
  )
})

/** The forms in which a row might contain a secret. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret, /^([0-9a-f]{2})+$/.test(secret) ? "hex" : "utf8")
  const base64 = bytes.toString("base64").replace(/=+$/, "")
  return [secret, bytes.toString("hex"), base64, bytes.toString("base64url")].map((form) =>
    form.toLowerCase()
  )
}

/** Finds which tables contain which secrets. */
const found = (
  tables: ReadonlyArray<{ readonly name: string; readonly rows: string }>,
  secrets: Readonly<Record<string, string>>
) =>
  tables.flatMap(({ name, rows }) => {
    const text = rows.toLowerCase()
    return Object.entries(secrets).flatMap(([what, secret]) =>
      formsOf(secret).some((form) => text.includes(form)) ? [`${what} in ${name}`] : []
    )
  })

const secretOf = (key: string) => key.slice(key.lastIndexOf("_") + 1)

describe("secrets at rest", () => {
  it("store: after every kind of record is created, with an Idempotency-Key where one is accepted, no table contains a secret", async () => {
    const operate = async (method: string, path: string, body: unknown, idempotencyKey?: string) => {
      const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
      const answer = await service.ask(method, `/operator${path}`, { key: Http.operatorToken, body, headers })
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.body.data
    }
    const { id } = await operate("POST", "/companies", { name: "Example Ltd", plan: "paid" }, "company")
    const issued = await operate(
      "POST",
      `/companies/${id}/api-keys`,
      { name: "till", scopes: ["admin"] },
      "issue"
    )
    const rotated = await operate("POST", `/api-keys/${issued.id}/rotate`, { overlap_seconds: 600 }, "rotate")
    const { key } = rotated
    const create = async (path: string, body: unknown) => {
      const answer = await service.ask("POST", path, { key, body, headers: { "idempotency-key": path } })
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.body.data
    }
    await service.fund(key, 50_000)
    const invoice = await create("/v1/bitcoin/deposit/lightning-invoice", { amount: 1000, currency: "sats" })
    await create("/v1/bitcoin/deposit/on-chain", {})
    const { address } = await create("/v1/bitcoin/deposit/lightning-address", {})
    const voucher = await create("/v1/vouchers", { amount: 1000, currency: "sats" })
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(1000), behaviour: "hold" })
    )
    await create("/v1/bitcoin/withdraw/confirm", { destination })
    await service.work()
    const [user] = address.split("@")
    assert.isString(
      (await get(service, `https://${Http.domain}/lnurlp/${Http.domain}/${user}/callback?amount=5000`))["pr"]
    )

    const before = await runtime.runPromise(dump)
    // The preimage had not been revealed when the dump was made, because only a payment reveals it.
    const paid = await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: invoice.payment_request }))
    const [, k1 = ""] = /k1=([0-9a-f]{64})/.exec(voucher.lnurlw) ?? []
    const secrets = {
      "an API key": secretOf(issued.key),
      "a rotated API key": secretOf(key),
      "the operator's token": Http.operatorToken,
      "a voucher's k1": k1,
      "a voucher's link": voucher.lnurlw,
      "a voucher's LNURL": voucher.lnurl,
      "the preimage of an unpaid invoice": paid.preimage ?? assert.fail("it was not paid")
    }
    for (const [what, secret] of Object.entries(secrets)) assert.isAtLeast(secret.length, 18, what)
    assert.include(
      before.map(({ name, rows }) => (rows.includes(invoice.id) ? name : "")).join(" "),
      "answers"
    )
    assert.deepStrictEqual(found(before, secrets), [])
  })
})
