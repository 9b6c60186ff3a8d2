import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Chain from "@satrail/sandbox/Chain"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect } from "effect"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import type * as Coin from "../src/nodes/Coin.ts"
import { Records } from "../src/service/Records.ts"
import * as Payout from "../src/sending/Payout.ts"
import {
  accounts,
  company,
  companyWith,
  confirm,
  follow,
  has,
  mine,
  now,
  onChainAddress,
  outside,
  type Ports,
  replace,
  scenario,
  standing,
  step,
  steps,
  weather
} from "./World.ts"

/** Allows a payout to spend only coins of at most this amount. */
const onlyCoinsUpTo = (sats: number) => (ports: Context.Context<Ports>) =>
  replace(ChainWallet, (wallet) => ({
    build: (ask) =>
      wallet.build({
        ...ask,
        free: Effect.fnUntraced(function* (outpoints) {
          const { chain } = yield* Context.get(ports, Sandbox).state
          const coins = Chain.coins(chain, "wallet", true).filter(
            ({ amount }) => amount <= Msat.fromSats(sats)
          )
          const small = new Set(coins.map(({ outpoint }) => outpoint))
          return yield* ask.free(outpoints.filter((outpoint) => small.has(outpoint)))
        })
      })
  }))(ports)

const coin = (sats: number, change: Partial<Coin.Coin> = {}): Coin.Coin => ({
  outpoint: `${"ab".repeat(32)}:0`,
  scriptPubKey: `5120${"ab".repeat(32)}`,
  amount: Msat.fromSats(sats),
  type: "taproot",
  branch: 0,
  index: 0,
  isConfirmed: true,
  ...change
})

const select = (coins: ReadonlyArray<Coin.Coin>, sats: number, feeLimitSats = 250n) => {
  const output = { scriptPubKey: `0014${"07".repeat(20)}`, sats: BigInt(sats), feeLimitSats }
  const selection = Payout.selectBatch({ coins, outputs: [output], feeRate: 1 })
  return "coins" in selection ? selection : assert.fail("unfundable")
}

const times = (count: number, one: Coin.Coin) => Array.from({ length: count }, () => one)

describe("A payout from small coins", () => {
  it("payout: up to 60 coins are spent, whatever fee is held; the excess is at most 6,000 sats", () => {
    for (const [sats, coins] of [
      [1_500_000, 2],
      [5_000_000, 6],
      [20_000_000, 21],
      [59_500_000, 60]
    ] as const) {
      assert.strictEqual(select(times(60, coin(1_000_000)), sats).coins.length, coins)
    }
    const dearest = times(60, coin(1_000, { type: "nested_segwit" }))
    for (let sats = 50_000; sats <= 54_400; sats += 100)
      assert.isAtMost(Number(select(dearest, sats).feeSats), 250 + 6_000)
  })

  it("payout: unconfirmed change is spent before the operator pays more than the held fee", () => {
    const change = coin(900_000, { branch: 1, isConfirmed: false })
    const { coins, feeSats } = select([...times(10, coin(100_000)), change], 500_000)
    assert.deepStrictEqual(coins, [change])
    assert.isAtMost(Number(feeSats), 250)
  })

  scenario(
    "payout: if the held fee does not pay for all the coins that a payout needs, it is sent at 1 sat/vB; the operator bears the excess",
    () => {
      const { sky, change } = weather()
      sky.rate = 1
      return {
        logsErrors: true,
        sky,
        change: (ports: Context.Context<Ports>) => onlyCoinsUpTo(20_000)(change(ports))
      }
    },
    function* ({ sky }) {
      const payer = yield* company()
      const { address } = yield* onChainAddress(payer)
      for (let n = 0; n < 7; n++) yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(20_000) })
      yield* mine(6)
      yield* follow
      const row = yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 100_000)
      assert.strictEqual(row.networkAllowance, Msat.fromSats(250))
      // The rate rises, but the excess over the held fee does not.
      sky.rate = 20
      yield* step
      const { networkFee, chainTxId } = yield* now(row)
      assert.isNotNull(chainTxId)
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
      const mining = Number(networkFee) / 1000
      // 6 coins of 68 vB, 2 outputs and 11 vB
      assert.isTrue(mining > 450 && mining < 500, `fee ${mining}`)
      assert.deepStrictEqual(yield* has(payer), { posted: 140_000 - 100_000 - 250 - 200, held: 0 })
      assert.deepInclude(yield* accounts, { loss: 250 - mining, service_fees: 200 })
    }
  )

  scenario(
    "replacement: a payout with little change gives up its change for a higher fee, and settles",
    () => {
      const { sky, change } = weather()
      return {
        logsErrors: true,
        sky,
        change: (ports: Context.Context<Ports>) => onlyCoinsUpTo(21_000)(change(ports))
      }
    },
    function* ({ sky }) {
      const payer = yield* companyWith(42_000)
      const { address } = yield* onChainAddress(payer)
      yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(20_900) })
      yield* mine(6)
      yield* follow
      const row = yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, 20_000)
      yield* step
      sky.rate = 6
      yield* steps(31, 60)
      const [first, second] = yield* (yield* Records).candidates(row.companyId, row.id)
      assert.isNotNull(first?.change)
      assert.deepStrictEqual([second?.change, second?.networkFee], [null, Msat.fromSats(900)])
      yield* mine(6)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepInclude(yield* accounts, { loss: 500 - 900 })
    }
  )
})
