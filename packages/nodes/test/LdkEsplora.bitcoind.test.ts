import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as EsploraServer from "@satrail/regtest/EsploraServer"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Exit, Layer, Redacted, Result, Schema } from "effect"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"

// dora follows the chain only through an Esplora server. Her channel is with bob, who forwards payments from
// and to carol.

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

const Balances = Schema.Struct({
  TotalOnchainBalanceSats: Schema.Int,
  LightningBalances: Schema.NullOr(Schema.Array(Schema.Unknown)),
  PendingBalancesFromChannelClosures: Schema.NullOr(
    Schema.Array(Schema.Struct({ ConfirmationHeight: Schema.optional(Schema.Int) }))
  )
})

const invoiceOf = Effect.fnUntraced(function* (sats: number) {
  const { createInvoice } = yield* LightningReceiver
  const description = { _tag: "Text", text: "coffee" } as const
  return yield* createInvoice({
    id: yield* Id.make,
    amount: Msat.fromSats(sats),
    description,
    expirySeconds: 1800
  })
})

Real.suite("ldk on Esplora", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(network, { excludeTestServices: true })((it) => {
    it.effect(
      "ldk: on Esplora, a node opens a channel, receives and sends payments, sees incoming coins, and sweeps a force-closed channel",
      () =>
        Effect.gen(function* () {
          const { bob, carol } = yield* Network.Network
          const chain = yield* Chain
          const esplora = yield* EsploraServer.make
          const dora = yield* LdkNetwork.started("dora", esplora.url)
          const adapter = Ldk.layer({
            socket: dora.socket,
            identity: { nodeId: dora.nodeId, network: "regtest" },
            marks: Marks.inMemory(),
            invoiceSecret: Redacted.make("of the tests")
          })
          yield* LdkNetwork.open(dora, bob)
          const balances = dora.ask("balances", {}, Balances)
          const wallet = Effect.map(balances, ({ TotalOnchainBalanceSats }) => TotalOnchainBalanceSats)

          yield* Effect.gen(function* () {
            const { owned } = yield* LightningBooks
            const { lookupInvoice } = yield* LightningReceiver
            const { pay, lookupPayment } = yield* LightningSender
            const resting = eventually(Effect.orDie(owned), ({ within }) => within === 0n)
            yield* eventually(Effect.exit(owned), Exit.isSuccess)
            const opened = (yield* resting).amount

            const asked = yield* invoiceOf(500_000)
            yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, asked.paymentRequest), true), 60)
            yield* eventually(lookupInvoice(asked.paymentHash), ({ _tag }) => _tag === "settled")

            const amount = Msat.fromSats(100_000)
            const request = yield* Peer.invoice(carol, { amount, behaviour: "settle" })
            yield* LdkNetwork.findsWay(dora, request, 100_000)
            const invoice = Result.getOrThrow(Bolt11.decode(request))
            yield* pay({ invoice, amount, feeLimit: Msat.fromSats(1_000) })
            const paid = yield* eventually(
              lookupPayment(invoice.paymentHash),
              ({ _tag }) => _tag === "settled" || _tag === "failed"
            )
            if (paid._tag !== "settled") return assert.fail(JSON.stringify(paid))
            assert.strictEqual(yield* Peer.received(carol, invoice.paymentHash), amount)
            const moved = Msat.fromSats(500_000) - amount - paid.fee
            yield* eventually(
              Effect.orDie(owned),
              (now) => now.within === 0n && now.amount - opened === moved
            )

            const before = yield* wallet
            const { address } = yield* dora.ask("address", {}, Schema.Struct({ address: Schema.String }))
            yield* chain.send(address, 1_000_000n)
            yield* LdkNetwork.mine(1, [dora])
            assert.strictEqual((yield* wallet) - before, 1_000_000)

            const rich = (yield* resting).amount
            const [one] = (yield* dora.ask("channels", {}, LdkNetwork.Channels)).channels
            yield* dora.ask(
              "closeChannel",
              { channel: one?.channel, node: one?.node, force: true },
              Schema.Unknown
            )
            const isOver = Effect.map(
              balances,
              ({ LightningBalances, PendingBalancesFromChannelClosures }) =>
                (LightningBalances ?? []).length === 0 &&
                (PendingBalancesFromChannelClosures ?? []).every(
                  (sweep) => sweep.ConfirmationHeight !== undefined
                )
            )
            for (let blocks = 0; !(yield* isOver); blocks++) {
              assert.isBelow(blocks, 100, "the channel's money is not in the wallet")
              yield* LdkNetwork.mine(5, [dora])
              yield* Effect.sleep("250 millis")
            }
            const closed = (yield* resting).amount
            assert.strictEqual(closed, Msat.fromSats(yield* wallet))
            // Maximum chain fees for closing.
            assert.isAtLeast(Number(closed), Number(rich) - 5_000_000)
          }).pipe(Effect.provide(adapter))
        }).pipe(Effect.scoped)
    )
  })
})
