import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Keys from "@satrail/sandbox/Keys"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as CompanyId from "../src/base/CompanyId.ts"
import { applied, Conflict, Journal, StaleFence } from "../src/ledger/Journal.ts"
import { claimedFromStart } from "../src/ledger/Tasks.ts"
import { ChainSource, type Placement } from "../src/nodes/ChainSource.ts"
import { type Batch, ChainWallet, Unfundable } from "../src/nodes/ChainWallet.ts"
import * as Payout from "../src/sending/Payout.ts"
import * as PayoutTracking from "../src/sending/PayoutTracking.ts"
import * as Payouts from "../src/sending/Payouts.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import * as WithdrawalHooks from "../src/sending/WithdrawalHooks.ts"
import { settings } from "./Rows.ts"
import { run } from "./World.ts"

// Which withdrawals a transaction pays, and what happens next to each of a batch.

/** A withdrawal that is ready to be paid, with a mining fee of `n` sats. Its id sorts by `n`. */
const ready = (
  n: number,
  change: Partial<Pick<Payouts.Ready, "paymentRequest">> & { readonly kind?: string } = {}
): Payouts.Ready => {
  const { kind = Withdrawal.payoutKind, ...rest } = change
  const id = `id ${n}`
  const companyId = CompanyId.operator
  const withdrawal = Withdrawal.pending({
    id,
    companyId,
    ledgerTxId: id,
    amount: Msat.fromSats(1000),
    serviceFee: Msat.zero,
    networkAllowance: Msat.fromSats(n),
    recipient: "",
    recipientType: "chain_address",
    rail: "on_chain",
    network: "regtest",
    metadata: {},
    rate: null,
    rateAtMillis: null,
    fiatCurrency: null,
    rateSource: null,
    createdAtMillis: 0
  })
  return {
    withdrawal,
    scriptPubKey: "",
    task: { ...claimedFromStart(kind, id, companyId), atMillis: 0, leaseMillis: 1 },
    ...rest
  }
}

describe("Batches", () => {
  it("batch: withdrawals share a transaction in order, up to its maximum of outputs; a resolved name and a task of an earlier version never do", () => {
    const all = [5, 3, 1, 4, 2].map((n) => ready(n))
    const apart = [ready(0, { paymentRequest: "bcrt1" }), ready(6, { kind: Withdrawal.paymentKind })]
    const batched = (payoutWindowMillis: number, payoutOutputs: number) =>
      Payouts.batches([...all, ...apart], { ...settings, payoutWindowMillis, payoutOutputs }).map((batch) =>
        batch.map(({ withdrawal }) => Number(withdrawal.id.slice(3)))
      )
    assert.deepStrictEqual(batched(60_000, 2), [[0], [6], [1, 2], [3, 4], [5]])
    assert.deepStrictEqual(batched(60_000, 5), [[0], [6], [1, 2, 3, 4, 5]])
    assert.deepStrictEqual(
      batched(0, 5).map(({ length }) => length),
      [1, 1, 1, 1, 1, 1, 1]
    )
  })
})

const txId = TxId.make("ab".repeat(32))
const state = () => ({
  /** The withdrawals that the coins are enough for. */
  pays: [0, 2] as ReadonlyArray<number> | "none",
  /** Withdrawals that may not be sent now. */
  waiting: new Set<string>(),
  commit: undefined as Withdrawal.CoinTaken | StaleFence | Withdrawal.AlreadyTerminal | Conflict | undefined,
  isInTurn: true,
  /** The coins that another payout spends, and those that the wallet may use of these three. */
  spent: new Set<string>(),
  free: new Array<string>(),
  did: new Array<unknown>()
})

const outpoints = [0, 1, 2].map((vout) => `${txId}:${vout}`)

const isDispatched = (change: { readonly _tag: string }): change is Withdrawal.WithdrawalDispatched =>
  change._tag === "WithdrawalDispatched"

/** What a store answers if another payout or another process is first. */
const others = () => [
  new Withdrawal.CoinTaken({ withdrawalId: "id" }),
  new StaleFence({ taskId: "id" }),
  new Withdrawal.AlreadyTerminal({ id: "id", status: "settled" }),
  new Conflict({ change: "test", id: "id" })
]

