import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import * as Changes from "../src/service/Changes.ts"
import { Journal } from "../src/ledger/Journal.ts"
import { type Broadcast, ChainSource } from "../src/nodes/ChainSource.ts"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import { Signer } from "../src/nodes/Signer.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { settings } from "./Rows.ts"
import {
  accounts,
  company,
  confirm,
  everywhere,
  follow,
  has,
  mine,
  now,
  onChainAddress,
  outputsOf,
  outside,
  paying,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps
} from "./World.ts"

const payout = (sats: number, balance = 2 * sats + 2000) => paying(balance, { type: "chain_address" }, sats)

const chain = (change: (chain: ChainSource["Service"]) => Partial<ChainSource["Service"]>) =>
  replace(ChainSource, change)

/**
 * Records the bytes of every broadcast, and returns `answer`, if defined, instead of the network's response.
 */
const broadcasting = (answer: (count: number) => Broadcast | undefined) => {
  const sent: Array<string> = []
  const change = chain((service) => ({
    broadcast: (rawTx) =>
      Effect.suspend(() => {
        sent.push(rawTx)
        const instead = answer(sent.length)
        return instead === undefined ? service.broadcast(rawTx) : Effect.succeed(instead)
      })
  }))
  return { sent, change }
}

describe("A payout", () => {
  scenario(
    "payout: a payout pays exactly its amount and settles when it is in a block; the operator keeps the unused mining fee",
    function* () {
      const { payer, row } = yield* payout(20_000, 42_000)
      yield* step
      const sent = yield* now(row)
      assert.deepStrictEqual([sent.status, sent.paymentHash], ["pending", null])
      assert.deepStrictEqual(yield* outputsOf(row), [["mempool", 20_000]])
      assert.deepStrictEqual(yield* has(payer), { posted: 42_000, held: 20_620 })
      yield* steps(5)
      assert.strictEqual(yield* standing(row), "pending")
      yield* mine(1)
      yield* steps(2)
      const { status, networkFee, chainTxId } = yield* now(row)
      assert.deepStrictEqual([status, chainTxId], ["settled", sent.chainTxId])
      assert.deepStrictEqual(yield* outputsOf(row), [["mined", 20_000]])
      assert.deepStrictEqual(yield* has(payer), { posted: 42_000 - 20_620, held: 0 })
      const mining = Number(networkFee) / 1000
      assert.isTrue(mining > 0 && mining <= 500)
      assert.deepStrictEqual(yield* accounts, {
        available: 21_380,
        node: -42_000,
        chain: 20_000 + mining,
        service_fees: 120,
        network_fees: 500 - mining
      })
    }
  )

  scenario(
    "payout: a payout settles after the policy's number of confirmations",
    { settings: { ...settings, payoutConfirmations: 3 } },
    function* () {
      const { row } = yield* payout(20_000)
      yield* steps(1)
      for (let depth = 1; depth < 3; depth++) {
        yield* mine(1)
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "pending", `at ${depth}`)
      }
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  it.effect("C19: payout: a payout's bytes are stored before they are broadcast", () => {
    const { sent, change } = broadcasting(() => undefined)
    const recorded: Array<string> = []
    return run(
      {
        change: (ports) =>
          replace(Journal, (journal) =>
            Changes.journal((change) =>
              Effect.tap(journal.commit(change), () =>
                Effect.sync(() => {
                  if (
                    change._tag === "WithdrawalDispatched" &&
                    change.attempt._tag === "Chain" &&
                    sent.length === 0
                  )
                    recorded.push(change.attempt.rawTx)
                })
              )
            )
          )(change(ports))
      },
      function* () {
        yield* payout(20_000)
        yield* step
        assert.strictEqual(sent.length, 1)
        assert.deepStrictEqual(recorded, sent)
        yield* mine(1)
        yield* TestClock.adjust("15 seconds")
        yield* steps(2)
      }
    )
  })

  it.effect(
    "C19 C47: payout: a payout that the network rejected or did not confirm is rebroadcast as the same bytes until it is mined",
    () => {
      const answers: ReadonlyArray<Broadcast | undefined> = [
        { _tag: "unknown" },
        { _tag: "rejected", reason: "mempool full" },
        { _tag: "unknown" }
      ]
      const { sent, change } = broadcasting((count) => answers[count - 1])
      return run({ logsErrors: true, change }, function* () {
        const { payer, row } = yield* payout(20_000)
        yield* steps(3)
        assert.strictEqual(yield* standing(row), "pending")
        assert.isTrue((yield* has(payer)).held > 0)
        yield* steps(3)
        yield* mine(1)
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "settled")
        assert.strictEqual(sent.length, 4)
        assert.strictEqual(new Set(sent).size, 1)
        assert.deepStrictEqual(yield* outputsOf(row), [["mined", 20_000]])
      })
    }
  )

  scenario(
    "C47: payout: a payout that the network rejects for days stays pending, and its funds stay held",
    () => ({ logsErrors: true, ...broadcasting(() => ({ _tag: "rejected", reason: "no" })) }),
    function* ({ sent }) {
      const { payer, row } = yield* payout(20_000, 42_000)
      yield* steps(48, 3600)
      assert.strictEqual(yield* standing(row), "pending")
      assert.deepStrictEqual(yield* has(payer), { posted: 42_000, held: 20_620 })
      assert.strictEqual(new Set(sent).size, 1)
    }
  )

  it.effect(
    "C45: payout: a payout that a reorganization removed before it settled is rebroadcast as the same bytes",
    () => {
      const { sent, change } = broadcasting(() => undefined)
      let isForgotten = false
      // After a reorganization, this node does not return the removed transaction to its mempool.
      const forgetful = chain((service) => ({
        transaction: (txId) =>
          isForgotten && sent.length < 2
            ? Effect.succeed({ _tag: "gone" as const })
            : service.transaction(txId)
      }))
      return run(
        { settings: { ...settings, payoutConfirmations: 2 }, change: (ports) => forgetful(change(ports)) },
        function* () {
          const { row } = yield* payout(20_000)
          yield* steps(1)
          yield* mine(1)
          yield* steps(2)
          yield* (yield* Sandbox).reorg(1)
          isForgotten = true
          yield* steps(2)
          assert.strictEqual(yield* standing(row), "pending")
          yield* mine(2)
          yield* steps(2)
          assert.strictEqual(yield* standing(row), "settled")
          assert.deepStrictEqual([sent.length, new Set(sent).size], [2, 1])
        }
      )
    }
  )

  scenario(
    "payout: a payout waits while the chain is unavailable, before and after its broadcast",
    { logsErrors: true },
    function* () {
      const { row } = yield* payout(20_000)
      const { pause, resume } = yield* Sandbox
      yield* pause("chain")
      yield* steps(3)
      assert.strictEqual((yield* now(row)).chainTxId, null)
      yield* resume("chain")
      yield* steps(1)
      yield* pause("chain")
      yield* steps(3)
      yield* resume("chain")
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  scenario(
    "payout: a payout waits if the wallet has no coins, and is sent when coins arrive",
    { settings: { ...settings, maxWithdrawal: Msat.fromSats(200_000_000) } },
    function* () {
      const btc = 100_000_000
      const whale = yield* company()
      const { address } = yield* onChainAddress(whale)
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(12 * btc) })
      yield* mine(6)
      yield* follow
      // Eleven payouts of one bitcoin each, with too few coins to send all of them immediately. The others wait
      // until change confirms.
      const rows = yield* Effect.forEach(Array.from({ length: 11 }), () =>
        Effect.flatMap(outside({ type: "chain_address" }), ({ destination }) =>
          confirm(whale, destination, btc)
        )
      )
      yield* steps(4)
      const waiting = (yield* Effect.forEach(rows, now)).filter(({ chainTxId }) => chainTxId === null)
      assert.isTrue(waiting.length > 0 && waiting.length < rows.length, `${waiting.length} are waiting`)
      for (const one of waiting) assert.strictEqual(one.status, "pending")
      for (let i = 0; i < 4; i++) {
        yield* mine(1)
        yield* steps(2)
      }
      for (const row of rows) {
        assert.strictEqual(yield* standing(row), "settled")
        assert.deepStrictEqual(yield* outputsOf(row), [["mined", btc]])
      }
    }
  )

  it.effect("payout: the held mining fee is also the fee limit of the payout's transaction", () => {
    const limits: Array<Msat.Msat> = []
    const noting = replace(ChainWallet, (wallet) => ({
      build: (ask) => {
        limits.push(...ask.payments.map(({ feeLimit }) => feeLimit))
        return wallet.build(ask)
      }
    }))
    return run({ isPending: true, change: noting }, function* () {
      const { row } = yield* payout(20_000)
      yield* step
      assert.deepStrictEqual(limits, [row.networkAllowance])
      assert.strictEqual(row.networkAllowance, Msat.fromSats(500))
    })
  })

  it.effect(
    "payout: at high fee rates a payout is sent for at most the fee that was held at confirmation",
    () => {
      let rate = 2
      return run({ change: chain(() => ({ feeRate: Effect.sync(() => rate) })) }, function* () {
        const { row } = yield* payout(20_000)
        rate = 90
        yield* steps(1)
        const { networkFee } = yield* now(row)
        assert.isTrue(networkFee !== null && networkFee <= row.networkAllowance)
        yield* mine(1)
        yield* steps(2)
        assert.strictEqual(yield* standing(row), "settled")
      })
    }
  )
})

