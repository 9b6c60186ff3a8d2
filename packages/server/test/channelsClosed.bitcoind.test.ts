import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndRest from "@satrail/nodes/LndRest"
import * as Bitcoind from "@satrail/regtest/Bitcoind"
import { Chain } from "@satrail/regtest/Chain"
import * as Ldk from "@satrail/regtest/Ldk"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Node from "@satrail/regtest/Lnd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { isTurnOf } from "@satrail/testing/Turn"
import { Effect, Layer, Redacted, Result, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Customer from "./Customer.ts"
import * as OnLdk from "./OnLdk.ts"
import * as Service from "./Service.ts"

// The operator's view of a closing channel, from the start until all its funds are in the node's wallet. The
// channel is closed either by force with two payments in flight, or cooperatively. bob is the peer, and carol
// is paid through bob.

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Bitcoind.layer)

const act = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)
const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/**
 * On a chain without fee estimates, lnd would otherwise ask for a higher fee than LDK accepts, and LDK would
 * force-close the channel.
 */
const lowFee = { sat_per_vbyte: "2" }

/** An amount so large that a node will spend up to half of it on mining fees to claim it in time. */
const sats = 100_000

/** Our node as its owner sees it. */
interface Ours {
  readonly nodeId: string
  readonly height: Effect.Effect<number, Process.RegtestFailed>
  /** Closes the node's channel with bob, by force or cooperatively. */
  readonly closes: (force: boolean) => Effect.Effect<unknown, Process.RegtestFailed>
  /** Funds still pending from closed channels, in the node's own format. */
  readonly underWay: Effect.Effect<ReadonlyArray<unknown>, Process.RegtestFailed>
  /** The balance of the node's wallet, in sats. */
  readonly wallet: Effect.Effect<number, Process.RegtestFailed>
}

const Listed = Schema.Struct({
  channels: Schema.Array(Schema.Struct({ remote_pubkey: Schema.String, channel_point: Schema.String }))
})

/** Closes an lnd node's channel with another node, cooperatively or by force. */
const closed = Effect.fnUntraced(function* (
  node: Node.Lnd,
  other: string,
  urlParams: Readonly<Record<string, string>>
) {
  const { channels } = yield* Node.ask(node, LndRest.get("/v1/channels"), Listed)
  const one =
    channels.find((channel) => channel.remote_pubkey === other) ??
    assert.fail(`${node.name} has no channel with ${other}`)
  const request = HttpClientRequest.delete(`/v1/channels/${one.channel_point.replace(":", "/")}`, {
    urlParams
  })
  yield* Effect.orDie(Stream.runHead(node.rest.listen("close", request, Schema.Unknown)))
})

const Height = Schema.Struct({ block_height: Schema.Int })
const heightOf = (node: Node.Lnd) =>
  Effect.map(Node.ask(node, LndRest.get("/v1/getinfo"), Height), ({ block_height }) => block_height)

const funded = Effect.fnUntraced(function* (node: Node.Lnd) {
  const { address } = yield* Node.ask(
    node,
    LndRest.get("/v1/newaddress"),
    Schema.Struct({ address: Schema.String })
  )
  yield* (yield* Chain).send(address, 1_000_000n)
})

const Pending = Schema.Struct({
  waiting_close_channels: Schema.Array(Schema.Unknown),
  pending_force_closing_channels: Schema.Array(Schema.Unknown)
})
const InWallet = Schema.Struct({ total_balance: Schema.NumberFromString })
const Balances = Schema.Struct({
  TotalOnchainBalanceSats: Schema.Int,
  LightningBalances: Schema.NullOr(Schema.Array(Schema.Unknown)),
  PendingBalancesFromChannelClosures: Schema.NullOr(
    Schema.Array(Schema.Struct({ ConfirmationHeight: Schema.optional(Schema.Int) }))
  )
})

const onLnd = Effect.gen(function* () {
  const { alice, bob } = yield* Network.Network
  const service = Service.make()
  yield* Effect.addFinalizer(() => act(() => service.end()))
  const macaroon = (calls: ReadonlyArray<{ readonly uri: string }>) =>
    Effect.map(alice.bake(uris(calls)), Redacted.value)
  const env = {
    LIGHTNING: "lnd",
    RATES: "fixed",
    SATRAIL_DEMO: "yes",
    SATRAIL_RECONCILE_SECONDS: "1",
    LND_REST_URL: alice.url,
    LND_TLS_CERT: alice.certificateFile,
    LND_RECEIVER_MACAROON: yield* macaroon(Lnd.receiverCalls),
    LND_SENDER_MACAROON: yield* macaroon(Lnd.senderCalls),
    LND_BOOKS_MACAROON: yield* macaroon(LndBooks.calls),
    LND_INVOICE_SECRET: "of-the-tests-of-lnd-and-of-nobody-else"
  }
  yield* act(() => service.start(env))
  const pending = Node.ask(alice, LndRest.get("/v1/channels/pending"), Pending)
  const ours: Ours = {
    nodeId: alice.nodeId,
    height: heightOf(alice),
    closes: (force) => closed(alice, bob.nodeId, { force: String(force) }),
    underWay: Effect.map(pending, (all) => [
      ...all.waiting_close_channels,
      ...all.pending_force_closing_channels
    ]),
    wallet: Effect.map(
      Node.ask(alice, LndRest.get("/v1/balance/blockchain"), InWallet),
      ({ total_balance }) => total_balance
    )
  }
  return { service, ours }
})

