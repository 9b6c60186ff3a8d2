import { assert, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Miner from "@satrail/regtest/Miner"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, type Scope, Schema } from "effect"
import { createServer, request } from "node:http"
import * as Customer from "./Customer.ts"
import * as OnChain from "./OnChain.ts"
import * as Service from "./Service.ts"

// Kills bitcoind at each step of a payout. bitcoind loses the state that it has not written, such as its
// mempool.

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

/** A proxy between the service and the node's RPC. */
interface Between {
  readonly url: string
  /** Cuts or restores the connection to the node. */
  readonly cut: (isCut: boolean) => void
  /**
   * Lets the node execute the next call of this method, but drops the response. Resolves after the response has
   * been dropped.
   */
  readonly lost: (method: string) => Promise<void>
}

const between: Effect.Effect<Between, Process.RegtestFailed, Chain | Scope.Scope> = Effect.gen(function* () {
  const { url } = yield* Chain
  let isCut = false
  let losing: { readonly method: string; readonly tell: () => void } | undefined
  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.once("end", () => {
      if (isCut) return response.destroy()
      const body = Buffer.concat(chunks)
      const lost = losing !== undefined && body.includes(`"${losing.method}"`) ? losing : undefined
      if (lost !== undefined) losing = undefined
      const onward = request(
        new URL(incoming.url ?? "/", url),
        { method: incoming.method, headers: incoming.headers },
        (answer) => {
          if (lost !== undefined) {
            // Let no further response through before the node is killed.
            isCut = true
            return answer.resume().once("end", () => {
              response.destroy()
              lost.tell()
            })
          }
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          return answer.pipe(response)
        }
      )
      return onward.once("error", () => response.destroy()).end(body)
    })
  })
  const port = yield* Process.freePort
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    url: `http://127.0.0.1:${port}`,
    cut: (is) => void (isCut = is),
    lost: (method) =>
      new Promise((resolve) => {
        losing = { method, tell: resolve }
      })
  }
})

const Scanned = Schema.Struct({ unspents: Schema.Array(Schema.Struct({ amount: Schema.Finite })) })

/** Makes bitcoind write its blocks to disk, so that they survive a kill. */
const written = Effect.flatMap(Chain, ({ call }) => call("gettxoutsetinfo", [], Schema.Unknown))

const killed = Effect.gen(function* () {
  const { stop } = yield* Bitcoind.Bitcoind
  yield* written
  yield* stop("SIGKILL")
})

const isListed = (txId: string) =>
  Effect.flatMap(Chain, ({ call }) =>
    Effect.map(call("getrawmempool", [], Schema.Array(Schema.String)), (all) => all.includes(txId))
  )

const waiting = (txId: string) =>
  Process.until(
    `${txId} waits to be mined`,
    Effect.map(isListed(txId), (is) => (is ? true : undefined))
  )

const Placed = Schema.Struct({ confirmations: Schema.optionalKey(Schema.Int) })

/**
 * Waits until the transaction is in the mempool or in a block. A node that just started may not find a
 * transaction in a block yet.
 */
const known = (txId: string) => {
  const isMined = Effect.flatMap(Chain, ({ call }) =>
    Effect.orElseSucceed(
      Effect.map(
        call("getrawtransaction", [txId, 1], Placed),
        ({ confirmations }) => (confirmations ?? 0) > 0
      ),
      () => false
    )
  )
  const is = Effect.flatMap(isListed(txId), (is) => (is ? Effect.succeed(true) : isMined))
  return Process.until(
    `${txId} is in the mempool or in a block`,
    Effect.map(is, (is) => (is ? true : undefined))
  )
}

const sats = 20_000