describe("Several payouts", () => {
  scenario("C19: payouts: concurrent workers never share a coin, and send each payout once", function* () {
    const ports = yield* Effect.context<Ports>()
    const attempts: Array<ReadonlyArray<string>> = []
    const noting = ports.pipe(
      replace(Journal, (journal) =>
        Changes.journal((change) =>
          Effect.tap(journal.commit(change), () =>
            Effect.sync(() => {
              if (change._tag === "WithdrawalDispatched" && change.attempt._tag === "Chain")
                attempts.push(change.attempt.coins)
            })
          )
        )
      ),
      // Each worker lets the others select coins before it stores its own selection.
      replace(ChainWallet, (wallet) => ({
        build: (ask) => Effect.tap(wallet.build(ask), () => Effect.yieldNow)
      }))
    )
    const workers = yield* Effect.forEach([1, 2, 3], () =>
      Effect.map(start(noting), (process) => Context.get(process, PaymentWorker).step)
    )
    const rows = yield* Effect.forEach(Array.from({ length: 8 }), () =>
      Effect.map(payout(20_000), ({ row }) => row)
    )
    for (let i = 0; i < 16; i++) {
      yield* Effect.all(workers, { concurrency: "unbounded" })
      yield* TestClock.adjust("15 seconds")
    }
    assert.strictEqual(attempts.length, 8)
    assert.strictEqual(new Set(attempts.flat()).size, attempts.flat().length)
    yield* mine(1)
    yield* steps(3)
    for (const row of rows) {
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* outputsOf(row), [["mined", 20_000]])
    }
  })

  it.effect(
    "freeze: if a company is frozen while coins are selected for its payout, the payout waits, and another company's payout is sent",
    () => {
      const [choosing, chosen] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      const slowly = replace(ChainWallet, (wallet) => ({
        build: (ask) =>
          Deferred.succeed(choosing, undefined).pipe(
            Effect.andThen(Deferred.await(chosen)),
            Effect.andThen(wallet.build(ask))
          )
      }))
      return run({ change: slowly }, function* () {
        const [{ payer, row }, other] = [yield* payout(20_000), yield* payout(20_000)]
        const stepping = yield* Effect.forkChild(step)
        yield* Deferred.await(choosing)
        const companies = yield* Companies
        yield* everywhere(companies.freeze(payer.id, { reason: "a drill", pending: "wait" }))
        yield* Deferred.succeed(chosen, undefined)
        yield* Fiber.join(stepping)
        yield* steps(2)
        assert.deepStrictEqual(
          [yield* outputsOf(row), yield* outputsOf(other.row)],
          [[], [["mempool", 20_000]]]
        )
        yield* everywhere(companies.unfreeze(payer.id))
        yield* steps(2)
        yield* mine(1)
        yield* steps(2)
        assert.deepStrictEqual([yield* standing(row), yield* standing(other.row)], ["settled", "settled"])
      })
    }
  )

  it.effect(
    "freeze: if a company is frozen while its payout is signed, nothing is broadcast until it is unfrozen",
    () => {
      const [signing, signed] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      const { sent, change } = broadcasting(() => undefined)
      const slowly = replace(Signer, ({ sign }) => ({
        sign: (psbt) =>
          Deferred.succeed(signing, undefined).pipe(
            Effect.andThen(Deferred.await(signed)),
            Effect.andThen(sign(psbt))
          )
      }))
      return run({ change: (ports) => slowly(change(ports)) }, function* () {
        const { payer, row } = yield* payout(20_000)
        const stepping = yield* Effect.forkChild(step)
        yield* Deferred.await(signing)
        const companies = yield* Companies
        yield* everywhere(companies.freeze(payer.id, { reason: "a drill", pending: "wait" }))
        yield* Deferred.succeed(signed, undefined)
        yield* Fiber.join(stepping)
        yield* steps(2)
        assert.deepStrictEqual([sent, yield* standing(row)], [[], "pending"])
        yield* everywhere(companies.unfreeze(payer.id))
        yield* steps(2)
        yield* mine(1)
        yield* steps(2)
        assert.deepStrictEqual([sent.length, yield* standing(row)], [1, "settled"])
      })
    }
  )

  it.effect(
    "C19: payouts: if two processes select the same coins at the same time, one sends its payout and the other selects again",
    () => {
      const drafts: Array<ReadonlyArray<string>> = []
      const [one, both] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
      /** Returns neither of the first two drafts until both are made. */
      const change = replace(ChainWallet, (wallet) => ({
        build: (ask) =>
          Effect.tap(wallet.build(ask), ({ coins }) => {
            drafts.push(coins)
            return drafts.length === 1
              ? Effect.andThen(Deferred.succeed(one, undefined), Deferred.await(both))
              : Deferred.succeed(both, undefined)
          })
      }))
      return run({ change }, function* () {
        const { row: first } = yield* payout(20_000)
        const stepping = yield* Effect.forkChild(step)
        yield* Deferred.await(one)
        const { row: second } = yield* payout(20_000)
        yield* Context.get(yield* start(yield* Effect.context<Ports>()), PaymentWorker).step
        yield* Fiber.join(stepping)
        yield* steps(2)
        assert.deepStrictEqual(drafts[0], drafts[1])
        assert.strictEqual(drafts.length, 3)
        assert.notDeepEqual(drafts[2], drafts[1])
        yield* mine(1)
        yield* steps(2)
        assert.deepStrictEqual(yield* Effect.forEach([first, second], standing), ["settled", "settled"])
      })
    }
  )
})
