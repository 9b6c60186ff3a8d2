import * as ReceiverContract from "@satrail/contracts/LightningReceiver"
import * as SenderContract from "@satrail/contracts/LightningSender"
import * as Bolt11 from "@satrail/core/Bolt11"
import * as Id from "@satrail/core/Id"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import type * as Proxy from "@satrail/regtest/Proxy"
import { Clock, Effect, Layer, Result } from "effect"
import { randomBytes } from "node:crypto"

// carol, and the wire to alice, as the other side of each contract.

/** Somebody whom nobody has a channel with: its invoices are good, and no way leads there. */
const hermit = Bolt11.signWith(new Uint8Array(32).fill(7))

const hermitInvoice = (amount: Bolt11.Bolt11["amount"] & bigint) =>
  Effect.map(Clock.currentTimeMillis, (nowMillis) =>
    Result.getOrThrow(
      Bolt11.encode(
        {
          network: "regtest",
          amount,
          timestampSeconds: Math.floor(nowMillis / 1000),
          paymentHash: Id.toHex(randomBytes(32)),
          paymentSecret: Id.toHex(randomBytes(32)),
          description: "",
          expirySeconds: 3600,
          minFinalCltvExpiry: 80
        },
        hermit
      )
    )
  )

export const receiver = Layer.effect(
  ReceiverContract.Peer,
  Effect.map(Network, ({ carol }) => ({ pay: (paymentRequest, amount) => Peer.pay(carol, paymentRequest, amount) }))
)

export const sender = ({ cut, mend }: Proxy.Proxy) =>
  Layer.effect(
    SenderContract.Peer,
    Effect.map(Network, ({ carol }) => ({
      invoice: (ask) => Peer.invoice(carol, ask),
      unreachable: hermitInvoice,
      received: (paymentHash) => Peer.received(carol, paymentHash),
      release: (paymentHash, outcome) => Peer.release(carol, paymentHash, outcome),
      cut,
      mend
    }))
  )
