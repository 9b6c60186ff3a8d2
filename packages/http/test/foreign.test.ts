import { afterAll, assert, describe, it } from "@effect/vitest"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as AuditLog from "@satrail/core/features/audit/AuditLog"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect } from "effect"
import { type Answer, operatorToken, start } from "./Service.ts"
import { adjusted } from "./Adjusted.ts"
import { failedDelivery } from "./FailedDelivery.ts"
import { lost } from "./Lost.ts"
import { suspended } from "./Suspended.ts"
import * as Watched from "./Watched.ts"

// Calls every list, and every route that has an id, with credentials that must not have access. A documented
// route without a case here fails the test.

const watched = Watched.memory()
const service = await start({ storage: watched.layer })
afterAll(service.dispose)
const { operations, resolve } = OpenApi.read(
  (await service.ask("GET", "/openapi.json")).body,
  (await service.ask("GET", "/operator/openapi.json")).body
)

const invoice = "/v1/bitcoin/deposit/lightning-invoice"
const lightningAddress = "/v1/bitcoin/deposit/lightning-address"
const transactions = "/v1/transactions"
const vouchers = "/v1/vouchers"
const refunds = "/v1/refunds"

type Company = Awaited<ReturnType<typeof service.company>>

let made = 0
const created = async ({ key }: Pick<Company, "key">, path: string, body: unknown): Promise<string> => {
  const { status, body: answer, text } = await service.ask("POST", path, { key, body })
  assert.strictEqual(status, 201, text)
  assert.isString(answer.data.id, `POST ${path} returns no id`)
  return answer.data.id
}
const deposit = async ({ key }: Company): Promise<string> => {
  await service.fund(key, 10_000)
  return (await service.ask("GET", `${transactions}?type=deposit&limit=1`, { key })).body.data[0].id
}
const withdrawal = async (company: Company): Promise<string> => {
  await service.fund(company.key, 10_000)
  const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
  return created(company, "/v1/bitcoin/withdraw/confirm", { amount: 1000, currency: "sats", destination })
}
const voucher = async (company: Company): Promise<string> => {
  await service.fund(company.key, 10_000)
  return created(company, vouchers, { amount: 1000, currency: "sats" })
}
const refund = async (company: Company): Promise<string> => {
  const deposit_id = await deposit(company)
  return created(company, refunds, { deposit_id, amount: 1000, currency: "sats" })
}
const address = (company: Company) => created(company, lightningAddress, { handle: `shop-${++made}` })
/** The response to creating an address has no id. */
const onChain = async ({ key }: Company): Promise<string> => {
  const path = "/v1/bitcoin/deposit/on-chain"
  await service.ask("POST", path, { key })
  return (await service.ask("GET", path, { key })).body.data[0].id
}
const offer = (company: Company) => created(company, "/v1/bitcoin/deposit/offer", {})
const apiKey = async ({ id }: Company): Promise<string> =>
  (await service.ask("POST", `/operator/companies/${id}/api-keys`, { key: operatorToken, body: { name: "till", scopes: ["read"] } })).body
    .data.id

/** Issues a key with a connected app. */
const connected = async (company: Company): Promise<string> => {
  const id = await apiKey(company)
  await service.ask("POST", `/operator/api-keys/${id}/connect`, { key: operatorToken })
  return id
}

type Maker = (company: Company) => Promise<string>

/** A person invited by another operator. */
const invited =
  (role: string): Maker =>
  async ({ id, key }) => {
    await service.fund(key, 1000)
    const { second } = await adjusted(service, id)
    return created({ key: second }, "/operator/people", { company_id: id, name: "Ada", role })
  }

/** A withdrawal that waits for approval by another key. */
const waiting: Maker = async ({ id, key: funded }) => {
  await service.fund(funded, 10_000)
  const body = { name: "agent", scopes: ["send"], limits: { approval_above_sats: 0 } }
  const { key, id: keyId } = (await service.ask("POST", `/operator/companies/${id}/api-keys`, { key: operatorToken, body })).body.data
  await service.approve(keyId)
  const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_invoice", amount: service.sats(10) }))
  return (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body: { destination } })).body.data.id
}

const hooks = "webhook-endpoints"
const hook = { url: "https://shop.example/webhooks" }
/** Creates a company's endpoint. `operators` creates the operator's. */
const endpoint: Maker = (company) => created(company, `/v1/${hooks}`, hook)
const ofOperator = (path: string, body: unknown) => (): Promise<string> => created({ key: operatorToken }, `/operator/${path}`, body)
const operators = ofOperator(hooks, hook)
const preimage = "07".repeat(32)
/** A withdrawal whose payment the node has lost. */
const lostWithdrawal =
  (chosen?: string): Maker =>
  async ({ id, key }) => {
    await service.fund(key, 1000)
    return (await lost(service, id, undefined, chosen)).id
  }
