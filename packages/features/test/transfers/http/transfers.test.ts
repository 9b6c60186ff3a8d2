import { afterAll, assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { bad, issuePaths, operatorToken, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const path = "/v1/transfers"
const sats = (amount: number) => ({ amount, currency: "sats" })
const balance = async (key: string): Promise<number> =>
  (await service.ask("GET", "/v1/transactions/balance", { key })).body.data.balance
const send = (key: string, body: object) => service.ask("POST", path, { key, body })
const returnTransfer = (key: string, id: string, body: object = {}) =>
  service.ask("POST", `${path}/${id}/return`, { key, body })

/** A company with this many sats, and another one without money. */
const pair = async (amount = 10_000) => {
  const [payer, payee] = [await service.company(), await service.company()]
  await service.fund(payer.key, amount)
  return [payer, payee] as const
}
const limited = async (id: string, limits: object): Promise<string> => {
  const key = await service.keyFor(CompanyId.make(id), "send")
  const answer = await service.ask("PUT", `/operator/api-keys/${key.split("_")[2]}/limits`, {
    key: operatorToken,
    body: limits
  })
  assert.strictEqual(answer.status, 200, answer.text)
  return key
}

describe("transfers", () => {
  it("transfer: both accounts see it in full, as a record, a transaction, an event and in the export; others do not", async () => {
    const [[payer, payee], other] = [await pair(), await service.company()]
    const { status, body, text } = await send(payer.key, {
      to: payee.id,
      ...sats(1000),
      description: "Share of order 1042",
      metadata: { order: "1042" }
    })
    assert.strictEqual(status, 201, text)
    const { id } = body.data
    assert.deepInclude(body.data, {
      company_id: payer.id,
      to: payee.id,
      amount_sats: 1000,
      returned_sats: 0,
      status: "completed",
      return_of: null,
      metadata: { order: "1042" }
    })
    assert.deepStrictEqual([await balance(payer.key), await balance(payee.key)], [9000, 1000])
    for (const [key, sign, recipient, type, direction] of [
      [payer.key, -1, payee.id, "transfer.sent", "sent"],
      [payee.key, 1, payer.id, "transfer.received", "received"]
    ] as const) {
      assert.deepStrictEqual((await service.ask("GET", `${path}/${id}`, { key })).body.data, body.data)
      const lines = (await service.ask("GET", "/v1/transactions?rail_type=internal", { key })).body.data
      assert.lengthOf(lines, 1)
      assert.deepInclude(lines[0], {
        id,
        type: "transfer",
        rail_type: "internal",
        amount_sats: sign * 1000,
        fee_sats: 0,
        recipient,
        status: "settled",
        description: "Share of order 1042",
        metadata: { order: "1042" }
      })
      const events = (await service.ask("GET", "/v1/events", { key })).body.data
      const told = events.filter(({ type }: { readonly type: string }) => type.startsWith("transfer."))
      assert.lengthOf(told, 1)
      assert.strictEqual(told[0].type, type)
      assert.deepStrictEqual(told[0].data, body.data)
      const csv = (await service.ask("GET", "/v1/transactions/export", { key })).text
      const [head = "", ...rows] = csv.split("\n").map((line) => line.trim().split(","))
      const [line = []] = rows.filter((row) => row.includes(id))
      const cell = (name: string) => line[head.indexOf(name)]
      assert.deepStrictEqual(["type", "rail_type", "amount_sats", "recipient"].map(cell), [
        "transfer",
        "internal",
        String(sign * 1000),
        recipient
      ])
      for (const [query, count] of [
        [`direction=${direction}`, 1],
        [`direction=${direction === "sent" ? "received" : "sent"}`, 0],
        [`account_id=${recipient}`, 1],
        [`account_id=${other.id}`, 0]
      ] as const)
        assert.lengthOf((await service.ask("GET", `${path}?${query}`, { key })).body.data, count, query)
    }
    assert.deepStrictEqual(
      seen(await service.ask("GET", `${path}/${id}`, { key: other.key })),
      bad(404, "not_found")
    )
    assert.deepStrictEqual(seen(await returnTransfer(other.key, id)), bad(404, "not_found"))
    assert.lengthOf((await service.ask("GET", path, { key: other.key })).body.data, 0)
  })

  it("transfer: the recipient returns it in parts, never more than it; the sender cannot take it back", async () => {
    const [payer, payee] = await pair()
    const { id } = (await send(payer.key, { to: payee.id, ...sats(1000) })).body.data
    assert.deepStrictEqual(seen(await returnTransfer(payer.key, id)), bad(404, "not_found"))
    const part = await returnTransfer(payee.key, id, sats(300))
    assert.strictEqual(part.status, 201, part.text)
    assert.deepInclude(part.body.data, {
      return_of: id,
      company_id: payee.id,
      to: payer.id,
      amount_sats: 300
    })
    const more = await returnTransfer(payee.key, id, sats(701))
    assert.deepStrictEqual(seen(more), bad(409, "return_too_large"))
    assert.include(more.body.message, "700 sats")
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => returnTransfer(payee.key, id, sats(100)))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
      ...Array.from({ length: 7 }, () => 201),
      ...Array.from({ length: 9 }, () => 409)
    ])
    assert.deepStrictEqual(seen(await returnTransfer(payee.key, id)), bad(409, "return_too_large"))
    const { returned_sats } = (await service.ask("GET", `${path}/${id}`, { key: payer.key })).body.data
    assert.strictEqual(returned_sats, 1000)
    assert.deepStrictEqual([await balance(payer.key), await balance(payee.key)], [10_000, 0])
  })

  it("transfer: without an amount, what is left is returned; the same key returns it once", async () => {
    const [payer, payee] = await pair()
    const { id } = (await send(payer.key, { to: payee.id, ...sats(1000) })).body.data
    await returnTransfer(payee.key, id, sats(1))
    const once = () =>
      service.ask("POST", `${path}/${id}/return`, {
        key: payee.key,
        body: {},
        headers: { "idempotency-key": "back" }
      })
    const answers = await Promise.all([once(), once(), once()])
    for (const { status, text } of answers) assert.deepStrictEqual([status, text], [201, answers[0]?.text])
    assert.strictEqual(answers[0]?.body.data.amount_sats, 999)
    assert.strictEqual(await balance(payer.key), 10_000)
  })

  it("transfer: limits, freezes, pauses, scopes and balances apply as to a withdrawal, and a frozen account receives", async () => {
    const [payer, payee] = await pair()
    const to = payee.id
    const refusal = async (key: string, amount = 1000) => seen(await send(key, { to, ...sats(amount) }))
    assert.deepStrictEqual(await refusal(payer.key, 10_001), bad(422, "insufficient_balance"))
    assert.deepStrictEqual(
      await refusal(await service.keyFor(payer.id, "receive")),
      bad(403, "scope_required")
    )
    for (const limits of [
      { approval_above_sats: 999 },
      { per_withdrawal_sats: 999 },
      { day_sats: 999 },
      { recipient_types: ["lightning_invoice"] },
      { recipients: [payer.id] }
    ])
      assert.deepStrictEqual(
        await refusal(await limited(payer.id, limits)),
        bad(422, "limit_exceeded"),
        JSON.stringify(limits)
      )
    const approval = await send(await limited(payer.id, { approval_above_sats: 999 }), { to, ...sats(1000) })
    assert.include(approval.body.message, "cannot await approval")
    assert.strictEqual(await balance(payer.key), 10_000)
    for (const limits of [
      {
        approval_above_sats: 1000,
        day_sats: 1000,
        recipient_types: ["account"],
        recipients: [to.toUpperCase()]
      }
    ]) {
      const key = await limited(payer.id, limits)
      assert.strictEqual((await send(key, { to, ...sats(1000) })).status, 201)
      assert.deepStrictEqual(await refusal(key, 1), bad(422, "limit_exceeded"))
    }
    const operate = (route: string, body: object) =>
      service.ask("POST", `/operator/${route}`, { key: operatorToken, body })
    await operate(`companies/${to}/freeze`, { reason: "a drill", pending: "wait" })
    const received = await send(payer.key, { to, ...sats(1000) })
    assert.strictEqual(received.status, 201, received.text)
    assert.deepStrictEqual(
      seen(await returnTransfer(payee.key, received.body.data.id)),
      bad(403, "company_frozen")
    )
    assert.strictEqual(await balance(payee.key), 2000)
  })

  it("transfer: an own or unknown account, and an amount out of range, are rejected by the name of the field", async () => {
    const [payer, payee] = await pair()
    const { id } = (await send(payer.key, { to: payee.id, ...sats(1000) })).body.data
    for (const [body, paths] of [
      [{ to: payer.id, ...sats(1) }, ["to"]],
      [{ to: payer.id.toUpperCase(), ...sats(1) }, ["to"]],
      [{ to: "x".repeat(10_000), ...sats(1) }, ["to"]],
      [{ to: payee.id, ...sats(0) }, ["amount"]],
      [{ to: payee.id, ...sats(-1) }, ["amount"]],
      [{ to: payee.id, ...sats(0.5) }, ["amount"]],
      [{ to: payee.id, amount: 1 }, ["currency"]]
    ] as ReadonlyArray<readonly [object, ReadonlyArray<string>]>) {
      const answer = await send(payer.key, body)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"), answer.text)
      assert.deepStrictEqual(issuePaths(answer.body), paths, answer.text)
      assert.isBelow(answer.text.length, 1000)
    }
    for (const to of ["0197a1b2-7c00-7a3b-9c1d-2f5e6a7b8c9d", "00000000-0000-0000-0000-000000000000"])
      assert.deepStrictEqual(seen(await send(payer.key, { to, ...sats(1) })), bad(404, "not_found"))
    for (const amount of [0, -1])
      assert.deepStrictEqual(seen(await returnTransfer(payee.key, id, sats(amount))), bad(400, "malformed"))
    assert.deepStrictEqual(seen(await returnTransfer(payee.key, payee.id)), bad(404, "not_found"))
    assert.strictEqual(await balance(payee.key), 1000)
  })
})
