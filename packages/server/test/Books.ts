import { assert } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Ledger from "@satrail/contracts/Ledger"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Records } from "@satrail/core/service/Records"
import type { Transaction } from "@satrail/core/reports/Transaction"
import type * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Storage from "@satrail/postgres/Storage"
import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Option } from "effect"
import path from "node:path"

const world = { seed: "satrail", network: "regtest" } as const

const walletSats = (state: Effect.Success<Sandbox.Sandbox["Service"]["state"]>): bigint =>
  Msat.toSats(Msat.sum(...Chain.coins(state.chain, "wallet", false).map(({ amount }) => amount)))

/** What our node and our wallet own before anybody did anything. */
const atFirst = Effect.provide(
  Effect.flatMap(Sandbox.Sandbox, (sandbox) => Effect.all({ node: sandbox.localBalance, chain: Effect.map(sandbox.state, walletSats) })),
  Sandbox.layer(world)
)

/** Every withdrawal that a company ever made, newest first. */
const withdrawalsOf = (
  companyId: CompanyId.CompanyId,
  after?: Transaction
): Effect.Effect<ReadonlyArray<Withdrawal.Withdrawal>, StoreUnavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const lines = yield* records.transactions(companyId, { limit: 1000, type: "withdrawal", ...(after !== undefined && { after }) })
    const page = yield* Effect.forEach(lines, ({ id }) => Effect.map(records.withdrawal(companyId, id), Option.getOrThrow))
    const last = lines.at(-1)
    return last === undefined ? page : [...page, ...(yield* withdrawalsOf(companyId, last))]
  })

const withdrawals = Effect.gen(function* () {
  const companies = yield* (yield* Records).companies(null, 1000)
  return (yield* Effect.forEach(companies, ({ id }) => withdrawalsOf(id))).flat()
})

/** What was said to be paid to the outside was paid, once and exactly; and nothing else was. */
const paidOnce = Effect.gen(function* () {
  const records = yield* Records
  const sandbox = yield* Sandbox.Sandbox
  const payments = new Map((yield* sandbox.payments).map((payment) => [payment.paymentHash, payment]))
  for (const withdrawal of yield* withdrawals) {
    const { id, status, rail, recipient, amount, paymentHash, preimage } = withdrawal
    if (rail === "lightning" && paymentHash !== null) {
      const paid = payments.get(paymentHash)
      payments.delete(paymentHash)
      const isInternal = Option.isSome(yield* records.invoiceByHash(paymentHash))
      const times = status === "settled" && !isInternal ? 1 : 0
      assert.deepStrictEqual(
        [paid?.times ?? 0, paid?.received ?? 0n],
        [times, times === 1 ? amount : 0n],
        `what ${status} ${id} brought to its payee`
      )
      if (status === "settled") assert.isTrue(preimage !== null && Preimage.proves(preimage, paymentHash), `the proof of ${id}`)
    }
    if (rail === "on_chain") {
      const { scriptPubKey } = yield* Effect.fromResult(BitcoinAddress.decode(recipient, world.network))
      const isInternal = (yield* records.onChainAddresses([scriptPubKey])).length > 0
      const outputs = isInternal ? [] : yield* sandbox.outputsTo(scriptPubKey)
      const expected = status === "settled" && !isInternal ? [amount] : []
      assert.deepStrictEqual(
        outputs.filter(({ placement }) => placement._tag === "mined").map((output) => output.amount),
        expected,
        `what ${status} ${id} brought to ${recipient}`
      )
    }
  }
  assert.deepStrictEqual([...payments.keys()], [], "nobody was paid without a withdrawal")
})

const check = Effect.gen(function* () {
  yield* Ledger.auditAll
  yield* paidOnce
  const { node, chain } = yield* (yield* Records).trialBalance
  const sandbox = yield* Sandbox.Sandbox
  const before = yield* atFirst
  assert.strictEqual((yield* sandbox.localBalance) - before.node, -node, "the node has what the books say")
  assert.strictEqual(
    Msat.fromSats(walletSats(yield* sandbox.state)) - Msat.fromSats(before.chain),
    -chain,
    "the wallet has what the books say"
  )
})

/**
 * The books in a storage that nobody works on any more are sound, and they agree with what really happened outside, as the sandbox in
 * `directory` has it. Only when nothing is on its way: no payment held, no transaction unmined.
 */
export const agree = <E>(storage: Layer.Layer<Storage.Storage, E>, directory: string): Promise<void> =>
  Effect.runPromise(Effect.provide(check, Layer.merge(storage, Sandbox.layer({ ...world, directory }))))

/** The books of a service that is stopped, and that had its data there. */
export const areRight = (data: string): Promise<void> =>
  agree(Storage.layerEmbedded({ directory: path.join(data, "database") }), path.join(data, "sandbox"))
