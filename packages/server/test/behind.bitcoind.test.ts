import { assert, it } from "@effect/vitest"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Miner from "@satrail/regtest/Miner"
import * as Real from "@satrail/regtest/Real"
import { Effect, Schema } from "effect"
import * as Customer from "./Customer.ts"
import * as OnChain from "./OnChain.ts"
import * as Service from "./Service.ts"

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

Real.suite("the service while its bitcoin node is behind", ["bitcoind"], () => {
  it.layer(Bitcoind.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "chain: a bitcoin node that lacks 12 blocks that were read is not ready, in every place with both heights, and no coin, deposit or payout ends because of it",
      () =>
        Effect.gen(function* () {
          const chain = yield* Chain
          yield* chain.mine(Miner.firstBlocks)
          const service = yield* OnChain.made
          yield* act(() =>
            service.start({ ...OnChain.settings(chain), RATES: "fixed", SATRAIL_RECONCILE_SECONDS: "1" })
          )
          const shop = yield* act(() => service.company("paid"))
          const { address } = yield* act(() =>
            Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" }))
          )
          // The deposit, and the node's index of it, are only in the blocks that the node loses.
          yield* chain.mine(3)
          yield* chain.send(address.address, 300_000n)
          const blocks = yield* chain.mine(12)
          const top = yield* chain.height
          yield* act(() => Customer.hasBalance(shop, 300_000))
          // The mempool is read only once all blocks were read.
          yield* chain.send(address.address, 20_000n)
          yield* act(() =>
            Service.eventually(
              "the payment in the mempool",
              () => shop.get("/v1/transactions?status=pending"),
              ({ data }) => data.length === 1
            )
          )

          yield* chain.call("invalidateblock", [blocks[0]], Schema.Null)
          const behind = `behind: block ${top - 12} of ${top}`
          const token = service.token()
          const ready = yield* act(() =>
            Service.eventually(
              "a node that is behind",
              () => service.ask("GET", "/readyz"),
              ({ status }) => status === 503
            )
          )
          const { error } = JSON.parse(ready.text)
          assert.deepStrictEqual(error.issues, [{ path: "chain", message: behind }])
          const status = yield* act(() => service.ask("GET", "/operator/status", { key: token }))
          assert.deepInclude(status.data.checks, { name: "chain", reason: behind })
          const metrics = yield* act(async () =>
            (
              await fetch(`${service.url()}/operator/metrics`, {
                headers: { authorization: `Bearer ${token}` }
              })
            ).text()
          )
          assert.include(metrics, 'satrail_blocks_behind{node="chain"} 12\n')
          assert.include(metrics, 'satrail_ready{check="chain"} 0\n')

          // A reconciliation is skipped, and the deposit keeps its credit.
          const report = () => service.ask("GET", "/operator/reconciliation", { key: token })
          const before = yield* act(report)
          yield* act(() =>
            Service.eventually(
              "a skipped reconciliation",
              async () => service.logs(),
              (lines) =>
                lines.some((line) => line.includes("reconciliation: skipped, the chain is unavailable"))
            )
          )
          const after = yield* act(report)
          assert.strictEqual(after.data.report?.reconciled_at, before.data.report?.reconciled_at)
          assert.strictEqual(yield* act(() => Customer.balance(shop)), 300_000)

          yield* chain.call("reconsiderblock", [blocks[0]], Schema.Null)
          yield* chain.indexed
          yield* act(() =>
            Service.eventually(
              "a node that has caught up",
              () => service.ask("GET", "/readyz"),
              ({ status }) => status === 200
            )
          )
          const { data } = yield* act(() =>
            Service.eventually(
              "a reconciliation",
              report,
              ({ data }) => data.report?.reconciled_at > (after.data.report?.reconciled_at ?? "")
            )
          )
          assert.deepStrictEqual(data.report.differences_by_cause, {})
          assert.strictEqual(yield* act(() => Customer.balance(shop)), 300_000)
          yield* act(() => service.stop("SIGTERM"))
        }).pipe(Effect.scoped)
    )
  })
})
