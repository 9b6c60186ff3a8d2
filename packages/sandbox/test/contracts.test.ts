import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ChainSource from "@satrail/contracts/nodes/ChainSource"
import * as ChainWallet from "@satrail/contracts/nodes/ChainWallet"
import * as ExchangeRates from "@satrail/contracts/nodes/ExchangeRates"
import * as LightningBooks from "@satrail/contracts/nodes/LightningBooks"
import * as LightningReceiver from "@satrail/contracts/nodes/LightningReceiver"
import * as LightningSender from "@satrail/contracts/nodes/LightningSender"
import * as Dns from "@satrail/contracts/nodes/Dns"
import * as OfferIssuer from "@satrail/contracts/nodes/OfferIssuer"
import * as OfferSender from "@satrail/contracts/nodes/OfferSender"
import * as Relays from "@satrail/contracts/nodes/Relays"
import * as Resolver from "@satrail/contracts/nodes/Resolver"
import * as Signer from "@satrail/contracts/nodes/Signer"
import { LightningBooks as Books } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver as Receiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender as Sender } from "@satrail/core/nodes/LightningSender"
import { eventually } from "@satrail/contracts/Eventually"
import { Effect, Layer } from "effect"
import * as FixedRates from "../src/FixedRates.ts"
import * as Sandbox from "../src/Sandbox.ts"
import * as Peers from "./Peers.ts"
import * as RelayPeer from "./RelayPeer.ts"

const sandbox = Layer.provideMerge(
  Layer.merge(Peers.layer, Peers.names),
  Sandbox.layer({ seed: "contracts", network: "regtest" })
)

/** Uses the node of the sandbox's other operator instead of our node. */
const neighbour = Layer.effect(
  Receiver,
  Effect.map(Sandbox.Neighbour, ({ receiver }) => receiver)
).pipe(
  Layer.merge(
    Layer.effect(
      Sender,
      Effect.map(Sandbox.Neighbour, ({ sender }) => sender)
    )
  ),
  Layer.merge(
    Layer.effect(
      Books,
      Effect.map(Sandbox.Neighbour, ({ books }) => books)
    )
  ),
  Layer.provideMerge(sandbox)
)

/** Pays with a service's node instead of the external wallet. */
const paying = ({ pay, lookupPayment }: Sender["Service"]): LightningReceiver.Peer["Service"] => ({
  pay: Effect.fnUntraced(function* (paymentRequest, given) {
    const invoice = yield* Effect.fromResult(Bolt11.decode(paymentRequest))
    const before = yield* lookupPayment(invoice.paymentHash)
    if (before._tag !== "notFound") return yield* Effect.fail(before)
    yield* pay({ invoice, amount: given ?? invoice.amount ?? Msat.zero, feeLimit: Msat.fromSats(100_000) })
    // A payment to a hold invoice stays pending until the payee settles or cancels it.
    const payment = yield* eventually(lookupPayment(invoice.paymentHash), ({ _tag }) => _tag !== "pending")
    if (payment._tag !== "settled") return yield* Effect.fail(payment)
    return undefined
  })
})
const paidByOurs = Layer.merge(
  neighbour,
  Layer.provide(Layer.effect(LightningReceiver.Peer, Effect.map(Sender, paying)), sandbox)
)
const paidByANeighbours = Layer.merge(
  sandbox,
  Layer.provide(
    Layer.effect(
      LightningReceiver.Peer,
      Effect.map(Sandbox.Neighbour, ({ sender }) => paying(sender))
    ),
    sandbox
  )
)

LightningReceiver.suite("sandbox", sandbox)
LightningReceiver.suite("sandbox, a neighbor's node", neighbour)
LightningReceiver.suite("sandbox, a neighbor's node, paid by ours", paidByOurs)
LightningReceiver.suite("sandbox, paid by a neighbor's node", paidByANeighbours)
LightningSender.suite("sandbox, a neighbor's node", neighbour)
LightningSender.suite("sandbox", sandbox)
OfferIssuer.suite("sandbox", sandbox)
OfferSender.suite("sandbox", sandbox)
LightningBooks.suite("sandbox", sandbox)
LightningBooks.suite("sandbox, a neighbor's node", neighbour)
ChainSource.suite("sandbox", sandbox)
ChainWallet.suite("sandbox", sandbox)
Signer.suite("sandbox", sandbox)
Resolver.suite("sandbox", sandbox)
Dns.suite("sandbox", sandbox)
ExchangeRates.suite("fixed", FixedRates.layer())
Relays.suite("pretend", RelayPeer.layer)