/** A failed delivery to an endpoint. */
const delivery =
  (make: Maker, owner: (company: Company) => CompanyId.CompanyId): Maker =>
  async (company) =>
    failedDelivery(service, owner(company), await make(company), company.id)
const actions = ["", "/test", "/rotate-secret", "/enable", "/disable", "/replay", "/deliveries"]
const ofHooks = (root: string, make: Maker) => Object.fromEntries(actions.map((action) => [`${root}/${hooks}/{id}${action}`, make]))

const event = async (company: Company): Promise<string> => {
  await address(company)
  return (await service.ask("GET", "/v1/events", { key: company.key })).body.data[0].id
}

/** Functions that create the record for a path's id, where an example of a request cannot create it. */
const makers: Readonly<Record<string, Maker>> = {
  [`${invoice}/{invoiceID}`]: (company) => created(company, invoice, { amount: 1, currency: "sats" }),
  // A held invoice, which can be settled.
  [`${invoice}/{invoiceID}/settle`]: async ({ key }) => {
    const { data } = (await service.ask("POST", invoice, { key, body: { amount: 1, currency: "sats", hold: true } })).body
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest: data.payment_request }))
    return data.id
  },
  [`${lightningAddress}/{id}`]: address,
  [`${lightningAddress}/{id}/qr`]: address,
  [`${transactions}/deposits/{depositID}`]: deposit,
  [`${transactions}/deposits/{depositID}/payer`]: deposit,
  [`${transactions}/withdrawals/{withdrawalID}`]: withdrawal,
  [`${transactions}/withdrawals/{withdrawalID}/approve`]: waiting,
  [`${transactions}/withdrawals/{withdrawalID}/reject`]: waiting,
  [`${transactions}/adjustments/{adjustmentID}`]: async ({ id }) => (await adjusted(service, id)).booked,
  [`${vouchers}/{id}`]: voucher,
  [`${refunds}/{id}`]: refund,
  [`${refunds}/{id}/cancel`]: refund,
  "/v1/bitcoin/deposit/on-chain/{id}": onChain,
  "/v1/bitcoin/deposit/offer/{id}": offer,
  "/v1/events/{id}": event,
  ...ofHooks("/v1", endpoint),
  ...ofHooks("/operator", operators),
  "/v1/webhook-deliveries/{id}/resend": delivery(endpoint, ({ id }) => id),
  "/operator/webhook-deliveries/{id}/resend": delivery(operators, () => CompanyId.operator),
  "/operator/companies/{id}/api-keys": async ({ id }) => id,
  // Another company, because these change its plan or limits, or stop it from spending.
  "/operator/companies/{id}/limits": async () => (await service.company()).id,
  "/operator/companies/{id}/fees": async () => (await service.company()).id,
  "/operator/companies/{id}/freeze": async () => (await service.company()).id,
  "/operator/companies/{id}/unfreeze": async () => {
    const { id } = await service.company()
    await service.ask("POST", `/operator/companies/${id}/freeze`, { key: operatorToken, body: { reason: "a drill", pending: "wait" } })
    return id
  },
  "/operator/companies/{id}": async () => (await service.company()).id,
  "/operator/suspense/{id}/assign": ({ id }) => suspended(service, id),
  "/operator/adjustments/{id}": async ({ id }) => (await adjusted(service, id)).booked,
  "/operator/adjustments/{id}/approve": async ({ id }) => (await adjusted(service, id)).asked,
  "/operator/adjustments/{id}/reject": async ({ id }) => (await adjusted(service, id)).rejected,
  "/operator/withdrawals/{id}": withdrawal,
  "/operator/withdrawals/{id}/settle": lostWithdrawal(preimage),
  "/operator/withdrawals/{id}/release": lostWithdrawal(),
  "/operator/deposits/{id}": deposit,
  "/operator/tokens/{id}": ofOperator("tokens", { name: "night shift", scopes: ["read"] }),
  "/operator/people/{id}": invited("viewer"),
  "/operator/people/{id}/recover": invited("viewer"),
  "/operator/people/{id}/approve": invited("admin"),
  "/operator/api-keys/{id}": apiKey,
  "/operator/api-keys/{id}/limits": apiKey,
  "/operator/api-keys/{id}/allowed-from": apiKey,
  "/operator/api-keys/{id}/rotate": apiKey,
  "/operator/api-keys/{id}/approve": apiKey,
  "/operator/api-keys/{id}/connect": apiKey,
  "/operator/api-keys/{id}/wallet-connection": connected
}

/** Creates a record from the example of its collection's POST. Undefined if the collection has none. */
const shown = (path: string): Maker | undefined => {
  const [collection = ""] = path.split("/{")
  const creation = operations.find(({ name }) => name === `POST ${collection}`)
  return creation && ((company) => created(company, collection, creation.example))
}

/** The company's route that returns the same as this operator route, or undefined. */
const readBelow = (path: string): string | undefined => {
  const [, own] = /^\/operator\/companies\/\{companyId\}(\/.*)$/.exec(path) ?? []
  return own === undefined ? undefined : `/v1${own}`
}