Real.suite("the service while bitcoind is killed", ["bitcoind"], () => {
  it.layer(Bitcoind.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "C19: chain: each payout is sent once even if bitcoind is killed before or after a broadcast, before a confirmation is seen, or in a reorganization",
      () =>
        Effect.gen(function* () {
          const chain = yield* Chain
          const bitcoind = yield* Bitcoind.Bitcoind
          yield* chain.mine(Miner.firstBlocks)
          const service = yield* OnChain.made
          const node = yield* between
          yield* act(() =>
            service.start({
              ...OnChain.settings(chain),
              BITCOIN_RPC_URL: node.url,
              RATES: "fixed",
              SATRAIL_RECONCILE_SECONDS: "1"
            })
          )
          const shop = yield* act(() => service.company("paid"))
          const { address } = yield* act(() =>
            Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" }))
          )
          yield* chain.send(address.address, 300_000n)
          yield* chain.mine(6)
          yield* act(() => Customer.hasBalance(shop, 300_000))

          let payees = 0
          const payee = () =>
            BitcoinAddress.fromPayload("p2wsh", new Uint8Array(32).fill(++payees), "regtest") ??
            assert.fail("no address")
          const confirmed = (to: string) => act(() => Customer.data(201, Customer.confirm(shop, to, sats)))
          const sent = (id: string) =>
            act(() =>
              Customer.until(
                shop,
                `/v1/transactions/withdrawals/${id}`,
                ({ chain_tx_id: txId }) => txId !== null
              )
            )
          const paid: Array<{
            readonly id: string
            readonly to: string
            readonly fee_sats: number
            readonly amount_sats: number
          }> = []
          /** Restarts the node and checks that the kill had no effect: the payout confirms and settles. */
          const settles = Effect.fnUntraced(function* (
            one: (typeof paid)[number],
            standing: "pending" | "settled" = "pending"
          ) {
            assert.strictEqual((yield* act(() => Customer.fetchWithdrawal(shop, one.id))).status, standing)
            yield* bitcoind.start
            node.cut(false)
            // Replace the removed block with an empty one. The service checks settled payouts at each new
            // block.
            if (standing === "settled")
              yield* chain.call("generateblock", [payee().address, []], Schema.Unknown)
            const { chain_tx_id: txId } = yield* sent(one.id)
            // The service rebroadcasts whatever the node lost.
            yield* known(txId)
            // Pays another payee each time, because a block with the same content would have the hash of the
            // removed block.
            yield* chain.call("generatetoaddress", [6, payee().address], Schema.Array(Schema.String))
            paid.push(
              yield* Effect.as(
                act(() => Customer.ends(shop, one.id, "settled")),
                one
              )
            )
          })
          const asked = Effect.gen(function* () {
            const to = payee().address
            return { to, ...(yield* confirmed(to)) }
          })

          // Before the broadcast: the node is down.
          node.cut(true)
          yield* killed
          yield* settles(yield* asked)

          // After the broadcast, whose response was lost. The node's mempool is lost, too.
          const lost = node.lost("sendrawtransaction")
          const broadcast = yield* asked
          yield* act(() => lost)
          yield* killed
          yield* settles(broadcast)

          // The payout is in blocks that the service has not seen.
          const mined = yield* asked
          yield* waiting((yield* sent(mined.id)).chain_tx_id)
          node.cut(true)
          yield* chain.mine(6)
          yield* killed
          yield* settles(mined)

          // The payout is settled by one block, which is removed just before the node is killed.
          const reorganized = yield* asked
          yield* waiting((yield* sent(reorganized.id)).chain_tx_id)
          const [hash] = yield* chain.mine(1)
          yield* act(() => Customer.ends(shop, reorganized.id, "settled"))
          yield* chain.call("invalidateblock", [hash], Schema.Null)
          yield* killed
          yield* settles(reorganized, "settled")

          for (const { to } of paid) {
            const { unspents } = yield* chain.call("scantxoutset", ["start", [`addr(${to})`]], Scanned)
            assert.deepStrictEqual(
              unspents.map(({ amount }) => Math.round(amount * 1e8)),
              [sats]
            )
          }
          assert.strictEqual(yield* act(() => Customer.balance(shop)), Customer.without(300_000, ...paid))
          const since = new Date().toISOString()
          const { data } = yield* act(() =>
            Service.eventually(
              "a reconciliation without discrepancies",
              () => service.ask("GET", "/operator/reconciliation", { key: service.token() }),
              ({ data }) =>
                data.report !== null &&
                data.report.reconciled_at > since &&
                Object.keys(data.report.differences_by_cause).length === 0
            )
          )
          assert.strictEqual(data.report.is_behind, false)
          yield* act(() => service.stop("SIGTERM"))
        }).pipe(Effect.scoped)
    )
  })
})
