import { afterAll, assert, describe, it } from "@effect/vitest"
import { differences, instant, is, text } from "./Shape.ts"
import { type Answer, operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const get = (path: string, key = operatorToken) => service.ask("GET", `/operator/companies${path}`, { key })
const post = (path: string, body: unknown) =>
  service.ask("POST", `/operator${path}`, { key: operatorToken, body })
const opened = async (name: string, plan = "free"): Promise<string> =>
  (await post("/companies", { name, plan })).body.data.id
const ids = ({ body }: Answer): ReadonlyArray<string> =>
  body.data.map(({ id }: { readonly id: string }) => id)

/** Lists are sorted by id, newest first. Ids of the same millisecond are in random order. */
const newestFirst = (...made: ReadonlyArray<string>) => made.toSorted().toReversed()

/** Follows a list's links, and returns all its pages. */
const pages = async (path: string): Promise<ReadonlyArray<Answer>> => {
  const answer = await service.ask("GET", path, { key: operatorToken })
  const [, next] = /<([^>]*)>/.exec(answer.headers.get("link") ?? "") ?? []
  return next === undefined ? [answer] : [answer, ...(await pages(next))]
}

describe("operators list companies", () => {
  it("companies: each company is shown with its balance, its keys and the time of its last use", async () => {
    const { id, key } = await service.company("paid")
    await service.fund(key, 50_000)
    const { body } = await get(`/${id}`)
    const members = {
      plan: is("paid"),
      frozen: is(null),
      created_at: instant,
      posted_sats: is(50_000),
      held_sats: is(0),
      available_sats: is(50_000)
    }
    assert.deepStrictEqual(
      differences(body.data, { id: is(id), name: text, ...members, api_keys: is(1), last_seen_at: instant }),
      []
    )
    const [first] = (await get("?limit=1")).body.data
    assert.deepStrictEqual(first, body.data, "the list has the same data, newest first")
  })

  it("companies: held amounts are not available, and revoked keys are not counted", async () => {
    const { id, key } = await service.company("paid")
    await service.fund(key, 50_000)
    await service.ask("POST", "/v1/vouchers", { key, body: { amount: 1000, currency: "sats" } })
    const { id: keyId } = (await post(`/companies/${id}/api-keys`, { name: "till", scopes: ["read"] })).body
      .data
    await service.ask("DELETE", `/operator/api-keys/${keyId}`, { key: operatorToken })
    const { posted_sats, held_sats, available_sats, api_keys } = (await get(`/${id}`)).body.data
    assert.isAbove(held_sats, 1000)
    assert.deepStrictEqual([posted_sats, available_sats, api_keys], [50_000, 50_000 - held_sats, 1])
  })

  it("companies: a search matches part of the name in any letter case or the start of the id, and can be combined with a plan", async () => {
    const [one, two] = [await opened("Coffee & Söhne"), await opened("more COFFEE", "paid")]
    assert.deepStrictEqual(ids(await get("?search=coffee")), newestFirst(one, two))
    assert.deepStrictEqual(ids(await get("?search=coffee&plan=free")), [one])
    assert.deepStrictEqual(ids(await get(`?search=${one.slice(0, 20).toUpperCase()}`)), [one])
    assert.deepStrictEqual(ids(await get("?search=tea%25")), [])
  })

  it("companies: the list can be limited to frozen companies, even within a search", async () => {
    const [one, two] = [await opened("Thaw 1"), await opened("Thaw 2")]
    const frozen = async () => ids(await get("?search=thaw&status=frozen"))
    assert.deepStrictEqual(await frozen(), [])
    for (const id of [one, two])
      await post(`/companies/${id}/freeze`, { reason: "Key stolen", pending: "wait" })
    assert.deepStrictEqual(await frozen(), newestFirst(one, two))
    await post(`/companies/${two}/unfreeze`, {})
    assert.deepStrictEqual(await frozen(), [one])
  })

  it("companies: each page continues the same search", async () => {
    const all = [await opened("paged 1"), await opened("paged 2"), await opened("paged 3")]
    const found = await pages("/operator/companies?search=paged&limit=2")
    assert.deepStrictEqual(
      found.map((page) => ids(page).length),
      [2, 1]
    )
    assert.deepStrictEqual(found.flatMap(ids), newestFirst(...all))
  })

  it("companies: a company's keys are listed newest first, without their secrets", async () => {
    const id = await opened("keys")
    const keys: Array<string> = []
    for (const name of ["a", "b", "c"])
      keys.push((await post(`/companies/${id}/api-keys`, { name, scopes: ["read"] })).body.data.id)
    const found = await pages(`/operator/companies/${id}/api-keys?limit=2`)
    assert.sameMembers(found.flatMap(ids), keys)
    const shape = { id: text, company_id: is(id), name: text, scopes: is(["read"]), created_at: instant }
    const unused = {
      expires_at: is(null),
      revoked_at: is(null),
      last_used_at: is(null),
      limits: is(null),
      allowed_from: is(null),
      approval: is(null)
    }
    assert.deepStrictEqual(differences(found[0]?.body.data[0], { ...shape, ...unused }), [])
  })

  it("companies: invalid fields are rejected, and the error names them", async () => {
    const id = await opened("bad")
    const codes = async (path: string) => {
      const { status, body } = await get(path)
      return [status, body.error?.code, body.error?.issues?.[0]?.path]
    }
    assert.deepStrictEqual(await codes("?search="), [400, "malformed", "search"])
    assert.deepStrictEqual(await codes("?search=%00"), [400, "malformed", "search"])
    assert.deepStrictEqual(await codes("?plan=gold"), [400, "malformed", "plan"])
    assert.deepStrictEqual(await codes("?status=open"), [400, "malformed", "status"])
    assert.deepStrictEqual(await codes(`/${id}/api-keys?cursor=x`), [400, "malformed", "cursor"])
    for (const path of ["/none", `/${id.replace(/.$/, "g")}`, "/018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"])
      for (const list of ["", "/api-keys", "/transactions", "/events"])
        assert.strictEqual((await get(`${path}${list}`)).status, 404)
  })
})

describe("operators read a company's records", () => {
  it("companies: an operator who reads a company's records gets the same responses as the company", async () => {
    const [one, two] = [await service.company("paid"), await service.company("paid")]
    for (const { key } of [one, two]) for (let i = 0; i < 2; i++) await service.fund(key, 1000)
    for (const path of [
      "/transactions",
      "/transactions/balance",
      "/bitcoin/deposit/lightning-invoice",
      "/events",
      "/webhook-endpoints"
    ]) {
      const own = await service.ask("GET", `/v1${path}`, { key: one.key })
      assert.deepStrictEqual((await get(`/${one.id}${path}`)).body, own.body, path)
    }
    const found = await pages(`/operator/companies/${one.id}/transactions?limit=1`)
    assert.lengthOf(found, 2)
    assert.match(found[0]?.headers.get("link") ?? "", /[?&]cursor=.*rel="next"$/)
    const [theirs] = ids(await get(`/${two.id}/transactions`))
    assert.strictEqual((await get(`/${two.id}/transactions/deposits/${theirs}`)).status, 200)
    assert.strictEqual((await get(`/${one.id}/transactions/deposits/${theirs}`)).status, 404)
  })

  it("companies: an operator cannot create a company's vouchers", async () => {
    const { id } = await service.company("paid")
    for (const method of ["POST", "PUT", "DELETE"])
      assert.include(
        [404, 405],
        (await service.ask(method, `/operator/companies/${id}/vouchers`, { key: operatorToken })).status
      )
  })
})
