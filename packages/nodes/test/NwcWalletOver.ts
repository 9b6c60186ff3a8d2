import { NWCWalletService, NWCWalletServiceKeyPair } from "@getalby/sdk/nwc"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Outbound from "@satrail/web/Outbound"
import * as WebSocketSessions from "@satrail/web/WebSocketSessions"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Clock, Effect, Layer, Redacted, Result, Stream } from "effect"
import { createServer, connect as dial, type Socket } from "node:net"
import { once } from "node:events"
import * as LocalRelay from "../../web/test/LocalRelay.ts"
import * as Nwc from "../src/Nwc.ts"

// A wallet behind the SDK that wallets are built with, over whatever node there is, at a relay on this machine: what our adapter speaks to is not ours.

const walletSecret = Redacted.make("31".repeat(32))
const appSecret = Redacted.make("41".repeat(32))
/** What the wallet's owner gives to a service. */
export const connection = { walletKey: Nostr.publicKeyOf(walletSecret), relays: ["wss://relay.example"], secretKey: appSecret }

/** TCP to a port, to be cut and mended. */
const wireTo = Effect.fnUntraced(function* (port: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = dial(port, "127.0.0.1")
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket
        .on("error", () => undefined)
        .once("close", () => {
          sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
    }
    near.pipe(far).pipe(near)
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: Effect.sync(() => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    }),
    mend: Effect.sync(() => {
      isCut = false
    })
  }
})

interface Incoming {
  readonly invoice: string
  readonly atSeconds: number
  settledAt?: number
}
interface Outgoing {
  readonly invoice: string
  readonly amount: Msat.Msat
  readonly atSeconds: number
}

const error = (code: string, message = code) => ({ result: undefined, error: { code, message } })

