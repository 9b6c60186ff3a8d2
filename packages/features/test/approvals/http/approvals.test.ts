import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "../../../../http/test/Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)

const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, body })
const payee = await service.company()
const destination = await service.lightningAddress(payee.key, "payee")

/** A company with money, a key that may send up to 500 sats on its own, and a key that may approve more. */
const shop = async (
  limits: object = { approval_above_sats: 500 },
  scopes: ReadonlyArray<string> = ["send", "read"]
) => {
  const company = await service.company()
  await service.fund(company.key, 100_000)
  const issue = async (scopes: ReadonlyArray<string>, limits: object | null = null) => {
    const { data } = (
      await operate("POST", `/companies/${company.id}/api-keys`, { name: "one", scopes, limits })
    ).body
    await service.approve(data.id)
    return data
  }
  const [asks, approves] = [await issue(scopes, limits), await issue(["approve", "read"])]
  return { ...company, asks, approves, issue }
}

const path = "/v1/bitcoin/withdraw/confirm"
const send = (key: string, amount: number, headers: Record<string, string> = {}) =>
  service.ask("POST", path, { key, body: { amount, currency: "sats", destination }, headers })
const decide = (key: string, id: string, how: "approve" | "reject") =>
  service.ask("POST", `/v1/transactions/withdrawals/${id}/${how}`, { key })
const fetched = async (key: string, id: string) =>
  (await service.ask("GET", `/v1/transactions/withdrawals/${id}`, { key })).body.data

describe("withdrawals that another key approves", () => {
  it("approval: a withdrawal above the threshold has the status pending_approval and its funds are held; it is sent once it is approved", async () => {
    const { key, asks, approves } = await shop()
    assert.strictEqual((await send(asks.key, 400)).body.data.status, "pending")
    const { body } = await send(asks.key, 1000)
    const { id, status, approval } = body.data
    assert.deepStrictEqual(
      [status, approval.state, approval.asked_by, approval.decided_by],
      ["pending_approval", "waiting", asks.id, null]
    )
    await service.work()
    const listed = async (status: string) =>
      (await service.ask("GET", `/v1/transactions?status=${status}`, { key })).body.data.map(
        (row: { readonly id: string }) => row.id
      )
    assert.deepStrictEqual(await listed("pending_approval"), [id])
    assert.deepStrictEqual(await listed("pending"), [])
    assert.isAtLeast(
      (await service.ask("GET", "/v1/transactions/balance", { key })).body.data.held_sats,
      1000
    )
    const approved = await decide(approves.key, id, "approve")
    assert.strictEqual(approved.status, 200, approved.text)
    assert.deepStrictEqual(
      [approved.body.data.status, approved.body.data.approval.decided_by],
      ["pending", approves.id]
    )
    await service.work()
    assert.strictEqual((await fetched(key, id)).status, "settled")
    assert.strictEqual((await decide(approves.key, id, "approve")).status, 200, "again")
    assert.deepStrictEqual(seen(await decide(approves.key, id, "reject")), bad(409, "approval_over"))
  })

  it("approval: the approving key needs the approve scope, and must not be the requesting key or a rotation of that key", async () => {
    const { asks, issue, key } = await shop({ approval_above_sats: 500 }, ["send", "approve"])
    const { id } = (await send(asks.key, 1000)).body.data
    for (const scopes of [["send"], ["read", "receive", "webhooks"]])
      assert.deepStrictEqual(
        seen(await decide((await issue(scopes)).key, id, "approve")),
        bad(403, "scope_required")
      )
    const own = await decide(asks.key, id, "approve")
    assert.deepStrictEqual(seen(own), bad(403, "approval_by_asker"))
    // Decision 0193: this also refuses people, who have no key to change, such as two people whom the same person invited.
    assert.include(own.text, "nor can anyone linked to them by an invitation or a recovery")
    const fresh = (await operate("POST", `/api-keys/${asks.id}/rotate`, { overlap_seconds: 60 })).body.data
    await service.approve(fresh.id)
    assert.deepStrictEqual(seen(await decide(fresh.key, id, "approve")), bad(403, "approval_by_asker"))
    const stranger = await shop()
    assert.deepStrictEqual(seen(await decide(stranger.approves.key, id, "approve")), bad(404, "not_found"))
    assert.deepStrictEqual((await decide(fresh.key, id, "reject")).body.data.failure, {
      code: "approval_rejected",
      message: "The withdrawal was rejected"
    })
    assert.strictEqual((await service.ask("GET", "/v1/transactions/balance", { key })).body.data.held_sats, 0)
  })

  it("approval: the operator can reject a waiting withdrawal of any company; a sent withdrawal is not affected", async () => {
    const { approves, asks, key } = await shop()
    const [{ id }, { id: other }] = [
      (await send(asks.key, 1000)).body.data,
      (await send(asks.key, 1000)).body.data
    ]
    const rejectIt = (id: string, token = operatorToken) =>
      service.ask("POST", `/operator/withdrawals/${id}/reject`, { key: token })
    const tokenOf = async (scopes: ReadonlyArray<string>) =>
      (await operate("POST", "/tokens", { name: "night", scopes })).body.data.token
    assert.deepStrictEqual(
      seen(await rejectIt(id, await tokenOf(["read", "stop"]))),
      bad(403, "scope_required")
    )
    for (const token of [await tokenOf(["mend"]), operatorToken]) {
      const { body, status, text } = await rejectIt(id, token)
      assert.deepStrictEqual(
        [status, body.data.status, body.data.failure?.code],
        [200, "failed", "approval_rejected"],
        text
      )
      assert.deepStrictEqual(
        [body.data.approval.state, body.data.approval.decided_by],
        ["rejected", "operator"]
      )
    }
    assert.deepStrictEqual(seen(await decide(approves.key, id, "approve")), bad(409, "approval_over"))
    await decide(approves.key, other, "approve")
    assert.deepStrictEqual(seen(await rejectIt(other)), bad(409, "approval_over"))
    await service.work()
    assert.strictEqual((await fetched(key, other)).status, "settled")
    assert.deepStrictEqual(
      seen(await rejectIt("01a1f768-1c70-748e-8579-81b7373e8599")),
      bad(404, "not_found")
    )
    const [entry] = (await operate("GET", `/audit?subject=${id}`)).body.data
    assert.deepStrictEqual([entry.actor, entry.subject], ["operator", id])
  })

  it("approval: concurrent approvals and rejections have one outcome, which every response shows", async () => {
    const { approves, asks, issue, key } = await shop()
    const other = await issue(["approve"])
    for (let i = 0; i < 5; i++) {
      const { id } = (await send(asks.key, 1000)).body.data
      const answers = await Promise.all([
        decide(approves.key, id, "approve"),
        decide(other.key, id, "reject"),
        decide(other.key, id, "approve"),
        decide(approves.key, id, "reject")
      ])
      await service.work()
      const { status } = await fetched(key, id)
      const [one, two] =
        status === "settled"
          ? [
              [0, 2],
              [1, 3]
            ]
          : [
              [1, 3],
              [0, 2]
            ]
      for (const at of one ?? []) assert.strictEqual(answers[at]?.status, 200, status)
      for (const at of two ?? []) assert.strictEqual(answers[at]?.body.error?.code, "approval_over", status)
    }
    assert.strictEqual((await service.ask("GET", "/v1/transactions/balance", { key })).body.data.held_sats, 0)
  })

  it("approval: a key limited to some addresses cannot approve or reject from other addresses", async () => {
    const { approves, asks } = await shop()
    const { id } = (await send(asks.key, 1000)).body.data
    await operate("PUT", `/api-keys/${approves.id}/allowed-from`, {
      allowed_from: { for: "sending", ranges: ["203.0.113.7"] }
    })
    for (const how of ["approve", "reject"] as const)
      assert.deepStrictEqual(seen(await decide(approves.key, id, how)), bad(403, "address_not_allowed"))
    assert.strictEqual((await fetched(approves.key, id)).status, "pending_approval")
  })
})

