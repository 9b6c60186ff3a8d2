import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Effect, Layer, Option, Queue, Redacted, Result } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as Nwc from "../src/Nwc.ts"

// A wallet and a relay that do as they are told, in the process: for what wallets and relays do wrong.

const walletSecret = Redacted.make("31".repeat(32))
const connection = {
  walletKey: Nostr.publicKeyOf(walletSecret),
  relays: ["wss://relay.example"],
  secretKey: Redacted.make("41".repeat(32))
}
const appKey = Nostr.publicKeyOf(connection.secretKey)
const nobodys = Redacted.make("51".repeat(32))
const payeeKey = new Uint8Array(32).fill(5)

/** An invoice of somebody else's, and what proves that it was paid. */
export const invoice = (nowSeconds = 0) => {
  const preimage = Preimage.make(randomBytes(32).toString("hex"))
  const paymentHash = PaymentHash.make(createHash("sha256").update(preimage, "hex").digest("hex"))
  const draft = {
    network: "regtest" as const,
    amount: Msat.fromSats(1000),
    timestampSeconds: nowSeconds,
    expirySeconds: 86_400,
    paymentHash,
    paymentSecret: "11".repeat(32),
    description: "coffee"
  }
  const paymentRequest = Result.getOrThrow(Bolt11.encode(draft, Bolt11.signWith(payeeKey)))
  return {
    preimage,
    asked: { invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)), amount: draft.amount, feeLimit: Msat.fromSats(100) }
  }
}

export interface Said {
  readonly code?: string
  readonly result?: unknown
}
/** What the relay does with a request: `lost` is taken and never delivered, `refused` is said so, `unsaid` is delivered without a word. */
export type Relay = "delivers" | "loses" | "refuses" | "unsaid" | "away"

export const make = Effect.sync(() => {
  const requests: Array<{ readonly id: string; readonly method: string }> = []
  const listeners = new Set<Queue.Queue<Nostr.Event>>()
  const records = new Map<string, object>()
  let methods = ["get_info", "make_invoice", "lookup_invoice", "list_transactions", "pay_invoice"]

  const world = {
    /** Events that asked for a payment, in order, each as often as it was sent. */
    payments: () => requests.filter(({ method }) => method === "pay_invoice").map(({ id }) => id),
    records,
    /** What pay_invoice is answered; undefined: nothing. */
    pay: (): Said | undefined => undefined,
    make: (): Said => ({ code: "NOT_IMPLEMENTED" }),
    relay: (_method: string): Relay => "delivers",
    /** Sent beside every answer, before it. */
    beside: (_to: Nostr.Event): ReadonlyArray<Nostr.Event> => [],
    permits: (names: ReadonlyArray<string>) => {
      methods = [...names]
    },
    record: (paymentHash: string, more: object) =>
      records.set(paymentHash, { type: "outgoing", payment_hash: paymentHash, amount: 1_000_000, fees_paid: 3_000, ...more }),
    answer: (to: Nostr.Event, { code, result = null }: Said, from = walletSecret) => {
      const error = code === undefined ? null : { code, message: code }
      const sealing = { from, atSeconds: to.created_at, nonce: randomBytes(32) }
      return Option.getOrThrow(Option.fromUndefinedOr(WalletConnect.response({ result_type: "", error, result }, to, sealing)))
    },
    impostors: (to: Nostr.Event, said: Said) => world.answer(to, said, nobodys),
    /** The wallet's own answer to another request, as if it were to this one. */
    forged: (to: Nostr.Event, said: Said) => ({
      ...world.answer({ ...to, id: "00".repeat(32) }, said),
      tags: [
        ["p", appKey],
        ["e", to.id]
      ]
    }),
    garbage: (to: Nostr.Event) =>
      Nostr.signed(
        {
          kind: WalletConnect.kinds.response,
          created_at: to.created_at,
          tags: [
            ["p", appKey],
            ["e", to.id]
          ],
          content: "garbage"
        },
        walletSecret
      )
  }

  const said = (method: string, params: unknown): Said | undefined => {
    if (method === "get_info") return { result: { network: "regtest", methods } }
    if (method === "pay_invoice") return world.pay()
    if (method === "make_invoice") return world.make()
    if (method === "list_transactions") return { result: { transactions: [...records.values()] } }
    if (method !== "lookup_invoice") return { code: "NOT_IMPLEMENTED" }
    const hash = typeof params === "object" && params !== null && "payment_hash" in params ? String(params.payment_hash) : ""
    const record = records.get(hash)
    return record === undefined ? { code: "NOT_FOUND" } : { result: record }
  }
  const tell = (event: Nostr.Event) => {
    for (const listener of listeners) Queue.offerUnsafe(listener, event)
  }
  const deliver = (event: Nostr.Event) => {
    const asked = Option.getOrThrow(WalletConnect.open(event, walletSecret, WalletConnect.Request))
    const answer = said(asked.method, asked.params)
    for (const one of world.beside(event)) tell(one)
    if (answer !== undefined) tell(world.answer(event, answer))
  }
  const away = new Nostr.RelayUnreachable({ relay: "wss://relay.example", cause: new Error("away") })
  const sessions = Layer.succeed(Nostr.Sessions, {
    open: () =>
      Effect.gen(function* () {
        if (world.relay("") === "away") return yield* away
        const events = yield* Queue.unbounded<Nostr.Event>()
        yield* Effect.acquireRelease(
          Effect.sync(() => listeners.add(events)),
          () => Effect.sync(() => listeners.delete(events))
        )
        return {
          publish: Effect.fnUntraced(function* (event) {
            const { method } = Option.getOrThrow(WalletConnect.open(event, walletSecret, WalletConnect.Request))
            const does = world.relay(method)
            requests.push({ id: event.id, method })
            if (does === "delivers" || does === "unsaid") deliver(event)
            if (does === "refuses") return "refused" as const
            return does === "unsaid" || does === "away" ? yield* away : ("taken" as const)
          }),
          next: Queue.take(events)
        }
      })
  })
  const layer = Nwc.layer({ connection, tariff: { base: Msat.fromSats(10), partsPerMillion: 10_000n } }).pipe(Layer.provide(sessions))
  return Object.assign(world, { layer, tell })
})
export type World = Effect.Success<typeof make>
