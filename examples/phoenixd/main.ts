// phoenixd as a backend (Phoenixd.ts), with a simulated phoenixd (PhoenixDaemon.ts). Creates and pays an invoice, sends a payment, and prints which features
// the node lacks. test/contract.test.ts runs the contract tests. Run it: npm run example -- phoenixd
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Bolt11, Msat } from "@satrail/bitcoin"
import { LightningReceiver as Receiving, LightningSender as Sending } from "@satrail/contracts"
import { LightningReceiver, LightningSender } from "@satrail/core/ports"
import { Console, Effect } from "effect"
import assert from "node:assert/strict"
import * as Peers from "./Peers.ts"

const program = Effect.gen(function* () {
  const [receiver, sender] = [
    yield* LightningReceiver.LightningReceiver,
    yield* LightningSender.LightningSender
  ]
  const [payer, payees] = [yield* Receiving.Peer, yield* Sending.Peer]
  yield* Console.log(`lacks      ${[...(receiver.lacks ?? []), ...(sender.lacks ?? [])].join(", ")}`)

  const description = { _tag: "Text", text: "coffee" } as const
  const { paymentHash, paymentRequest } = yield* receiver.createInvoice({
    id: "order-1",
    amount: Msat.fromSats(5_000),
    description,
    expirySeconds: 600
  })
  yield* payer.pay(paymentRequest)
  const state = yield* receiver.lookupInvoice(paymentHash)
  assert.equal(state._tag, "settled")
  yield* Console.log(`received   5000 sats: ${state._tag}`)

  const amount = Msat.fromSats(10_000)
  const invoice = yield* Effect.fromResult(
    Bolt11.decode(yield* payees.invoice({ amount, behaviour: "settle" }))
  )
  const dear = yield* sender.pay({ invoice, amount, feeLimit: Msat.fromSats(43) })
  assert.equal(dear._tag, "failed")
  yield* Console.log("refused    the node's fee is 44 sats, and the limit was 43")
  const payment = yield* sender.pay({ invoice, amount, feeLimit: Msat.fromSats(44) })
  assert.equal(payment._tag, "settled")
  yield* Console.log(`sent       10000 sats: ${payment._tag}`)
})

NodeRuntime.runMain(Effect.provide(program, Peers.layer))
