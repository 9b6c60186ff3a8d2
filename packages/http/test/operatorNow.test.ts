import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Memory from "@satrail/memory/Memory"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { operatorToken, start } from "./Service.ts"

// The operator's console of a service with more records than the API returns in one list.

const listed = 1000
const mostFrozen = 100

/** The limit and the number of rows of each read of companies. */
const reads: Array<readonly [limit: number, rows: number]> = []
const storage = Layer.effect(
  AccountReads,
  Effect.map(AccountReads, (accounts) => ({
    ...accounts,
    companiesAsked: (query, looks) =>
      Effect.tap(accounts.companiesAsked(query, looks), ({ rows }) => Effect.sync(() => reads.push([query.limit, rows.length])))
  }))
).pipe(Layer.provideMerge(Memory.layer))
const service = await start({ http: { console: true }, storage })
afterAll(service.dispose)

const operate = (path: string, body: object) => service.ask("POST", `/operator${path}`, { key: operatorToken, body })

/** Payments without an owner, oldest first. */
const suspended = (companyId: CompanyId.CompanyId, count: number) =>
  service.run(
    Effect.flatMap(Journal, (journal) =>
      Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        (n) => {
          const paymentHash = PaymentHash.make(randomBytes(32).toString("hex"))
          const payment = {
            id: Id.fromHash(paymentHash),
            companyId,
            paymentHash,
            received: Msat.fromSats(2),
            createdAtMillis: Date.now() + n
          }
          return Effect.as(journal.commit(Invoice.unmatched({ ...payment, reason: `payment ${n}` })), payment.id)
        }
      )
    )
  )

const opened = async (cookie: string, path: string) => {
  const response = await service.handler(
    new Request(`http://service/operator/console${path}`, { headers: { cookie, "sec-fetch-site": "same-origin" } })
  )
  assert.strictEqual(response.status, 200, path)
  return response.text()
}

describe("the operator's console with more records than one list returns", () => {
  it("console: the Now page reads one page of a list and says that there is more, reads only frozen companies, and links to the oldest payment in suspense", async () => {
    const { id } = await service.company()
    assert.strictEqual((await operate(`/companies/${id}/freeze`, { reason: "Key stolen", pending: "wait" })).status, 200)
    for (let n = 0; n < listed; n++) assert.strictEqual((await operate("/companies", { name: `Shop ${n}`, plan: "free" })).status, 201)
    const [oldest] = await suspended(id, listed + 1)
    const headers = { "sec-fetch-site": "same-origin", "x-satrail-console": "1" }
    const answer = await service.ask("POST", "/console/session", { body: { credential: operatorToken }, headers })
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? ""
    reads.length = 0
    const now = await opened(cookie, "")
    // One more than the page shows, to know whether there are more.
    assert.deepStrictEqual(reads, [[mostFrozen + 1, 1]], "only frozen companies are read, and only one page of them")
    assert.include(now, "100 or more payments have no owner")
    assert.include(now, "is frozen")
    assert.include(await opened(cookie, `/suspense/${oldest}`), "Assign 2 sats")
    const alarms = await opened(cookie, "/alarms")
    const row = (alarms.split("<tr").find((one) => one.includes("100 or more payments have no owner")) ?? "").replaceAll(/<!--.*?-->/g, "")
    for (const part of [">Active<", "only in the console", '/suspense"', 'docs/guides/incidents#missing-payment"'])
      assert.include(row, part)
    assert.strictEqual(alarms.split("SatrailNoChannel").length, 2, "an alarm has one row")
  })
})