/** The wallet: the node that it is given does what apps ask for, for as long as the scope is open. */
export const wallet = Effect.fnUntraced(function* (relay: LocalRelay.LocalRelay) {
  const [receiver, sender] = [yield* LightningReceiver, yield* LightningSender]
  const incoming = new Map<PaymentHash.PaymentHash, Incoming>()
  const outgoing = new Map<PaymentHash.PaymentHash, Outgoing>()
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const seconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))
  const appKey = Nostr.publicKeyOf(appSecret)

  const base = { description: "", description_hash: "", expires_at: 0, preimage: "", fees_paid: 0, settled_at: 0, metadata: {} }
  const shownIn = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash, { invoice, atSeconds, settledAt }: Incoming) {
    const state = yield* receiver.lookupInvoice(paymentHash)
    const shown = { ...base, type: "incoming" as const, invoice, payment_hash: paymentHash, created_at: atSeconds }
    if (state._tag !== "settled") return { ...shown, state: "pending" as const, amount: 0 }
    return {
      ...shown,
      state: "settled" as const,
      amount: Number(state.received),
      preimage: state.preimage,
      settled_at: settledAt ?? (yield* seconds)
    }
  })
  const shownOut = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash, { invoice, amount, atSeconds }: Outgoing) {
    const payment = yield* sender.lookupPayment(paymentHash)
    const shown = { ...base, type: "outgoing" as const, invoice, payment_hash: paymentHash, amount: Number(amount), created_at: atSeconds }
    switch (payment._tag) {
      case "settled":
        return {
          ...shown,
          state: "settled" as const,
          preimage: payment.preimage,
          fees_paid: Number(payment.fee),
          settled_at: yield* seconds
        }
      case "failed":
        return { ...shown, state: "failed" as const }
      default:
        return { ...shown, state: "pending" as const }
    }
  })

  const makeInvoice = Effect.fnUntraced(function* (asked: {
    amount: number
    description?: string
    description_hash?: string
    expiry?: number
  }) {
    const description =
      asked.description_hash === undefined
        ? ({ _tag: "Text", text: asked.description ?? "" } as const)
        : ({ _tag: "Hash", sha256: asked.description_hash } as const)
    const { paymentHash, paymentRequest } = yield* receiver.createInvoice({
      id: crypto.randomUUID(),
      amount: Msat.make(BigInt(asked.amount)),
      description,
      expirySeconds: asked.expiry ?? 3600
    })
    const one = { invoice: paymentRequest, atSeconds: yield* seconds }
    incoming.set(paymentHash, one)
    return { result: { ...(yield* shownIn(paymentHash, one)), amount: asked.amount }, error: undefined }
  })

  const payInvoice = Effect.fnUntraced(function* (asked: { invoice: string; amount?: number }) {
    const invoice = Result.getOrThrow(Bolt11.decode(asked.invoice))
    const { paymentHash } = invoice
    if (outgoing.has(paymentHash)) return error("OTHER", "this invoice is being paid, or has been")
    const amount = invoice.amount ?? Msat.make(BigInt(asked.amount ?? 0))
    const one = { invoice: asked.invoice, amount, atSeconds: yield* seconds }
    outgoing.set(paymentHash, one)
    yield* sender.pay({ invoice, amount, feeLimit: Msat.fromSats(100_000) })
    // The answer comes with the end of the payment.
    let shown = yield* shownOut(paymentHash, one)
    while (shown.state === "pending") {
      yield* Effect.sleep(20)
      shown = yield* shownOut(paymentHash, one)
    }
    return shown.state === "failed"
      ? error("PAYMENT_FAILED")
      : { result: { preimage: shown.preimage, fees_paid: shown.fees_paid }, error: undefined }
  })

  const lookUp = Effect.fnUntraced(function* (text: string | undefined) {
    const paymentHash = PaymentHash.make(text ?? "")
    const [came, went] = [incoming.get(paymentHash), outgoing.get(paymentHash)]
    if (came !== undefined) return { result: yield* shownIn(paymentHash, came), error: undefined }
    if (went !== undefined) return { result: yield* shownOut(paymentHash, went), error: undefined }
    return error("NOT_FOUND")
  })

  const list = Effect.fnUntraced(function* ({ limit = 10, offset = 0 }: { limit?: number; offset?: number }) {
    const settled = [...incoming].filter(([, { settledAt }]) => settledAt !== undefined).toReversed()
    const transactions = yield* Effect.forEach(settled.slice(offset, offset + limit), ([hash, one]) => shownIn(hash, one))
    return { result: { transactions, total_count: settled.length }, error: undefined }
  })

  // As money arrives it is dated, and the app is told.
  yield* Effect.forkScoped(
    Stream.runForEach(receiver.settlements(null), ({ paymentHash }) =>
      Effect.gen(function* () {
        const one = incoming.get(paymentHash)
        if (one === undefined) return
        one.settledAt = yield* seconds
        const content = { notification_type: "payment_received", notification: yield* shownIn(paymentHash, one) }
        const sealing = { from: walletSecret, to: appKey, atSeconds: one.settledAt, nonce: crypto.getRandomValues(new Uint8Array(32)) }
        const event = WalletConnect.notification(content, sealing)
        if (event !== undefined) relay.send(event)
      })
    )
  )

  const service = new NWCWalletService({ relayUrls: [`ws://127.0.0.1:${relay.port}`] })
  const methods = ["get_info", "make_invoice", "pay_invoice", "lookup_invoice", "list_transactions"] as const
  const info = { alias: "wallet", color: "", pubkey: "", network: "regtest", block_height: 0, block_hash: "" }
  yield* Effect.acquireRelease(
    Effect.promise(() =>
      service.subscribe(new NWCWalletServiceKeyPair(Redacted.value(walletSecret), appKey), {
        getInfo: async () => ({ result: { ...info, methods: [...methods], notifications: ["payment_received"] }, error: undefined }),
        makeInvoice: (asked) => run(makeInvoice(asked)),
        payInvoice: (asked) => run(payInvoice(asked)),
        lookupInvoice: (asked) => run(lookUp(asked.payment_hash)),
        listTransactions: (asked) => run(list(asked))
      })
    ),
    (end) =>
      Effect.sync(() => {
        end()
        service.close()
      })
  )
})

/** Our adapter at that wallet, over the guarded way out, and the wire in between. */
export const make = Effect.gen(function* () {
  const relay = yield* LocalRelay.make
  const wire = yield* wireTo(relay.port)
  yield* wallet(relay)
  const allow = new Map([["relay.example", new URL(`http://127.0.0.1:${wire.port}`)]])
  const layer = Nwc.layer({ connection, tariff: { base: Msat.fromSats(10), partsPerMillion: 10_000n } }).pipe(
    Layer.provide(WebSocketSessions.layer),
    Layer.provide(Outbound.layer({ allow }))
  )
  return { layer, relay, wire }
})
