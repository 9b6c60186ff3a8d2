import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Btcd from "@satrail/regtest/Btcd"
import { Chain } from "@satrail/regtest/Chain"
import * as Node from "@satrail/regtest/Lnd"
import * as Network from "@satrail/regtest/Network"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, Result, Schema, Stream } from "effect"
import * as Lnd from "../src/Lnd.ts"
import * as LndBooks from "../src/LndBooks.ts"
import { get, post } from "../src/LndRest.ts"
import { takenBack } from "./TakenBack.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)
const Address = Schema.Struct({ address: Schema.String })
const Arrived = Schema.Struct({ htlcs: Schema.Array(Schema.Unknown) })
const Sent = Schema.Struct({ status: Schema.String })
const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Routes = Schema.Struct({ routes: Schema.NonEmptyArray(Fields) })
const hopsOf = Schema.decodeUnknownEffect(Schema.Array(Fields))

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64")
const [whole, taken, rest] = [100_000, 60_000, 40_000]

/** Pays a part of an invoice, without the other parts. */
const part = Effect.fnUntraced(function* (payer: Node.Lnd, paymentRequest: string, sats: number) {
  const { payee, paymentHash, paymentSecret, minFinalCltvExpiry } = Result.getOrThrow(
    Bolt11.decode(paymentRequest)
  )
  const query = get(`/v1/graph/routes/${payee}/${sats}`, {
    urlParams: { final_cltv_delta: minFinalCltvExpiry + 3 }
  })
  const { routes } = yield* Process.until("the payer knows a route", Node.ask(payer, query, Routes))
  const hops = yield* Effect.orDie(hopsOf(routes[0]["hops"]))
  const mpp_record = { payment_addr: base64(paymentSecret), total_amt_msat: String(Msat.fromSats(whole)) }
  const route = {
    ...routes[0],
    hops: [...hops.slice(0, -1), { ...hops.at(-1), tlv_payload: true, mpp_record }]
  }
  return (yield* Node.ask(
    payer,
    post("/v2/router/route/send", { payment_hash: base64(paymentHash), route }),
    Sent
  )).status
})

Real.suite("lnd, after a long stop within a payment", ["btcd", "lnd"], () => {
  it.live(
    "lnd: a part of a payment that the payer took back while the node was down is not credited when the rest arrives",
    () =>
      Effect.gen(function* () {
        const { alice, bob, carol } = yield* Network.Network
        const chain = yield* Chain
        const { url, certificateFile, nodeId } = alice
        const macaroon = yield* alice.bake([...Lnd.receiverCalls, ...LndBooks.calls].map(({ uri }) => uri))
        const options = { url, certificateFile, macaroon, identity: { nodeId, network: "regtest" } } as const
        const receiving = Lnd.layerReceiver({
          ...options,
          holds: false,
          invoiceSecret: Redacted.make("of the tests")
        })
        const context = yield* Layer.build(Layer.merge(receiving, LndBooks.layer(options)))
        const { createInvoice, lookupInvoice, settlements } = yield* Effect.provide(
          LightningReceiver,
          context
        )
        const books = yield* Effect.provide(LightningBooks, context)
        // Bob takes back the part that he forwarded, and opens another channel.
        const { address } = yield* Node.ask(bob, get("/v1/newaddress"), Address)
        yield* chain.send(address, 30_000_000n)
        yield* Network.mine(6, [alice, bob, carol])
        const description = { _tag: "Text", text: "a car" } as const
        const ask = { id: yield* Id.make, amount: Msat.fromSats(whole), description, expirySeconds: 86_400 }
        const { paymentHash, paymentRequest } = yield* createInvoice(ask)

        const first = yield* Effect.forkChild(part(carol, paymentRequest, taken))
        const arrived = Node.ask(alice, get(`/v1/invoice/${paymentHash}`), Arrived)
        yield* Process.until(
          "a part arrives",
          Effect.map(arrived, ({ htlcs }) => (htlcs.length > 0 ? true : undefined))
        )
        yield* alice.stop("SIGKILL")
        assert.strictEqual(yield* takenBack(first), "FAILED")

        yield* alice.start
        yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "open")
        yield* Network.mine(6, [alice, bob, carol])
        yield* Network.open(bob, alice)
        yield* Network.mine(6, [alice, bob, carol])
        yield* Network.active(alice, 1)
        assert.strictEqual(yield* part(bob, paymentRequest, rest), "SUCCEEDED")
        const state = yield* lookupInvoice(paymentHash)
        const [reported] = yield* Stream.runCollect(Stream.take(settlements(null), 1))
        const { lines } = yield* books.taken("0")
        assert.deepStrictEqual(
          [state._tag === "settled" ? state.received : state._tag, reported?.received, lines[0]?.received],
          [Msat.fromSats(rest), Msat.fromSats(rest), Msat.fromSats(rest)]
        )
      }).pipe(Effect.scoped, Effect.provide(network))
  )
})