const onLdk = Effect.gen(function* () {
  const { bob } = yield* Network.Network
  const env = yield* OnLdk.settings(yield* Process.folder)
  const service = Service.make()
  yield* Effect.addFinalizer(() => act(() => service.end()))
  yield* act(() => service.start(env))
  const dora = { name: "dora", ask: Ldk.asking(env.LDK_SOCKET) }
  yield* LdkNetwork.open(dora, bob)
  const channels = Effect.andThen(
    dora.ask("sync", {}, Schema.Unknown),
    dora.ask("channels", {}, LdkNetwork.Channels)
  )
  const balances = dora.ask("balances", {}, Balances)
  const ours: Ours = {
    nodeId: (yield* dora.ask("hello", {}, Schema.Struct({ node: Schema.String }))).node,
    height: Effect.map(channels, ({ height }) => height),
    closes: (force) =>
      Effect.flatMap(channels, ({ channels: [one] }) =>
        dora.ask("closeChannel", { channel: one?.channel, node: one?.node, force }, Schema.Unknown)
      ),
    underWay: Effect.map(balances, (all) => [
      ...(all.LightningBalances ?? []),
      // LDK keeps listing swept outputs for weeks, with the height of their block.
      ...(all.PendingBalancesFromChannelClosures ?? []).filter(
        ({ ConfirmationHeight }) => ConfirmationHeight === undefined
      )
    ]),
    wallet: Effect.map(balances, ({ TotalOnchainBalanceSats }) => TotalOnchainBalanceSats)
  }
  return { service, ours }
})

const Block = Schema.Struct({
  tx: Schema.Array(Schema.Struct({ txid: Schema.String, fee: Schema.optional(Schema.Finite) }))
})
const Own = Schema.Struct({ transactions: Schema.Array(Schema.Struct({ tx_hash: Schema.String })) })

/**
 * The fees of all transactions since a block, except those bob pays. The first transaction is the commitment.
 * Our node opened the channel, so it pays for the commitment, no matter which side closes the channel.
 */
const feesSince = Effect.fnUntraced(function* (from: number) {
  const { call, height } = yield* Chain
  const { bob } = yield* Network.Network
  const { transactions } = yield* Node.ask(bob, LndRest.get("/v1/transactions"), Own)
  const bobs = new Set(transactions.map(({ tx_hash }) => tx_hash))
  const top = yield* height
  const paid: Array<{ readonly txid: string; readonly sats: number }> = []
  for (let at = from + 1; at <= top; at++) {
    const { tx } = yield* call("getblock", [yield* call("getblockhash", [at], Schema.String), 2], Block)
    paid.push(
      ...tx.flatMap(({ txid, fee }) => (fee === undefined ? [] : [{ txid, sats: Math.round(fee * 1e8) }]))
    )
  }
  return paid.filter(({ txid }, at) => at === 0 || !bobs.has(txid)).reduce((sum, { sats }) => sum + sats, 0)
})

