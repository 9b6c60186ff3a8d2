import { Msat } from "@satrail/bitcoin"
import {
  LightningReceiver as Receiver,
  LightningSender as Sender,
  LightningWire as Wire
} from "@satrail/contracts"
import { Effect, Layer, References } from "effect"
import { layer as daemon, PaperDaemon } from "./PaperDaemon.ts"
import * as PaperNode from "./PaperNode.ts"

// The peers that the contracts require. With a real node, use a second regtest node that has a channel to it
// and can pay and be paid.

const payer = Layer.effect(
  Receiver.Peer,
  Effect.map(PaperDaemon, ({ outside }) => ({
    pay: (paymentRequest, amount) => outside.pay({ paymentRequest, amount })
  }))
)

const payee = Layer.effect(
  Sender.Peer,
  Effect.map(PaperDaemon, ({ outside, cut, mend }) => {
    const invoice = (ask: Parameters<typeof outside.destination>[0]) =>
      Effect.map(outside.destination(ask), ({ destination }) => destination)
    return {
      invoice: (ask) => invoice({ type: "lightning_invoice", ...ask }),
      unreachable: (amount) => invoice({ type: "lightning_invoice", amount, payee: "fern" }),
      received: (paymentHash) =>
        Effect.map(
          outside.payments,
          (paid) => paid.find((one) => one.paymentHash === paymentHash)?.received ?? Msat.zero
        ),
      release: (paymentHash, outcome) => outside.release({ paymentHash, outcome }),
      cut,
      mend
    }
  })
)

const node = Layer.unwrap(
  Effect.map(PaperDaemon, ({ url, macaroon }) =>
    Layer.merge(PaperNode.layerReceiver({ url, macaroon }), PaperNode.layerSender({ url, macaroon }))
  )
)

// The contracts cut the connection on purpose, so don't log outages.
const quiet = Layer.succeed(References.MinimumLogLevel, "Error")

/** The backend, connected to a running node, and the peers of both contracts. */
export const layer = Layer.mergeAll(node, payer, payee).pipe(Layer.provide(daemon), Layer.merge(quiet))

/** The node, and a backend for any address, so that tests can replace the node's responses. */
export const layerWire = Layer.effect(
  Wire.Target,
  Effect.map(PaperDaemon, ({ url, macaroon }) => ({
    url,
    adapter: (url, deadlineMillis) =>
      Layer.merge(
        PaperNode.layerReceiver({ url, macaroon, deadlineMillis }),
        PaperNode.layerSender({ url, macaroon, deadlineMillis })
      )
  }))
).pipe(
  Layer.merge(payee),
  Layer.provide(daemon),
  Layer.merge(Layer.succeed(References.MinimumLogLevel, "None"))
)
