import { afterAll, assert, it } from "@effect/vitest"
import { link } from "@satrail/features/audit/core/AuditLog"
import { SameOperator } from "@satrail/core/accounts/SecondOperator"
import { LostWithdrawals } from "@satrail/core/sending/LostWithdrawals"
import { Context, Effect } from "effect"
import * as TxId from "@satrail/bitcoin/TxId"
import { bad, operatorToken, seen, start } from "./Service.ts"
import { lost } from "./Lost.ts"

const service = await start()
afterAll(service.dispose)

const ask = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, ...(body !== undefined && { body }) })
const funded = async (sats = 1000) => {
  const company = await service.company("free")
  await service.fund(company.key, sats)
  return company
}
const balance = async (key: string) =>
  (await service.ask("GET", "/v1/transactions/balance", { key })).body.data

it("lost withdrawals: one is listed with its kind, refused until its payee can no longer claim it, then released", async () => {
  const { id: companyId, key } = await funded()
  const [{ id }, { id: recent }] = [await lost(service, companyId), await lost(service, companyId, 60_000)]
  const kinds = (await ask("GET", "/backlog")).body.data
  assert.deepStrictEqual([kinds.withdrawal_lost.count, kinds.withdrawal_lost.oldest[0].id], [2, id])
  const { kind, waits_for, answer } = (await ask("GET", `/withdrawals/${id}`)).body.data
  assert.deepStrictEqual([kind, answer], ["withdrawal_lost", "no record of this payment"])
  assert.match(waits_for, /^An operator\. The node has lost this payment \(it was restored or replaced\)/)
  const early = await ask("POST", `/withdrawals/${recent}/release`)
  assert.deepStrictEqual(seen(early), bad(409, "withdrawal_not_lost"))
  assert.match(
    early.body.message,
    /^The payee may claim this payment until \d{4}-\d\d-\d\dT.*Z\. Release it after that\.$/
  )
  const before = await balance(key)
  const { status, failure } = (await ask("POST", `/withdrawals/${id}/release`)).body.data
  assert.deepStrictEqual([status, failure.code], ["failed", "node_error"])
  assert.strictEqual((await balance(key)).balance, before.balance + 105)
})

it("lost withdrawals: one is settled with its preimage only, and a fee of at most the one held", async () => {
  const { id: companyId } = await funded()
  const { id, preimage } = await lost(service, companyId, 60_000)
  const settle = (body: unknown) => ask("POST", `/withdrawals/${id}/settle`, body)
  for (const [body, field] of [
    [{ preimage: "00".repeat(32), fee_sats: 3 }, "preimage"],
    [{ preimage, fee_sats: 5.001 }, "fee_sats"],
    [{ preimage, fee_sats: -1 }, "fee_sats"],
    [{ preimage: "00", fee_sats: 1 }, "preimage"],
    [{ preimage }, "fee_sats"]
  ] as const) {
    const { status, body: answer } = await settle(body)
    assert.deepStrictEqual([status, answer.error?.issues?.[0]?.path], [400, field], JSON.stringify(body))
  }
  const done = await settle({ preimage: preimage.toUpperCase(), fee_sats: 3 })
  assert.deepStrictEqual(
    [done.status, done.body.data.status, done.body.data.lightning_payment.payment_preimage],
    [200, "settled", preimage]
  )
})

it("lost withdrawals: a payout whose coins another wallet spent is released with the transaction that did, and the audit log names it", async () => {
  const { sandbox, work } = service
  const { key } = await funded(50_000)
  const { destination } = await sandbox((one) => one.destination({ type: "chain_address" }))
  const asked = { destination, amount: 20_000, currency: "sats" }
  const { id } = (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body: asked })).body.data
  await work()
  const release = (body?: unknown) => ask("POST", `/withdrawals/${id}/release`, body)
  const { chain_tx_id } = (await ask("GET", `/withdrawals/${id}`)).body.data
  const spent_by = await sandbox((one) => one.doubleSpend(TxId.make(chain_tx_id)))
  await sandbox((one) => one.mine(99))
  for (const [body, message] of [
    [undefined, "spent_by is required for an on-chain withdrawal"],
    [{ spent_by: "00" }, "spent_by must be 32 bytes in hex"],
    [
      { spent_by: chain_tx_id },
      "spent_by must be another wallet's transaction (this one is the withdrawal's own)"
    ],
    [{ spent_by }, "spent_by must have at least 100 confirmations (it has 99)"]
  ] as const) {
    const { status, body: answer } = await release(body)
    const [issue] = answer.error?.issues ?? []
    assert.deepStrictEqual(
      [status, issue?.path, issue?.message],
      [400, "spent_by", message],
      JSON.stringify(body)
    )
  }
  await sandbox((one) => one.mine(1))
  for (const given of [spent_by.toUpperCase(), spent_by]) {
    const { status, failure } = (await release({ spent_by: given })).body.data
    assert.deepStrictEqual([status, failure.code], ["failed", "node_error"])
  }
  assert.strictEqual((await balance(key)).balance, 50_000)
  await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
  const { data } = (await ask("GET", `/audit?subject=${id}`)).body
  assert.deepStrictEqual(
    data.map(({ actor, verb, outcome }: Record<string, string>) => [actor, verb, outcome]),
    [
      ["operator", "backlog.releaseLostWithdrawal", "done"],
      ["key", "send.confirm", "done"]
    ]
  )
})

it("lost withdrawals: a release names the operator who requests it, and refuses their approval", async () => {
  const asked = new Array<unknown>()
  const lost = LostWithdrawals.of({
    settle: () => Effect.die("not called in this test"),
    book: () => Effect.die("not called in this test"),
    release: (id, spentBy, by) => {
      asked.push([id, spentBy, by?.name])
      return Effect.fail(new SameOperator({ id, name: by?.name ?? "the host program" }))
    }
  })
  const { ask, dispose } = await start({ instead: Context.make(LostWithdrawals, lost) })
  const { token } = (
    await ask("POST", "/operator/tokens", { key: operatorToken, body: { name: "Ada", scopes: ["all"] } })
  ).body.data
  const id = "01890a5d-ac96-774b-bcce-b302099a8057"
  const answer = await ask("POST", `/operator/withdrawals/${id}/release`, { key: token })
  assert.deepStrictEqual(seen(answer), bad(403, "another_operator_required"))
  assert.strictEqual(answer.body.message, "Ada requested this, so another operator must approve it.")
  assert.deepStrictEqual(asked, [[id, undefined, "Ada"]])
  await dispose()
})