Real.suite("reports about a closed channel", ["bitcoind", "lnd", "ldk"], () => {
  for (const { backend, started, anchors } of [
    // LDK counts the two anchors of the commitment (BOLT 3) as ours while the channel is open, but not after a
    // force-close. lnd does not count them until both sides agree to close, which removes the anchors.
    { backend: "ldk", started: onLdk, anchors: { forced: 660, agreed: 0 } },
    { backend: "lnd", started: onLnd, anchors: { forced: 0, agreed: -660 } }
  ] as const) {
    const ways = [
      { closer: "our node", how: "by force with payments in flight", isForced: true },
      { closer: "its peer", how: "by force with payments in flight", isForced: true },
      { closer: backend === "lnd" ? "our node" : "its peer", how: "cooperatively", isForced: false }
    ] as const
    for (const [index, { closer, how, isForced }] of ways.entries()) {
      // Each run of the gate has both nodes, but closes their channels in different ways.
      it.live.skipIf(!isTurnOf(backend === "ldk" ? index : index + 1, 3))(
        `reconciliation: ${backend}: mining fees are the only discrepancy when ${closer} closes a channel ${how}`,
        () =>
          Effect.gen(function* () {
            const { bob, carol } = yield* Network.Network
            const chain = yield* Chain
            const { service, ours } = yield* started
            const shop = yield* act(() => service.company("paid"))

            const mine = Effect.fnUntraced(function* (blocks: number) {
              yield* chain.mine(blocks)
              const top = yield* chain.height
              for (const height of [ours.height, heightOf(bob), heightOf(carol)])
                yield* Process.until(
                  `block ${top} is seen`,
                  Effect.map(height, (seen) => (seen >= top ? true : undefined))
                )
            })
            /**
             * Returns the unexplained part of the node's balance from a reconciliation that began after this
             * call. If `most` is given, waits until that part is at most `most`, because the node's lists may
             * disagree for a moment and temporary discrepancies are not reported.
             */
            const unexplained = Effect.fnUntraced(function* (rests: boolean, most = Infinity) {
              const since = new Date().toISOString()
              const { data } = yield* act(() =>
                Service.eventually(
                  "a comparison",
                  () => service.ask("GET", "/operator/reconciliation", { key: service.token() }),
                  ({ data }) =>
                    data.report !== null &&
                    data.report.reconciled_at > since &&
                    data.report.is_behind === false &&
                    Number(data.report.node.unexplained_sats) <= most &&
                    (!rests || data.report.node.on_its_way_sats[1] < 10)
                )
              )
              const { differences_by_cause, node } = data.report
              assert.deepStrictEqual(
                Object.keys(differences_by_cause).filter((cause) => cause !== "node_balance"),
                []
              )
              return Number(node.unexplained_sats)
            })

            const costs = async () => {
              const { data } = await service.ask("GET", "/operator/reconciliation", { key: service.token() })
              return Number(data.report.channel_costs_sats)
            }

            const first = yield* act(() => Customer.invoice(shop, 500_000))
            yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, first.payment_request), true), 60)
            yield* act(() => Customer.hasBalance(shop, 500_000))
            yield* funded(bob)
            yield* mine(6)

            // The operator's own funds, added for channels.
            const own = yield* act(async () => {
              const { data } = await service.ask("GET", "/operator/reconciliation", { key: service.token() })
              return data.report.node.own_sats
            })
            const brought = own + (yield* unexplained(true))
            yield* act(() =>
              service.ask("PATCH", "/operator/reconciliation/own-funds", {
                key: service.token(),
                body: { node_sats: brought }
              })
            )
            assert.approximately(yield* unexplained(true), 0, 5)

            const held = yield* Effect.forEach(
              isForced ? (["settle", "fail"] as const) : [],
              Effect.fnUntraced(function* (outcome) {
                const destination = yield* Peer.invoice(carol, {
                  amount: Msat.fromSats(sats),
                  behaviour: "hold"
                })
                const { paymentHash } = Result.getOrThrow(Bolt11.decode(destination))
                const { id } = yield* act(() => Customer.data(201, Customer.confirm(shop, destination, sats)))
                yield* Peer.arrived(carol, paymentHash)
                return { id, paymentHash, outcome }
              })
            )
            assert.approximately(yield* unexplained(false), 0, 5)
            const from = yield* chain.height
            yield* closer === "our node"
              ? ours.closes(isForced)
              : closed(bob, ours.nodeId, isForced ? { force: "true" } : lowFee)
            const fees: Array<number> = []
            const look = Effect.gen(function* () {
              fees.push(-(yield* unexplained(false, 0)))
            })
            yield* look
            yield* mine(1)
            yield* look
            for (const { paymentHash, outcome } of held) yield* Peer.release(carol, paymentHash, outcome)
            for (let blocks = 0; ; blocks++) {
              const states = yield* act(() =>
                Promise.all(held.map(({ id }) => Customer.fetchWithdrawal(shop, id)))
              )
              const left = yield* ours.underWay
              if (left.length === 0 && states.every(({ status }) => status !== "pending")) break
              if (blocks > 150)
                assert.fail(
                  `still in progress: ${JSON.stringify([left, states.map(({ status }) => status)])}`
                )
              // The first payment expires soon, and the second after a few hundred blocks. After the expiry, the
              // node raises its fee with every block until the claim confirms.
              yield* mine(states[0]?.status === "pending" ? 1 : 5)
              yield* Effect.sleep("250 millis")
              yield* look
            }
            const ended = yield* act(() =>
              Promise.all(
                held.map(({ id, outcome }) =>
                  Customer.ends(shop, id, outcome === "settle" ? "settled" : "failed")
                )
              )
            )
            yield* act(() =>
              Customer.hasBalance(shop, isForced ? Customer.without(500_000, ended[0]) : 500_000)
            )
            const paid = (yield* feesSince(from)) + anchors[isForced ? "forced" : "agreed"]
            if (!isForced)
              yield* act(() => Service.eventually("the cost of closing", costs, (sats) => sats === paid))
            const cost = -(yield* unexplained(true))
            assert.approximately(cost, isForced ? paid : 0, 1)
            // Before the end, the cost was never above the fees paid so far.
            for (const fee of fees)
              assert.isTrue(fee >= 0 && fee <= Math.max(cost, 0) + 1, `${fee} of ${cost}`)
            // All funds are in the wallet, and the operator's view shows the total cost.
            const { data } = yield* act(() =>
              service.ask("GET", "/operator/reconciliation", { key: service.token() })
            )
            assert.strictEqual(data.report.node.owned_sats, yield* ours.wallet)
            yield* act(() =>
              service.ask("PATCH", "/operator/reconciliation/own-funds", {
                key: service.token(),
                body: { node_sats: data.report.node.own_sats - cost }
              })
            )
            assert.strictEqual(yield* unexplained(true), 0)
          }).pipe(Effect.scoped, Effect.provide(network))
      )
    }
  }
})
