import { afterAll, assert, describe, it } from "@effect/vitest"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { Effect } from "effect"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const get = (path: string) => service.ask("GET", `/operator${path}`, { key: operatorToken })
const { id: companyId, key } = await service.company("paid")
await service.fund(key, 100_000)

const confirm = async (destination: string) =>
  (
    await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
      key,
      body: { amount: 500, currency: "sats", destination }
    })
  ).body.data

/** Confirms a withdrawal to a payee that neither settles nor rejects the payment. */
const held = async () => {
  const ask = { type: "lightning_invoice", amount: service.sats(500), behaviour: "hold" } as const
  return confirm((await service.sandbox((sandbox) => sandbox.destination(ask))).destination)
}

/** Sends an unconfirmed on-chain deposit. Returns its transaction and its id. */
const seen = async (sats: number) => {
  const { body } = await service.ask("POST", "/v1/bitcoin/deposit/on-chain", { key })
  const txId = await service.sandbox(({ send }) =>
    send({ address: body.data.address.address, amount: service.sats(sats) })
  )
  await service.run(Effect.flatMap(ChainDeposits, ({ follow }) => follow()))
  const [{ id }] = (await service.ask("GET", `/v1/transactions?chain_tx_id=${txId}`, { key })).body.data
  return { txId, id }
}

describe("the backlog", () => {
  it("backlog: each withdrawal says what it is waiting for, whether it is queued or already sent to the node", async () => {
    const sent = await held()
    await service.work()
    const fresh = await held()
    const { body } = await get("/backlog")
    const { withdrawal_requested: requested, withdrawal_dispatched: dispatched } = body.data
    assert.deepStrictEqual([requested.count, dispatched.count], [1, 1])
    const [one, other] = [requested.oldest[0], dispatched.oldest[0]]
    assert.deepStrictEqual([one.id, one.company_id, one.attempts], [fresh.id, companyId, 0])
    assert.match(one.waits_for, /worker to process it/)
    assert.deepStrictEqual(
      [other.id, other.since, other.amount_sats],
      [sent.id, sent.created_at, sent.amount_sats + sent.fee_sats]
    )
    assert.match(other.waits_for, /node's final result/)
    assert.isAbove(other.attempts, 0)
    assert.isString(other.next_look_at)
  })

  it("backlog: the list has the pending withdrawals of all companies, oldest first, and the history of each", async () => {
    const rows = (await get("/withdrawals?status=pending")).body.data
    assert.lengthOf(rows, 2)
    assert.isBelow(Date.parse(rows[0].created_at), Date.parse(rows[1].created_at) + 1)
    const [row] = rows
    assert.deepStrictEqual(
      row.timeline.map(({ what }: { readonly what: string }) => what),
      ["requested", "dispatched"]
    )
    assert.deepStrictEqual([row.answer, row.timeline[1].detail], [null, row.destination.payment_hash])
    assert.deepStrictEqual((await get("/withdrawals?older_than=3600")).body.data, [])
    const first = await get("/withdrawals?limit=1")
    const [, next = ""] = /<\/operator([^>]*)>/.exec(first.headers.get("link") ?? "") ?? []
    assert.deepStrictEqual([...first.body.data, ...(await get(next)).body.data], rows)
  })

  it("backlog: a withdrawal is found by its id alone, and shows the node's response until the withdrawal is final", async () => {
    const [row] = (await get("/withdrawals")).body.data
    assert.strictEqual((await get(`/withdrawals/${row.id}`)).body.data.answer, "on its way")
    const paymentHash = row.destination.payment_hash
    await service.sandbox(({ release }) => release({ paymentHash, outcome: "fail" }))
    await service.work()
    const { status, waits_for, answer, timeline } = (await get(`/withdrawals/${row.id}`)).body.data
    assert.deepStrictEqual([status, waits_for, answer], ["failed", null, null])
    assert.strictEqual(timeline.at(-1).what, "failed")
    assert.isString(timeline.at(-1).detail)
  })

  it("backlog: if a withdrawal waits for its payee's server, the response names the server", async () => {
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address", behaviour: "unreachable" })
    )
    const row = await confirm(destination)
    await service.work()
    const { waits_for } = (await get(`/withdrawals/${row.id}`)).body.data
    assert.include(waits_for, destination.split("@")[1] ?? "")
  })

  it("backlog: a deposit says whether it has no confirmation or too few, as the chain reports", async () => {
    const { id, txId } = await seen(5_000_000)
    const follow = () => service.run(Effect.flatMap(ChainDeposits, ({ follow }) => follow()))
    const [row] = (await get("/deposits")).body.data
    assert.deepStrictEqual(
      [row.id, row.chain_tx_id, row.waits_for],
      [id, txId, "A block with its transaction"]
    )
    assert.strictEqual((await get(`/deposits/${id}`)).body.data.answer, "not in a block yet")
    await service.sandbox(({ mine }) => mine(1))
    await follow()
    const placed = (await get(`/deposits/${id}`)).body.data
    assert.match(placed.answer, /^in block \d+, with 1 confirmations$/)
    assert.deepStrictEqual([placed.status, placed.attempts], ["pending", null])
    assert.deepStrictEqual((await get("/backlog")).body.data.deposit_unconfirmed.oldest[0].id, id)
  })

  it("backlog: invalid queries are rejected", async () => {
    for (const [query, at] of [
      ["status=settled", "status"],
      ["older_than=-1", "older_than"],
      ["older_than=1h", "older_than"],
      ["cursor=x", "cursor"]
    ]) {
      const { status, body } = await get(`/withdrawals?${query}`)
      assert.deepStrictEqual([status, body.error?.issues?.[0]?.path], [400, at], query)
    }
    for (const path of ["/withdrawals/none", "/deposits/018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"])
      assert.strictEqual((await get(path)).status, 404)
  })
})
