import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndRest from "@satrail/nodes/LndRest"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Node from "@satrail/regtest/Lnd"
import * as Miner from "@satrail/regtest/Miner"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, Schema } from "effect"
import * as Customer from "./Customer.ts"
import * as OnChain from "./OnChain.ts"

const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/** Three lnd nodes connected to bitcoind by RPC and ZMQ. */
const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

/** Settings for the service on alice and the given bitcoind. */
const settings = Effect.gen(function* () {
  const { alice } = yield* Network.Network
  return {
    ...OnChain.settings(yield* Chain),
    LIGHTNING: "lnd",
    RATES: "fixed",
    LND_REST_URL: alice.url,
    LND_TLS_CERT: alice.certificateFile,
    LND_RECEIVER_MACAROON: Redacted.value(yield* alice.bake(uris(Lnd.receiverCalls))),
    LND_SENDER_MACAROON: Redacted.value(yield* alice.bake(uris(Lnd.senderCalls))),
    LND_INVOICE_SECRET: "of-the-tests-of-lnd-over-bitcoind-and-nobody-else"
  }
})

/**
 * Mines blocks until a node has seen the newest one. lnd misses blocks mined before its ZMQ connection is
 * restored, and catches up when the next block is mined.
 */
const follows = Effect.fnUntraced(function* (node: Node.Lnd) {
  const chain = yield* Chain
  const Info = Schema.Struct({ block_height: Schema.Int, synced_to_chain: Schema.Boolean })
  const look = Effect.gen(function* () {
    yield* chain.mine(1)
    yield* Effect.sleep("1 second")
    const { block_height, synced_to_chain } = yield* Node.ask(node, LndRest.get("/v1/getinfo"), Info)
    return block_height === (yield* chain.height) && synced_to_chain ? true : undefined
  })
  yield* Process.until(`${node.name} follows the chain again`, look)
})

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

Real.suite("the service on lnd over bitcoind", ["bitcoind", "lnd"], () => {
  it.layer(network, { excludeTestServices: true })((it) => {
    it.effect(
      "lnd over bitcoind: the service receives and pays over Lightning and on-chain; withdrawals during a bitcoind outage stay pending and settle afterwards",
      () =>
        Effect.gen(function* () {
          const chain = yield* Chain
          const { carol, alice } = yield* Network.Network
          const bitcoind = yield* Bitcoind.Bitcoind
          const service = yield* OnChain.made
          const env = yield* settings
          yield* act(() => service.start(env))
          const shop = yield* act(() => service.company("paid"))

          const first = yield* act(() => Customer.invoice(shop, 50_000))
          yield* Peer.pay(carol, first.payment_request)
          yield* act(() => Customer.hasBalance(shop, 50_000))
          const { address } = yield* act(() =>
            Customer.data(201, shop.post("/v1/bitcoin/deposit/on-chain", { address_type: "taproot" }))
          )
          yield* chain.send(address.address, 90_000n)
          yield* chain.mine(6)
          yield* act(() => Customer.hasBalance(shop, 140_000))

          // lnd asks bitcoind for the height before it pays. Without bitcoind, neither kind of withdrawal
          // proceeds, and neither fails.
          const invoice = yield* Peer.invoice(carol, { amount: Msat.fromSats(10_000), behaviour: "settle" })
          yield* bitcoind.stop("SIGTERM")
          const payout = yield* act(() => Customer.data(201, Customer.confirm(shop, Miner.address, 30_000)))
          const paid = yield* act(() => Customer.data(201, Customer.confirm(shop, invoice, 10_000)))
          yield* Effect.sleep("3 seconds")
          for (const { id } of [payout, paid]) {
            assert.strictEqual((yield* act(() => Customer.fetchWithdrawal(shop, id))).status, "pending")
          }
          yield* bitcoind.start
          // Before any block is mined: lnd allows for three new ones between its reading of the height and the
          // payee's, and six at once would make the payee reject the payment.
          yield* act(() => Customer.ends(shop, paid.id, "settled"))

          const sent = yield* act(() =>
            Customer.until(
              shop,
              `/v1/transactions/withdrawals/${payout.id}`,
              ({ chain_tx_id: txId }) => txId !== null
            )
          )
          yield* Process.until(
            "the payout waits to be mined",
            Effect.map(chain.call("getrawmempool", [], Schema.Array(Schema.String)), (waiting) =>
              waiting.includes(sent.chain_tx_id) ? true : undefined
            )
          )
          yield* chain.mine(6)
          yield* act(() => Customer.ends(shop, payout.id, "settled"))
          for (const node of [alice, carol]) yield* follows(node)

          const last = yield* act(() => Customer.invoice(shop, 1_000))
          yield* Peer.pay(carol, last.payment_request)
          yield* act(() => Customer.hasBalance(shop, Customer.without(141_000, payout, paid)))
          yield* act(() => service.stop("SIGTERM"))
        }).pipe(Effect.scoped)
    )
  })
})
