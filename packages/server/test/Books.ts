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
import * as Storage from "@satrail/service/postgres/Storage"
import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Option } from "effect"
import path from "node:path"

const world = { seed: "satrail", network: "regtest" } as const

const walletSats = (state: Effect.Success<Sandbox.Sandbox["Service"]["state"]>): bigint =>
  Msat.toSats(Msat.sum(...Chain.coins(state.chain, "wallet", false).map(({ amount }) => amount)))

/** Initial balances of our node and our wallet. */
const atFirst = Effect.provide(
  Effect.flatMap(Sandbox.Sandbox, (sandbox) =>
    Effect.all({ node: sandbox.localBalance, chain: Effect.map(sandbox.state, walletSats) })
  ),
  Sandbox.layer(world)
)

/** Every withdrawal of a company, newest first. */
const withdrawalsOf = (
  companyId: CompanyId.CompanyId,
  after?: Transaction
): Effect.Effect<ReadonlyArray<Withdrawal.Withdrawal>, StoreUnavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const lines = yield* records.transactions(companyId, {
      limit: 1000,
      type: "withdrawal",
      ...(after !== undefined && { after })
    })
    const page = yield* Effect.forEach(lines, ({ id }) =>
      Effect.map(records.withdrawal(companyId, id), Option.getOrThrow)
    )
    const last = lines.at(-1)
    return last === undefined ? page : [...page, ...(yield* withdrawalsOf(companyId, last))]
  })

const withdrawals = Effect.gen(function* () {
  const companies = yield* (yield* Records).companies(null, 1000)
  return (yield* Effect.forEach(companies, ({ id }) => withdrawalsOf(id))).flat()
})

/** Checks that every reported external payment was made exactly once and no other payment was made. */
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
        `the amount that withdrawal ${id} (${status}) paid to its payee`
      )
      if (status === "settled")
        assert.isTrue(
          preimage !== null && Preimage.proves(preimage, paymentHash),
          `the preimage of ${id} matches its payment hash`
        )
    }
    if (rail === "on_chain") {
      const { scriptPubKey } = yield* Effect.fromResult(BitcoinAddress.decode(recipient, world.network))
      const isInternal = (yield* records.onChainAddresses([scriptPubKey])).length > 0
      const outputs = isInternal ? [] : yield* sandbox.outputsTo(scriptPubKey)
      const expected = status === "settled" && !isInternal ? [amount] : []
      assert.deepStrictEqual(
        outputs.filter(({ placement }) => placement._tag === "mined").map((output) => output.amount),
        expected,
        `the amount that withdrawal ${id} (${status}) paid to ${recipient}`
      )
    }
  }
  assert.deepStrictEqual([...payments.keys()], [], "every payment belongs to a withdrawal")
})

const check = Effect.gen(function* () {
  yield* Ledger.auditAll
  yield* paidOnce
  const { node, chain } = yield* (yield* Records).trialBalance
  const sandbox = yield* Sandbox.Sandbox
  const before = yield* atFirst
  assert.strictEqual(
    (yield* sandbox.localBalance) - before.node,
    -node,
    "the node's balance matches the books"
  )
  assert.strictEqual(
    Msat.fromSats(walletSats(yield* sandbox.state)) - Msat.fromSats(before.chain),
    -chain,
    "the wallet's balance matches the books"
  )
})

/**
 * Checks that the books in `storage` are sound and match the sandbox in `directory`. No process may be using
 * the store, and no payment or transaction may be pending.
 */
export const agree = <E>(storage: Layer.Layer<Storage.Storage, E>, directory: string): Promise<void> =>
  Effect.runPromise(Effect.provide(check, Layer.merge(storage, Sandbox.layer({ ...world, directory }))))

/** Checks the books of a stopped service with this data directory. */
export const areRight = (data: string): Promise<void> =>
  agree(Storage.layerEmbedded({ directory: path.join(data, "database") }), path.join(data, "sandbox"))