it("console: a key that counts as the one that requested a withdrawal is not offered to approve it", async () => {
  const { approves, asks } = await shop({ approval_above_sats: 500 }, ["read", "send", "approve"])
  const { id } = (await send(asks.key, 1000)).body.data
  const fresh = (await operate("POST", `/api-keys/${asks.id}/rotate`, { overlap_seconds: 60 })).body.data
  await service.approve(fresh.id)
  const page = async ({ key }: { readonly key: string }) =>
    service.page(await service.signIn(key), `console/payments/out/${id}`)
  assert.include(await page(approves), "Approve 1,000 sats")
  for (const [own, who] of [
    [asks, "You"],
    [fresh, "A key or person linked to you"]
  ] as const) {
    const shown = await page(own)
    assert.notInclude(shown, "Approve 1,000 sats")
    assert.include(shown, `${who} requested it, so another person or key must approve it.`)
  }
})

it("console: the operator sees that a withdrawal waits for approval, and afterwards who decided", async () => {
  const { id: companyId, key } = await service.company()
  await service.fund(key, 50_000)
  assert.strictEqual(
    (await operate("PUT", `/companies/${companyId}/limits`, { approval_above_sats: 1 })).status,
    200
  )
  const [company, operator] = [await service.signIn(key), await service.signIn(operatorToken)]
  const page = (path: string) => service.page(operator, `operator/console/${path}`)
  const terms = await page(`companies/${companyId}/terms`)
  assert.match(terms, /Needs approval above, sats.*name="approval_above_sats"[^>]*value="1"/s)
  assert.include(await service.page(company, "console/limits"), "<dt>Needs approval</dt><dd>Above 1 sat</dd>")
  const { id } = (await send(key, 1000)).body.data
  assert.match(await page("backlog?kind=withdrawal_unapproved"), /Needs approval \d+<.*Needs approval</s)
  const waiting = await page(`withdrawals/${id}`)
  const texts = [
    "Waiting for the company to approve it",
    "Another person or key at ",
    "<dt>Approval</dt><dd>Waiting</dd>",
    "<dt>Held</dt>"
  ]
  for (const text of texts) assert.include(waiting, text)
  assert.notInclude(waiting, "What it waits for")
  assert.strictEqual((await decide(key, id, "reject")).status, 200)
  const over = await page(`withdrawals/${id}`)
  assert.match(over, /<dt>Approval<\/dt><dd>Rejected by \w+<\/dd>/)
  assert.notInclude(over, "<dt>Held</dt>")
})