/** Sends withdrawals with mining fees of 1, 2 and 3 sats. Returns the next step of each. */
const sent = (at: ReturnType<typeof state>) =>
  Effect.gen(function* () {
    const { send } = yield* Payouts.make({
      alone: (_claims, send) => (at.isInTurn ? Effect.asSome(send) : Effect.succeedNone),
      signed: ({ psbt, coins, fee, change, isDeep }) =>
        Effect.succeed({ _tag: "Chain", txId, rawTx: "00", psbt, coins, networkFee: fee, change, isDeep }),
      broadcast: ({ id }) => Effect.sync(() => void at.did.push(`broadcast ${id}`)),
      isFirst: () => true
    }).pipe(
      Effect.provideService(SendingReads, {
        ...(yield* SendingReads),
        spentCoins: (outpoints) => Effect.succeed(new Set(outpoints.filter((one) => at.spent.has(one))))
      }),
      Effect.provideService(ChainWallet, {
        ...(yield* ChainWallet),
        build: ({ free }) =>
          Effect.gen(function* () {
            at.free.push(...(yield* free(outpoints)))
            if (at.pays === "none") return yield* new Unfundable({ neededSats: 1n })
            const fee = Msat.fromSats(4)
            return {
              pays: at.pays,
              psbt: "",
              coins: outpoints,
              fee,
              change: null,
              isDeep: false
            } satisfies Batch
          })
      }),
      Effect.provideService(Journal, {
        commit: (change) => {
          if (at.commit !== undefined) return Effect.fail(at.commit as never)
          if (!isDispatched(change)) return Effect.die("another Change")
          at.did.push([change.id, ...change.followers.map(({ id, networkFee }) => [id, networkFee])])
          return Effect.succeed(applied)
        }
      }),
      Effect.provideService(WithdrawalHooks.Hooks, [
        {
          mayBegin: () => Effect.undefined,
          maySend: ({ id }) => Effect.succeed(at.waiting.has(id) ? "later" : "now")
        }
      ])
    )
    const next = yield* send([ready(1), ready(2), ready(3)])
    return Object.fromEntries(next.map(([{ withdrawal }, next]) => [withdrawal.id, next]))
  })

const all = (next: Payouts.Next) => ({ "id 1": next, "id 2": next, "id 3": next })
const waits = { millis: settings.trackMillis.maximum }

describe("A batch that is sent", () => {
  it.effect(
    "batch: the first paid withdrawal leads, the others follow with their shares of the fee, and the rest wait for coins",
    () =>
      run({}, function* () {
        const at = state()
        assert.deepStrictEqual<unknown>(yield* sent(at), { "id 1": "later", "id 2": waits, "id 3": "done" })
        assert.deepStrictEqual(at.did, [["id 1", ["id 3", 3000n]], "broadcast id 1"])
      })
  )

  it.effect("batch: without enough coins, nothing is signed, and all withdrawals wait", () =>
    run({}, function* () {
      const at = { ...state(), pays: "none" as const }
      assert.deepStrictEqual<unknown>([yield* sent(at), at.did], [all(waits), []])
    })
  )

  it.effect(
    "batch: if one withdrawal may not be sent by the time of the signature, nothing is sent, and coins are selected again",
    () =>
      run({}, function* () {
        for (const id of ["id 1", "id 3"]) {
          const at = { ...state(), waiting: new Set([id]) }
          assert.deepStrictEqual<unknown>([yield* sent(at), at.did], [all({ millis: 0 }), []])
        }
      })
  )

  it.effect(
    "batch: if another payout or another process is first, nothing is broadcast, and coins are selected again",
    () =>
      run({}, function* () {
        for (const commit of others()) {
          const at = { ...state(), commit }
          assert.deepStrictEqual<unknown>([yield* sent(at), at.did], [all({ millis: 0 }), []])
        }
      })
  )

  it.effect("batch: if its turn to sign does not come, it is sent later", () =>
    run({}, function* () {
      const at = { ...state(), isInTurn: false }
      assert.deepStrictEqual<unknown>([yield* sent(at), at.did], [all("later"), []])
    })
  )

  it.effect("batch: coins that another payout spends are not free", () =>
    run({}, function* () {
      const at = { ...state(), spent: new Set(outpoints.slice(1)) }
      yield* sent(at)
      assert.deepStrictEqual(at.free, outpoints.slice(0, 1))
    })
  )
})

