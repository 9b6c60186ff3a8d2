import * as ReceiverContract from "@satrail/contracts/nodes/LightningReceiver"
import * as SenderContract from "@satrail/contracts/nodes/LightningSender"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import type * as Proxy from "@satrail/regtest/Proxy"
import { Effect, Layer } from "effect"

// The peer of each contract: carol, and the proxy in front of alice.

export const receiver = Layer.effect(
  ReceiverContract.Peer,
  Effect.map(Network, ({ carol }) => ({
    pay: (paymentRequest, amount) => Peer.pay(carol, paymentRequest, amount)
  }))
)

export const sender = ({ cut, mend }: Pick<Proxy.Proxy, "cut" | "mend">) =>
  Layer.effect(
    SenderContract.Peer,
    Effect.map(Network, ({ carol }) => ({
      invoice: (ask) => Peer.invoice(carol, ask),
      unreachable: Peer.unreachable,
      received: (paymentHash) => Peer.received(carol, paymentHash),
      release: (paymentHash, outcome) => Peer.release(carol, paymentHash, outcome),
      cut,
      mend
    }))
  )
