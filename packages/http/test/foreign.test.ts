import { afterAll, assert, describe, it } from "@effect/vitest"
import { Companies } from "@satrail/core/accounts/Companies"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect } from "effect"
import { type Answer, operatorToken, start } from "./Service.ts"
import * as Makers from "./Makers.ts"
import * as Watched from "./Watched.ts"

// Calls every list, and every route that has an id, with credentials that must not have access. A documented
// route without a case here fails the test.

const watched = Watched.memory()
const service = await start({ storage: watched.layer })
afterAll(service.dispose)
const { operations, resolve, shown, makerOf } = await Makers.read(service)

type Company = Makers.Company
/** Creates two records of a company. */
const twice = (make: Makers.Maker) => async (company: Company) => {
  await make(service, company)
  await make(service, company)
}

/** Adds two records of a company to each list. */
const filled: Readonly<Record<string, (company: Company) => Promise<unknown>>> = {
  [Makers.transactions]: (company) =>
    Promise.all([Makers.deposit(service, company), Makers.withdrawal(service, company)]),
  [Makers.lightningAddress]: twice(Makers.address),
  [Makers.vouchers]: twice(Makers.voucher),
  [Makers.refunds]: twice(Makers.refund),
  [Makers.transfers]: twice(Makers.transfer),
  "/v1/bitcoin/deposit/on-chain": twice(Makers.onChain),
  "/v1/bitcoin/deposit/offer": twice(Makers.offer),
  "/v1/events": twice(Makers.address),
  "/v1/audit": async (company) => {
    await twice(Makers.voucher)(company)
    await service.run(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }))
  },
  "/v1/domains": ({ id }) =>
    service.run(
      Effect.flatMap(Companies, ({ verifyDomain }) =>
        Effect.forEach([1, 2], (n) => verifyDomain(id, `own-${n}.${id}.example`))
      )
    )
}
/** Lists that are the same for all callers, and the search, which searchWalk.test.ts tests. */
const shared = new Set(["/v1/rates", "/v1/search"])
/** Lists too short to have pages. */
const unpaged = new Set(["/v1/domains", `/v1/${Makers.hooks}`])

const [ours, other] = [await service.company(), await service.company()]
const scopes = ["read", "receive", "send", "webhooks"] as const
const bodies = await Makers.bodiesOf(service, ours)
const [oursBy, otherBy] = await Promise.all(
  [ours, other].map(
    async ({ id }) =>
      new Map(
        await Promise.all(scopes.map(async (scope) => [scope, await service.keyFor(id, scope)] as const))
      )
  )
)

// A month exists for every company, so it is not an id of a record.
const isNoId = (path: string) => path === "/readyz/{check}" || path.endsWith("/statements/{month}")
const withId = operations.filter(({ path }) => path.includes("{") && !isNoId(path))
const listed = operations.filter(({ method, path, answers, opens }) => {
  const { properties } = resolve(answers.get(200) ?? {})
  const data = OpenApi.isObject(properties) ? properties["data"] : undefined
  return (
    method === "GET" &&
    opens.includes("apiKey") &&
    !path.includes("{") &&
    OpenApi.isObject(data) &&
    data["type"] === "array"
  )
})

/**
 * Every part of a response by which a caller could tell it from another. The date only depends on the clock,
 * and all requests have the same id.
 */
const told = ({ status, headers, text }: Answer) => ({
  status,
  headers: [...headers].filter(([name]) => name !== "date"),
  text
})

/** Fills each documented list with two records. */
const lists = new Map(
  listed
    .filter(({ path }) => !shared.has(path))
    .map(({ path }) => {
      const make = shown(path)
      return [
        path,
        filled[path] ?? (make && twice(make)) ?? (() => assert.fail(`nothing creates records for ${path}`))
      ]
    })
)

/** Ids of no record. Some are malformed. */
const nobodys = [
  "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d",
  "00000000-0000-0000-0000-000000000000",
  "x",
  "0",
  "%00",
  "%F0%9F%99%82",
  "a".repeat(90)
]