const first = TxId.make("01".repeat(32))
const second = TxId.make("02".repeat(32))

const tracking = () => ({
  placements: {} as Record<string, Placement>,
  candidates: [first] as ReadonlyArray<TxId.TxId>,
  /** The transaction before its signature, and its change, if it can be replaced. */
  unsigned: { psbt: Payout.withoutPsbt, change: null } as Pick<Withdrawal.Candidate, "psbt" | "change">,
  /** Statuses of the withdrawals that share the transaction. */
  followers: [] as ReadonlyArray<Withdrawal.Withdrawal["status"]>,
  dispatchedAtMillis: 0,
  updatedAtMillis: 0,
  nowMillis: 0,
  commit: undefined as ReturnType<typeof state>["commit"],
  did: new Array<unknown>()
})

const policy = {
  ...settings,
  payoutConfirmations: 2,
  replacedConfirmations: 6,
  replacement: { ...settings.replacement, afterMillis: 1000 }
}

/** The transaction `first` costs 4 sats, and its replacement 8. Their block is at height 100 if the tip is at 105. */
const tracked = (at: ReturnType<typeof tracking>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(at.nowMillis)
    const { track } = yield* PayoutTracking.make(
      {
        fail: () => Effect.die("a payout never fails"),
        settle: ({ id }, { chainTxId, networkFee }) =>
          Effect.sync(() => {
            at.did.push([id, chainTxId, networkFee])
            return "done" as const
          })
      },
      {
        alone: (_claims, send) => Effect.asSome(send),
        signed: ({ psbt, coins, fee, change, isDeep }) =>
          Effect.succeed({
            _tag: "Chain",
            txId: second,
            rawTx: second,
            psbt,
            coins,
            networkFee: fee,
            change,
            isDeep
          }),
        broadcast: (_withdrawal, { rawTx }) => Effect.sync(() => void at.did.push(`broadcast ${rawTx}`)),
        isFirst: (id, what) => {
          at.did.push(`replacement of ${id} ${what}`)
          return false
        }
      }
    ).pipe(
      Effect.provideService(SendingReads, {
        ...(yield* SendingReads),
        candidates: () =>
          Effect.succeed(
            at.candidates.map((txId) => ({
              txId,
              rawTx: txId,
              ...at.unsigned,
              networkFee: Msat.fromSats(txId === first ? 4 : 8),
              isDeep: false
            }))
          ),
        followers: () =>
          Effect.succeed(at.followers.map((status, n) => ({ ...ready(3 + n).withdrawal, status })))
      }),
      Effect.provideService(ChainSource, {
        ...(yield* ChainSource),
        tip: Effect.succeed({ height: 105, hash: "" }),
        feeRate: Effect.succeed(9),
        transaction: (txId) => Effect.succeed(at.placements[txId] ?? { _tag: "gone" })
      }),
      Effect.provideService(Journal, {
        commit: (change) => {
          if (at.commit !== undefined) return Effect.fail(at.commit as never)
          if (change._tag !== "WithdrawalReplaced") return Effect.die("another Change")
          at.did.push(change)
          return Effect.succeed(applied)
        }
      })
    )
    const { withdrawal, task } = ready(1)
    return yield* track({ ...withdrawal, updatedAtMillis: at.updatedAtMillis }, at.dispatchedAtMillis, task)
  })

const mined = (height: number): Placement => ({ _tag: "mined", height, isCoinbase: false })
const inMempool: Placement = { _tag: "mempool" }

