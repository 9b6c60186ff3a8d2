import { assert, it } from "@effect/vitest"
import { Chain } from "@satrail/regtest/Chain"
import * as Miner from "@satrail/regtest/Miner"
import * as Real from "@satrail/regtest/Real"
import { Effect } from "effect"
import * as Customer from "./Customer.ts"
import * as OnChain from "./OnChain.ts"
import * as Service from "./Service.ts"

Real.onChain("the service on a real chain", () => {
  it.layer(Real.chain, { excludeTestServices: true })((it) => {
    it.effect(
      "server: deposits and payouts work over /v1; while the node rejects the login, a start fails with that reason",
      () =>
        Effect.gen(function* () {
          const chain = yield* Chain
          yield* chain.mine(Miner.firstBlocks)
          const service = yield* OnChain.made
          const env = OnChain.settings(chain)
          const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

          yield* act(() => service.start(env))
          const shop = yield* act(() => service.company("paid"))
          const { address } = yield* act(() =>
            Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" }))
          )
          yield* chain.send(address.address, 90_000n)
          yield* chain.mine(6)
          yield* act(() => Customer.hasBalance(shop, 90_000))

          const before = yield* chain.height
          const confirmed = yield* act(() =>
            Customer.data(201, Customer.confirm(shop, Miner.address, 30_000))
          )
          const sent = yield* act(() =>
            Customer.until(
              shop,
              `/v1/transactions/withdrawals/${confirmed.id}`,
              ({ chain_tx_id: txId }) => txId !== null
            )
          )
          assert.strictEqual(sent.status, "pending", "the payout is not in a block yet")
          yield* act(() => service.stop("SIGTERM"))

          const wrong = { ...env, BITCOIN_RPC_PASSWORD: "of somebody else" }
          const { code, stderr } = yield* act(
            () => Service.run("main", [], { ...service.env(), ...wrong }).ended
          )
          assert.strictEqual(code, 1)
          assert.include(stderr, "BITCOIN_RPC_PASSWORD")
          assert.notInclude(stderr, wrong.BITCOIN_RPC_PASSWORD)

          yield* chain.mine(6)
          yield* act(() => service.start(env))
          const settled = yield* act(() => Customer.ends(shop, confirmed.id, "settled"))
          assert.strictEqual(settled.chain_tx_id, sent.chain_tx_id)
          yield* act(() => Customer.hasBalance(shop, Customer.without(90_000, confirmed)))
          assert.isAbove(yield* chain.height, before)
          yield* act(() => service.stop("SIGTERM"))
        }).pipe(Effect.scoped)
    )
  })
})
