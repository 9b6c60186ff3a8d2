import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { made } from "@satrail/core/ledger/Answer"
import { Journal } from "@satrail/core/ledger/Journal"
import { claimedFromStart, fence, Tasks } from "@satrail/core/ledger/Tasks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { Signer } from "@satrail/core/nodes/Signer"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import * as LostWithdrawal from "@satrail/core/sending/LostWithdrawal"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Clock, Effect, Result } from "effect"
import type { start } from "./Service.ts"

// BOLT 11, "Examples": a coffee for 2500 micro-bitcoin. It expired in 2017.
const expired =
  "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"

/** Records a company's withdrawal of 100 sats, sent `ageMillis` ago, whose payment the node has lost. */
export const lost = (
  { run, sats }: Awaited<ReturnType<typeof start>>,
  companyId: CompanyId.CompanyId,
  ageMillis = 2 * LostWithdrawal.claimableMillis,
  chosen?: string
): Promise<{ readonly id: string; readonly preimage: string }> =>
  run(
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const preimage = Preimage.make(chosen ?? Id.toHex(entropy(32)))
      const nowMillis = yield* Clock.currentTimeMillis
      const withdrawal = Withdrawal.pending({
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        amount: sats(100),
        serviceFee: sats(0),
        networkAllowance: sats(5),
        recipient: expired,
        recipientType: "lightning_invoice",
        rail: "lightning",
        network: "regtest",
        metadata: {},
        rate: null,
        rateAtMillis: null,
        fiatCurrency: null,
        rateSource: null,
        createdAtMillis: nowMillis - ageMillis
      })
      const { id } = withdrawal
      const dueAtMillis = nowMillis + 86_400_000
      const work = { kind: Withdrawal.paymentKind, dueAtMillis, claimedBy: "test" }
      const task = claimedFromStart(work.kind, id, companyId)
      const attempt = {
        _tag: "Lightning",
        paymentHash: Preimage.hashOf(preimage),
        paymentRequest: expired,
        successAction: null
      } as const
      const journal = yield* Journal
      yield* journal.commit(Withdrawal.requested(withdrawal, undefined, work))
      yield* journal.commit(
        Withdrawal.dispatched(withdrawal, attempt, fence(task), withdrawal.createdAtMillis)
      )
      yield* (yield* Tasks).postpone(task, dueAtMillis, { kind: work.kind, lane: LostWithdrawal.lane })
      return { id, preimage }
    })
  )

/** Pays a company's on-chain withdrawal with a transaction of the wallet that is not stored, as after a restore. */
const pay = ({ run, sats }: Awaited<ReturnType<typeof start>>, companyId: CompanyId.CompanyId) =>
  run(
    Effect.gen(function* () {
      const sandbox = yield* Sandbox.Sandbox
      const { follow } = yield* ChainDeposits
      const created = (yield* OnChainAddresses).create({ companyId, type: "taproot", metadata: {} })
      const { address } = yield* Effect.flatMap(created, made)
      yield* sandbox.send({ address, amount: sats(50_000) })
      yield* sandbox.mine(6)
      yield* Effect.repeat(follow(), { while: (blocksLeft) => blocksLeft > 0 })
      const { destination } = yield* sandbox.destination({ type: "chain_address" })
      const entropy = yield* Entropy
      const nowMillis = yield* Clock.currentTimeMillis
      const withdrawal = Withdrawal.pending({
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        amount: sats(10_000),
        serviceFee: sats(0),
        networkAllowance: sats(5000),
        recipient: destination,
        recipientType: "chain_address",
        rail: "on_chain",
        network: "regtest",
        metadata: {},
        rate: null,
        rateAtMillis: null,
        fiatCurrency: null,
        rateSource: null,
        createdAtMillis: nowMillis
      })
      // Not due for a day, as the guide's statements leave it after a restore, so that no worker sends it.
      const work = { kind: Withdrawal.paymentKind, dueAtMillis: nowMillis + 86_400_000, claimedBy: "test" }
      yield* (yield* Journal).commit(Withdrawal.requested(withdrawal, undefined, work))
      const { id, recipient, amount } = withdrawal
      const { scriptPubKey } = Result.getOrThrow(BitcoinAddress.decode(recipient, "regtest"))
      const draft = yield* (yield* ChainWallet).build({
        payments: [{ scriptPubKey, amount, feeLimit: sats(5000) }],
        feeRate: 2,
        free: (outpoints) => Effect.succeed(new Set(outpoints))
      })
      const { txId, rawTx } = yield* (yield* Signer).sign(draft.psbt)
      yield* (yield* ChainSource).broadcast(rawTx)
      yield* sandbox.mine(1)
      return { txId, id }
    })
  )

const paid = new WeakMap<object, ReturnType<typeof pay>>()

/** A withdrawal that was paid in this way; the same one for each call with this service. */
export const unstored = (
  service: Awaited<ReturnType<typeof start>>,
  companyId: CompanyId.CompanyId
): ReturnType<typeof pay> => {
  const one = paid.get(service) ?? pay(service, companyId)
  paid.set(service, one)
  return one
}