describe("every route with an id", () => {
  it("isolation: every route with an id is tested", () => {
    const paths = withId.map(({ path }) => path)
    assert.includeMembers(paths, Object.keys(Makers.makers))
    for (const { name, path, body, example } of withId) {
      assert.isDefined(makerOf(path), path)
      if (body !== undefined) assert.isDefined(bodies[name] ?? example, name)
    }
  })

  for (const { name, method, path, opens, description, example } of withId) {
    const body = bodies[name] ?? example
    const place = /\{.*\{/.test(path) ? path.replace("{companyId}", ours.id) : path
    const ask = (id: string, key: string | undefined) =>
      service.ask(method, place.replace(/\{\w+\}/, id), {
        ...(key !== undefined && { key }),
        ...(body !== undefined && { body }),
        headers: { "x-request-id": "the-same-for-all" }
      })
    /**
     * Requests an existing id and ids that don't exist. Asserts that the responses are the same and that
     * nothing changed.
     */
    const toldTo = async (key: string | undefined, id: string) => {
      const before = watched.look()
      const [there, ...not] = await Promise.all([id, ...nobodys].map((one) => ask(one, key)))
      if (there === undefined) return assert.fail("there is no response")
      for (const answer of not)
        assert.deepStrictEqual(told(answer), told(there), "the responses must not reveal which id exists")
      assert.deepStrictEqual(Watched.differences(before, watched.look()), [])
      return [there.status, there.body.error?.code] as const
    }

    it(`C53: ${name}: other callers cannot change a record or find out whether it exists`, async () => {
      const id = await (makerOf(path) ?? assert.fail("nothing creates this record"))(service, ours)
      for (const key of [undefined, "", "x", `${ours.key}x`])
        assert.deepStrictEqual(await toldTo(key, id), [401, "unauthorized"])
      if (opens.includes("operatorToken")) {
        for (const key of [ours.key, other.key, ...(oursBy?.values() ?? [])])
          assert.deepStrictEqual(await toldTo(key, id), [401, "unauthorized"])
      } else {
        assert.deepStrictEqual(await toldTo(operatorToken, id), [401, "unauthorized"])
        assert.deepStrictEqual(await toldTo(other.key, id), [404, "not_found"])
        assert.deepStrictEqual(await toldTo(ours.key, `${id}x`), [404, "not_found"])
        const [, named = ""] = /Requires the ([^.]*) scope\./.exec(description) ?? []
        const opening = Array.from(named.matchAll(/`(\w+)`/g), ([, scope]) => scope)
        assert.isNotEmpty(opening)
        for (const scope of scopes) {
          const opens = opening.includes(scope)
          assert.deepStrictEqual(
            await toldTo(otherBy?.get(scope), id),
            opens ? [404, "not_found"] : [403, "scope_required"],
            scope
          )
          if (!opens)
            assert.deepStrictEqual(await toldTo(oursBy?.get(scope), id), [403, "scope_required"], scope)
        }
      }
      // The record exists for the rightful caller.
      const { status, text } = await ask(id, opens.includes("operatorToken") ? operatorToken : ours.key)
      assert.include([200, 201], status, text)
    })
  }
})

describe("every list", () => {
  it("isolation: every list is tested", () => {
    assert.includeMembers(
      listed.map(({ path }) => path),
      [...Object.keys(filled), ...shared]
    )
  })

  for (const [path, fill] of lists) {
    const pages = async ({ key }: Company, query = "") => {
      const { status, body, headers, text } = await service.ask("GET", `${path}${query}`, { key })
      assert.strictEqual(status, 200, text)
      return {
        rows: body.data.map((row: unknown) => JSON.stringify(row)),
        next: /[?&]cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1]
      }
    }

    it(`GET ${path}: returns only the company's own records, each once on its pages, and rejects unknown queries`, async () => {
      const companies = [await service.company(), await service.company()] as const
      for (const company of companies) await fill(company)
      const [one, two] = companies
      const [all, others] = [await pages(one), await pages(two)]
      assert.isAtLeast(all.rows.length, 2)
      assert.isAtLeast(others.rows.length, 2)
      for (const row of all.rows) {
        assert.notInclude(others.rows, row)
        assert.notInclude(row, two.id)
      }
      for (const query of ["limit=0", "cursor=x", "page=2"])
        assert.strictEqual(
          (await service.ask("GET", `${path}?${query}`, { key: one.key })).status,
          400,
          query
        )
      if (unpaged.has(path)) return
      const { rows, next = assert.fail("the list has one page") } = await pages(one, "?limit=1")
      for (let after: string | undefined = next; after !== undefined;) {
        const page = await pages(one, `?limit=1&cursor=${after}`)
        assert.isAtMost(page.rows.length, 1)
        assert.isAtMost(rows.push(...page.rows), all.rows.length)
        after = page.next
      }
      assert.deepStrictEqual(rows, all.rows)
      // A cursor of the feed is an event id, which is invalid for other companies.
      if (next.startsWith("evt_")) {
        const { status } = await service.ask("GET", `${path}?cursor=${next}`, { key: two.key })
        return assert.strictEqual(status, 400)
      }
      // Other cursors only contain a point in time, so the page shows the caller's own records.
      for (const row of (await pages(two, `?cursor=${next}`)).rows) assert.include(others.rows, row)
    })
  }
})