describe("A payout that was sent", () => {
  for (const [title, change, next, did] of [
    [
      "settles at the policy's depth",
      { placements: { [first]: mined(104) } },
      "done",
      [["id 1", first, 4000n]]
    ],
    ["does not settle a block earlier", { placements: { [first]: mined(105) } }, "later", []],
    [
      "that was replaced settles deeper, with the transaction that is in a block and its fee",
      { candidates: [first, second], placements: { [first]: mined(100) } },
      "done",
      [["id 1", first, 4000n]]
    ],
    [
      "that was replaced does not settle a block earlier",
      { candidates: [first, second], placements: { [first]: mined(101) } },
      "later",
      []
    ],
    [
      "settles the withdrawals that share its transaction first, each with its share of the fee",
      { followers: ["pending"], placements: { [first]: mined(104) } },
      "done",
      [
        ["id 3", first, 3000n],
        ["id 1", first, 1000n]
      ]
    ],
    ["that no longer is on the chain is broadcast again", {}, "later", [`broadcast ${first}`]],
    [
      "whose replacement no longer is on the chain is broadcast again as the replacement",
      { candidates: [first, second], placements: { [first]: inMempool } },
      "later",
      [`broadcast ${second}`]
    ],
    [
      "whose replacement is in the mempool is not broadcast again",
      { candidates: [first, second], placements: { [second]: inMempool } },
      "later",
      []
    ],
    ["of another leader has no transaction, so that one's task handles it", { candidates: [] }, "done", []],
    [
      "is replaced after the policy's time",
      { placements: { [first]: inMempool }, dispatchedAtMillis: 500, updatedAtMillis: 900, nowMillis: 1500 },
      "later",
      ["replacement of id 1 limited"]
    ],
    [
      "is not replaced before",
      { placements: { [first]: inMempool }, dispatchedAtMillis: 500, updatedAtMillis: 0, nowMillis: 1499 },
      "later",
      []
    ],
    [
      "is replaced again only the same time after the last replacement",
      {
        candidates: [first, second],
        placements: { [second]: inMempool },
        updatedAtMillis: 900,
        nowMillis: 1899
      },
      "later",
      []
    ],
    [
      "is not replaced if a withdrawal that shares it has ended",
      { placements: { [first]: inMempool }, followers: ["pending", "settled"], nowMillis: 5000 },
      "later",
      []
    ]
  ] satisfies ReadonlyArray<
    readonly [string, Partial<ReturnType<typeof tracking>>, string, ReadonlyArray<unknown>]
  >) {
    it.effect(`payout: one ${title}`, () =>
      run({ settings: policy }, function* () {
        const at = { ...tracking(), ...change }
        assert.deepStrictEqual<unknown>([yield* tracked(at), at.did], [next, did])
      })
    )
  }

  const { wallet } = Keys.make("decisions", "regtest")
  const place = { type: "taproot", branch: 1, index: 0 } as const
  const { scriptPubKey } = wallet.key(place).address
  const replaceable = (): ReturnType<typeof tracking> => {
    const coin = {
      ...place,
      outpoint: outpoints[0] ?? "",
      scriptPubKey,
      amount: Msat.fromSats(92_004),
      isConfirmed: true
    }
    const outputs = [2000n, 90_000n].map((sats) => ({ scriptPubKey, sats }))
    return {
      ...tracking(),
      unsigned: {
        psbt: Payout.toPsbt(Payout.draft(wallet.keys, [coin], outputs)),
        change: { ...place, wallet: "ours", vout: 1, scriptPubKey, amount: Msat.fromSats(90_000) }
      },
      placements: { [first]: inMempool },
      followers: ["pending"],
      nowMillis: 1500
    }
  }

  it.effect(
    "replacement: it ends the change of the transaction that it replaces, and each withdrawal bears its share of the new fee",
    () =>
      run({ settings: policy }, function* () {
        const at = replaceable()
        assert.strictEqual(yield* tracked(at), "later")
        const [replaced, ...rest] = at.did as ReadonlyArray<Withdrawal.WithdrawalReplaced>
        assert.deepStrictEqual<unknown>(rest, [`broadcast ${second}`])
        const fee = replaced?.attempt.networkFee ?? assert.fail("not replaced")
        assert.deepStrictEqual<unknown>(replaced?.replaces, { txId: first, change: `${first}:1` })
        assert.deepStrictEqual(
          replaced?.followers.map(({ id, networkFee }) => [id, networkFee]),
          [["id 3", Msat.make(fee - fee / 4n)]]
        )
      })
  )

  it.effect(
    "replacement: it is not broadcast if another payout spends the change, or another process is first",
    () =>
      run({ settings: policy }, function* () {
        for (const commit of others()) {
          const at = { ...replaceable(), commit }
          assert.deepStrictEqual<unknown>([yield* tracked(at), at.did], ["later", []])
        }
      })
  )
})
