import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { Companies } from "@satrail/core/accounts/Companies"
import { root } from "@satrail/core/accounts/OperatorToken"
import * as Id from "@satrail/core/base/Id"
import { People } from "@satrail/features/people/core/People"
import * as Answer from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { operatorToken, start } from "./Service.ts"

// The operator's console of a service with more records than the API returns in one list.

const listed = 1000
const mostFrozen = 100

/** The limit and the number of rows of each read of companies. */
const reads: Array<readonly [limit: number, rows: number]> = []
/** The number of rows of each read of a list. */
const lists: Array<readonly [what: string, rows: number]> = []
const counted = <A, E, R>(what: string, read: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.tap(read, (rows) => Effect.sync(() => lists.push([what, rows.length])))
const storage = Layer.mergeAll(
  Layer.effect(
    AccountReads,
    Effect.map(AccountReads, (accounts) => ({
      ...accounts,
      companiesAsked: (query, looks) =>
        Effect.tap(accounts.companiesAsked(query, looks), ({ rows }) =>
          Effect.sync(() => reads.push([query.limit, rows.length]))
        )
    }))
  ),
  Layer.effect(
    ReceivingReads,
    Effect.map(ReceivingReads, (receiving) => ({
      ...receiving,
      suspended: (after, limit, status) => counted("suspense", receiving.suspended(after, limit, status))
    }))
  ),
  Layer.effect(
    NounReads,
    Effect.map(NounReads, (nouns) => ({
      ...nouns,
      newestFirst: (noun, companyId, before, limit) =>
        counted(noun.name, nouns.newestFirst(noun, companyId, before, limit))
    }))
  )
).pipe(Layer.provideMerge(Memory.layer))
const service = await start({ http: { console: true }, storage })
afterAll(service.dispose)

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const operate = (path: string, body: object) =>
  service.ask("POST", `/operator${path}`, { key: operatorToken, body })

/** Payments without an owner, oldest first. */
const suspended = (companyId: CompanyId.CompanyId, count: number) =>
  service.run(
    Effect.flatMap(Journal, (journal) =>
      Effect.forEach(numbers(count), (n) => {
        const paymentHash = PaymentHash.make(randomBytes(32).toString("hex"))
        const payment = {
          id: Id.fromHash(paymentHash),
          companyId,
          paymentHash,
          received: Msat.fromSats(2),
          createdAtMillis: Date.now() + n
        }
        return Effect.as(
          journal.commit(Invoice.unmatched({ ...payment, reason: `payment ${n}` })),
          payment.id
        )
      })
    )
  )

const opened = async (cookie: string, path: string) => {
  const response = await service.handler(
    new Request(`http://service/operator/console${path}`, {
      headers: { cookie, "sec-fetch-site": "same-origin" }
    })
  )
  assert.strictEqual(response.status, 200, path)
  return response.text()
}

describe("the operator's console with more records than one list returns", () => {
  it("console: the Now page reads one page of a list and says that there is more, reads only frozen companies, and links to the oldest payment in suspense", async () => {
    const { id } = await service.company()
    assert.strictEqual(
      (await operate(`/companies/${id}/freeze`, { reason: "Key stolen", pending: "wait" })).status,
      200
    )
    const { open } = await service.run(Companies)
    await service.run(Effect.forEach(numbers(listed), (n) => open({ name: `Shop ${n}`, plan: "free" })))
    const [oldest] = await suspended(id, listed + 1)
    const cookie = await service.signIn(operatorToken)
    reads.length = 0
    const now = await opened(cookie, "")
    // One more than the page shows, to know whether there are more.
    assert.deepStrictEqual(
      reads,
      [[mostFrozen + 1, 1]],
      "only frozen companies are read, and only one page of them"
    )
    assert.include(now, "100 or more payments have no owner")
    assert.include(now, "is frozen")
    lists.length = 0
    assert.include(await opened(cookie, `/suspense/${oldest}`), "Assign 2 sats")
    assert.deepStrictEqual(
      lists.filter(([what]) => what === "suspense"),
      [],
      "the page of one payment reads no list"
    )
    const alarms = await opened(cookie, "/alarms")
    const row = (
      alarms.split("<tr").find((one) => one.includes("100 or more payments have no owner")) ?? ""
    ).replaceAll(/<!--.*?-->/g, "")
    for (const part of [
      ">Active<",
      "only in the console",
      '/suspense"',
      'docs/guides/incidents#missing-payment"'
    ])
      assert.include(row, part)
    assert.strictEqual(alarms.split("SatrailNoChannel").length, 2, "an alarm has one row")
  })

  it("console: the operator's people are read one page at a time, without removed ones, and a person's page reads no list", async () => {
    const by = { _tag: "Operator", operator: root } as const
    const { invite, remove } = await service.run(People)
    const remover = { _tag: "Operator", operator: { ...root, id: "other" } } as const
    const invited = (name: string) =>
      Effect.map(
        Effect.flatMap(invite({ companyId: CompanyId.operator, name, role: "viewer", by }), Answer.made),
        ({ person }) => person.id
      )
    const ada = await service.run(invited("Ada"))
    const gone = Effect.forEach(numbers(listed), (n) =>
      Effect.flatMap(invited(`Gone ${n}`), (id) => remove(CompanyId.operator, id, remover))
    )
    await service.run(gone)
    const cookie = await service.signIn(operatorToken)
    const readsOf = async (path: string) => {
      lists.length = 0
      const text = await opened(cookie, path)
      return { text, rows: lists.flatMap(([what, rows]) => (what === "people" ? [rows] : [])) }
    }
    const first = await readsOf("/people")
    // One more than the page shows, to know whether there are more.
    assert.strictEqual(
      first.rows.reduce((sum, rows) => sum + rows, 0),
      listed + 1
    )
    assert.notInclude(first.text, "Gone ")
    assert.include(first.text, "No people on this page")
    const [, older = ""] = /href="[^"]*(\/people\?cursor=[^"]+)"/.exec(first.text) ?? []
    const second = await readsOf(older)
    assert.deepStrictEqual(second.rows, [1])
    assert.include(second.text, ">Ada<")
    const one = await readsOf(`/people/${ada}`)
    assert.include(one.text, "Remove Ada")
    assert.deepStrictEqual(one.rows, [])
  })
})
