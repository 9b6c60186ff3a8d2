import { assert, it } from "@effect/vitest"
import * as Customer from "../Customer.ts"
import { type Answer, type Company, eventually, leaseMillis, send } from "../Service.ts"
import { suite } from "./Suite.ts"

const callers = 64
const turns = 2

suite("platform keys on three processes", {}, (cluster) => {
  const urlOf = (at: number): string => cluster().urls()[at % 3] ?? assert.fail(`no process ${at}`)
  const seen = ({ status, code }: Answer) => (code === undefined ? String(status) : `${status} ${code}`)
  const operate = (at: number, method: string, route: string, key: string, body?: unknown) =>
    send(`${urlOf(at)}/operator${route}`, method, { key, ...(body !== undefined && { body }) })

  const as = (at: number, key: string, { id }: Pick<Company, "id">, method: string, route: string) =>
    send(urlOf(at) + route, method, {
      key,
      headers: { "Satrail-Account": id },
      ...(method === "POST" && { body: { amount: 1000, currency: "sats" } })
    })

  let operators: ReadonlyArray<string> | undefined
  /** A key that one operator requested at one process, and another approved at another. */
  const issue = async (more: object) => {
    const { operatorToken } = cluster()
    const second = { name: "Bob", scopes: ["all"] }
    operators ??= [operatorToken, (await cluster().operate("/tokens", second)).token]
    const [ada = "", bob = ""] = operators
    const ask = { name: "marketplace", scopes: ["read", "send"], ...more }
    const { id, key } = await Customer.data(201, operate(0, "POST", "/platform-keys", ada, ask))
    await Customer.data(200, operate(1, "POST", `/platform-keys/${id}/approve`, bob))
    return { id: String(id), key: String(key) }
  }

  const everywhere = async (key: string, account: Company): Promise<ReadonlyArray<string>> =>
    Promise.all([0, 1, 2].map(async (at) => seen(await as(at, key, account, "GET", "/v1/account"))))
  const three = (answer: string) => [answer, answer, answer]

  it("platform: 64 callers for 10 accounts at three processes send exactly what the key's limit and each account's own allow", async () => {
    const most = { key: 5, own: 3 }
    const { id, key } = await issue({ limits: { day_count: most.key } })
    const accounts = await Customer.times(10, () => cluster().company())
    const [limited = assert.fail()] = accounts
    await Customer.data(
      200,
      operate(0, "PUT", `/companies/${limited.id}/limits`, cluster().operatorToken, { day_count: most.own })
    )
    await Promise.all(accounts.map((account) => Customer.fund(account, 100_000)))
    const made = new Map<string, number>()
    await Customer.times(callers, async (caller) => {
      const account = accounts[caller % accounts.length] ?? assert.fail()
      for (let turn = 0; turn < turns; turn++) {
        const answer = seen(await as(caller + turn, key, account, "POST", "/v1/vouchers"))
        if (answer === "201") made.set(account.id, (made.get(account.id) ?? 0) + 1)
        else assert.strictEqual(answer, "422 limit_exceeded")
      }
    })
    assert.deepStrictEqual(
      accounts.map((account) => made.get(account.id)),
      accounts.map((account) => (account === limited ? most.own : most.key))
    )
    for (const account of accounts) {
      const body = { created_by: id }
      const { canceled } = await cluster().operate(`/companies/${account.id}/vouchers/cancel`, body, 200)
      assert.strictEqual(canceled, made.get(account.id))
    }
  })

  it("platform: once a key is revoked, no process accepts it", async () => {
    const account = await cluster().company()
    const { id, key } = await issue({})
    assert.deepStrictEqual(await everywhere(key, account), three("200"))
    await Customer.data(200, operate(2, "DELETE", `/platform-keys/${id}`, cluster().operatorToken))
    assert.deepStrictEqual(await everywhere(key, account), three("401 unauthorized"))
  })

  it("platform: once a key expires, no process accepts it", async () => {
    const account = await cluster().company()
    const { key } = await issue({ expires_at: new Date(Date.now() + leaseMillis).toISOString() })
    assert.deepStrictEqual(await everywhere(key, account), three("200"))
    cluster().overslept()
    await eventually(
      "the key's expiry",
      () => everywhere(key, account),
      (answers) => answers.every((answer) => answer === "401 unauthorized")
    )
  })
})