/** Returns the function that creates the record for a path's last id. */
const makerOf = (path: string): Maker | undefined => {
  const own = readBelow(path)
  if (own === undefined) return makers[path] ?? shown(path)
  return own.includes("{") ? makerOf(own) : async ({ id }) => id
}

/** Bodies that cause a change, for routes whose example doesn't. */
const bodies: Record<string, unknown> = {
  [`PUT ${lightningAddress}/{id}`]: { min_sats: 7, success_message: "Thanks!" },
  "POST /operator/companies/{id}/api-keys": { name: "till", scopes: ["admin"] },
  "PATCH /operator/companies/{id}": { plan: "free" },
  "PUT /operator/companies/{id}/limits": { day_sats: 1 },
  "PUT /operator/companies/{id}/fees": { internal: { base_sats: 1 } },
  "PUT /operator/api-keys/{id}/limits": { day_sats: 1 },
  "POST /operator/companies/{companyId}/domains": { domain: "taken.example" },
  "POST /operator/api-keys/{id}/rotate": { overlap_seconds: 60 },
  "POST /operator/withdrawals/{id}/settle": { preimage, fee_sats: 0 }
}

/** Adds two records of a company to each list. */
const filled: Readonly<Record<string, (company: Company) => Promise<unknown>>> = {
  [transactions]: (company) => Promise.all([deposit(company), withdrawal(company)]),
  [lightningAddress]: (company) => Promise.all([address(company), address(company)]),
  [vouchers]: async (company) => [await voucher(company), await voucher(company)],
  [refunds]: async (company) => [await refund(company), await refund(company)],
  "/v1/bitcoin/deposit/on-chain": async (company) => [await onChain(company), await onChain(company)],
  "/v1/bitcoin/deposit/offer": async (company) => [await offer(company), await offer(company)],
  "/v1/events": async (company) => [await address(company), await address(company)],
  "/v1/audit": async (company) => {
    for (const _ of [1, 2]) await voucher(company)
    await service.run(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }))
  },
  "/v1/domains": ({ id }) =>
    service.run(Effect.flatMap(Companies, ({ verifyDomain }) => Effect.forEach([1, 2], (n) => verifyDomain(id, `own-${n}.${id}.example`))))
}
/** Lists that are the same for all callers. */
const shared = new Set(["/v1/rates"])
/** Lists too short to have pages. */
const unpaged = new Set(["/v1/domains", `/v1/${hooks}`])

const [ours, other] = [await service.company(), await service.company()]
const scopes = ["read", "receive", "send", "webhooks"] as const
bodies["POST /operator/suspense/{id}/assign"] = { company_id: ours.id }
// Replay from an existing event.
for (const root of ["/v1", "/operator"]) bodies[`POST ${root}/${hooks}/{id}/replay`] = { replay_from: await event(ours) }
const [oursBy, otherBy] = await Promise.all(
  [ours, other].map(
    async ({ id }) => new Map(await Promise.all(scopes.map(async (scope) => [scope, await service.keyFor(id, scope)] as const)))
  )
)

// A month exists for every company, so it is not an id of a record.
const isNoId = (path: string) => path === "/readyz/{check}" || path.endsWith("/statements/{month}")
const withId = operations.filter(({ path }) => path.includes("{") && !isNoId(path))
const listed = operations.filter(({ method, path, answers, opens }) => {
  const { properties } = resolve(answers.get(200) ?? {})
  const data = OpenApi.isObject(properties) ? properties["data"] : undefined
  return method === "GET" && opens.includes("apiKey") && !path.includes("{") && OpenApi.isObject(data) && data["type"] === "array"
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
      const twice = make && (async (company: Company) => [await make(company), await make(company)])
      return [path, filled[path] ?? twice ?? (() => assert.fail(`nothing creates records for ${path}`))]
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
    assert.includeMembers(paths, Object.keys(makers))
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
      for (const answer of not) assert.deepStrictEqual(told(answer), told(there), "the responses must not reveal which id exists")
      assert.deepStrictEqual(Watched.differences(before, watched.look()), [])
      return [there.status, there.body.error?.code] as const
    }

    it(`C53: ${name}: other callers cannot change a record or find out whether it exists`, async () => {
      const id = await (makerOf(path) ?? assert.fail("nothing creates this record"))(ours)
      for (const key of [undefined, "", "x", `${ours.key}x`]) assert.deepStrictEqual(await toldTo(key, id), [401, "unauthorized"])
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
          assert.deepStrictEqual(await toldTo(otherBy?.get(scope), id), opens ? [404, "not_found"] : [403, "scope_required"], scope)
          if (!opens) assert.deepStrictEqual(await toldTo(oursBy?.get(scope), id), [403, "scope_required"], scope)
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

    it(`GET ${path}: returns only the company's own records, on every page`, async () => {
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
      const { next } = unpaged.has(path) ? { next: undefined } : await pages(one, "?limit=1")
      if (next === undefined) return
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
