import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import { type Effect as E, Effect, HashMap, HashSet, type Layer, Result } from "effect"
import * as Sandbox from "../src/Sandbox.ts"
import type * as World from "../src/World.ts"

export type Ports = Layer.Success<ReturnType<typeof Sandbox.layer>>
type Step = E.Effect<unknown, unknown, Ports>

const sats = Msat.fromSats
const text = { _tag: "Text", text: "story" } as const

/**
 * Creates our node's invoice with this number. Repeating the call returns the same invoice, because the id is
 * the same.
 */
const invoice = (number: number) =>
  Effect.flatMap(LightningReceiver, ({ createInvoice }) =>
    createInvoice({
      id: `story ${number}`,
      amount: sats(1000 + number),
      description: text,
      expirySeconds: 3600
    })
  )

const payIn = (number: number, hold = false) =>
  Effect.gen(function* () {
    const { paymentRequest } = yield* invoice(number)
    yield* (yield* Sandbox.Sandbox).pay({ paymentRequest, hold })
  })

const payOut = (behaviour: Sandbox.Behaviour) =>
  Effect.gen(function* () {
    const { destination } = yield* (yield* Sandbox.Sandbox).destination({
      type: "lightning_invoice",
      behaviour
    })
    return yield* payTo(destination, 5_000)
  })

const payTo = (paymentRequest: string, amount: number) =>
  Effect.gen(function* () {
    const decoded = Result.getOrThrow(Bolt11.decode(paymentRequest))
    yield* (yield* LightningSender).pay({ invoice: decoded, amount: sats(amount), feeLimit: sats(500) })
    return decoded.paymentHash
  })

/** Releases every held payment. */
const releaseAll = (outcome: "settle" | "fail") =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox.Sandbox
    const { lightning } = yield* sandbox.state
    const out = HashMap.toValues(lightning.sent).filter(({ stage }) => stage._tag === "pending")
    const held = HashMap.toValues(lightning.invoices).filter(({ stage }) => stage._tag === "accepted")
    const hashes = [...out, ...held].map(({ paymentHash }) => paymentHash).toSorted()
    yield* Effect.forEach(hashes, (paymentHash) => sandbox.release({ paymentHash, outcome }))
  })

const deposit = (type: BitcoinAddress.AddressType) =>
  Effect.gen(function* () {
    const { address } = yield* (yield* ChainWallet).newAddress(type)
    return yield* (yield* Sandbox.Sandbox).send({ address, amount: sats(70_000) })
  })

const payout = (kind: BitcoinAddress.Kind) =>
  Effect.gen(function* () {
    const [wallet, signer, chain, sandbox] = [
      yield* ChainWallet,
      yield* Signer,
      yield* ChainSource,
      yield* Sandbox.Sandbox
    ]
    const { destination } = yield* sandbox.destination({ type: "chain_address", kind })
    const { scriptPubKey } = Result.getOrThrow(BitcoinAddress.decode(destination, wallet.network))
    const free = (outpoints: ReadonlyArray<string>) => Effect.succeed(new Set(outpoints))
    const { psbt } = yield* wallet.build({
      payments: [{ scriptPubKey, amount: sats(30_000), feeLimit: sats(2_000) }],
      feeRate: 3,
      free
    })
    const { txId, rawTx } = yield* signer.sign(psbt)
    yield* chain.broadcast(rawTx)
    return txId
  })

const control = <A, Err>(use: (sandbox: Sandbox.Sandbox["Service"]) => E.Effect<A, Err>) =>
  Effect.flatMap(Sandbox.Sandbox, use)

/**
 * One step for each kind of event. Each step consists of complete commands, so that a sandbox can be stopped
 * between any two steps.
 */
export const steps: ReadonlyArray<Step> = [
  invoice(1),
  payIn(1),
  payIn(2),
  payIn(3, true),
  invoice(4),
  Effect.flatMap(invoice(4), ({ paymentHash }) =>
    Effect.flatMap(LightningReceiver, ({ cancelInvoice }) => cancelInvoice(paymentHash))
  ),
  payOut("settle"),
  payOut("fail"),
  payOut("hold"),
  payOut("unknown_then_settle"),
  payOut("unknown_then_fail"),
  payOut("no_route"),
  releaseAll("settle"),
  payOut("hold"),
  releaseAll("fail"),
  control(({ loseNextNotice }) => loseNextNotice),
  payIn(5),
  payIn(6),
  deposit("taproot"),
  control(({ mine }) => mine(2)),
  deposit("segwit"),
  deposit("nested_segwit"),
  control(({ mine }) => mine(1)),
  control(({ reorg }) => reorg(2)),
  control(({ mine }) => mine(1)),
  payout("p2wpkh"),
  payout("p2tr"),
  control(({ mine }) => mine(1)),
  payout("p2pkh"),
  control(({ reorg }) => reorg(1)),
  Effect.flatMap(deposit("taproot"), (txId) => control(({ doubleSpend }) => doubleSpend(txId))),
  control(({ mine }) => mine(3)),
  Effect.gen(function* () {
    const { offer, invoice } = yield* Resolver
    yield* (yield* Sandbox.Sandbox).destination({ type: "lnurl", amount: sats(700) })
    yield* (yield* Sandbox.Sandbox).destination({ type: "lightning_address", behaviour: "hold" })
    const { paymentRequest } = yield* invoice(
      yield* offer("https://wallet.example/.well-known/lnurlp/settle"),
      sats(900)
    )
    yield* payTo(paymentRequest, 900)
  })
]

/** Returns the state in a comparable form, because hash maps with the same entries may differ in order. */
export const snapshot = (state: World.State): unknown => plain(state)

const plain = (value: unknown): unknown => {
  if (HashMap.isHashMap(value)) {
    return HashMap.toEntries(value)
      .map(([key, one]) => [key, plain(one)] as const)
      .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
  }
  if (HashSet.isHashSet(value)) return [...value].toSorted()
  if (Array.isArray(value)) return value.map(plain)
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
    : value
}

export const state = Effect.map(
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  snapshot
)
