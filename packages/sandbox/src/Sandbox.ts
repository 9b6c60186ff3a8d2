import type { Kind } from "@satrail/bitcoin/BitcoinAddress"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import type * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import type { Names } from "@satrail/core/base/Names"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import { ChainSource, type Output, type Tip } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import type { RecipientType } from "@satrail/core/sending/Destination"
import { Context, Effect, HashMap, Layer, Option, Result } from "effect"
import * as Books from "./Books.ts"
import { type Behaviour, isOfServer } from "./Event.ts"
import * as Lightning from "./Lightning.ts"
import type { LogUnusable } from "./Log.ts"
import * as Miner from "./Miner.ts"
import * as Issuer from "./Issuer.ts"
import * as Offers from "./Offers.ts"
import * as PretendNetwork from "./Network.ts"
import * as Payee from "./Payee.ts"
import * as Payer from "./Payer.ts"
import * as PretendNames from "./PretendNames.ts"
import * as Receiver from "./Receiver.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"
import * as PretendResolver from "./Resolver.ts"
import * as Sender from "./Sender.ts"
import * as Source from "./Source.ts"
import * as Survey from "./Survey.ts"
import * as Wallet from "./Wallet.ts"
import * as Web from "./Web.ts"
import * as World from "./World.ts"

export { Behaviour } from "./Event.ts"
export { LogUnusable } from "./Log.ts"
export type { Payment } from "./Miner.ts"
export { SandboxRefused } from "./Refused.ts"
export type { Part } from "./World.ts"

/** An outside recipient to make up. */
export interface DestinationAsk {
  readonly type: RecipientType
  /** What an invoice or, at least, an offer asks for, or the only amount that an address or LNURL takes. Absent: the payer decides. */
  readonly amount?: Msat.Msat | undefined
  /** What an address or LNURL takes instead of one amount; 1 sat to 1 BTC when absent. */
  readonly takes?: Web.Range | undefined
  /** What the recipient does with payments; `settle` when absent. Invoices given later by an address or LNURL behave so too. */
  readonly behaviour?: Behaviour | undefined
  /** Who is paid: `alder birch cedar dogwood`, `elm` behind a channel of 200 000 sats, `fern` without any. */
  readonly payee?: string | undefined
  /** Of an invoice, or an offer; an hour when absent, for an offer without end. */
  readonly expirySeconds?: number | undefined
  /** Of an invoice: for how many blocks its payee may hold the payment; 18 when absent. */
  readonly minFinalCltvExpiry?: number | undefined
  /** Of a chain address; P2WPKH when absent. */
  readonly kind?: Kind | undefined
}

/** `paymentHash` only for an invoice. */
export interface Destination {
  readonly destination: string
  readonly paymentHash?: PaymentHash.PaymentHash
}

/** The amount that an outside invoice really brought to its issuer. */
export interface Received {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly times: number
  readonly received: Msat.Msat
}

/** The other side of the wire: everybody who is not us, and the weather. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /** The outside wallet pays an invoice, ours or a payee's. With `hold` it is `accepted` at our node until `release`. */
    readonly pay: (ask: Payer.Ask) => Effect.Effect<Payer.Paid, SandboxRefused>
    /** A new recipient. */
    readonly destination: (ask: DestinationAsk) => Effect.Effect<Destination, SandboxRefused>
    /** Ends a held payment, in or out. */
    readonly release: (ask: {
      readonly paymentHash: PaymentHash.PaymentHash
      readonly outcome: "settle" | "fail"
    }) => Effect.Effect<void, SandboxRefused>
    /** The outside wallet pays on the chain. Answers the id of the transaction, which waits in the mempool. */
    readonly send: (payment: Miner.Payment) => Effect.Effect<TxId.TxId, SandboxRefused>
    /** The same with several outputs in one transaction. */
    readonly sendMany: (payments: ReadonlyArray<Miner.Payment>) => Effect.Effect<TxId.TxId, SandboxRefused>
    /** Mines so many blocks, the mempool in the first. */
    readonly mine: (blocks: number) => Effect.Effect<Tip, SandboxRefused>
    /**
     * Replaces the last `depth` blocks by `depth + 1` empty ones. What was in them waits in the mempool for the next `mine`; their
     * coinbases are gone, and what was built on those.
     */
    readonly reorg: (depth: number) => Effect.Effect<Tip, SandboxRefused>
    /** What a transaction has to pay from now on to be mined soon, in satoshis for a virtual byte: what the chain's fee rate says. */
    readonly setFeeRate: (feeRate: number) => Effect.Effect<void, SandboxRefused>
    /** Replaces a transaction that is not mined by one that spends the same, and answers the new one's id. */
    readonly doubleSpend: (txId: TxId.TxId) => Effect.Effect<TxId.TxId, SandboxRefused>
    /** The next invoice of ours that settles is not notified in `settlements`: only a look-up finds it. One of an offer always is: nothing else would tell of it. */
    readonly loseNextNotice: Effect.Effect<void>
    /**
     * While something is paused it does not answer: reads fail, `pay` and `broadcast` are `unknown` and did not arrive. While the `index` is, the chain
     * reports its blocks and its mempool, and cannot look up a transaction in a block.
     */
    readonly pause: (part: World.Part) => Effect.Effect<void>
    readonly resume: (part: World.Part) => Effect.Effect<void>
    /** Outside invoices that were paid, and how often. */
    readonly payments: Effect.Effect<ReadonlyArray<Received>>
    /** Every output that anybody ever paid to an address, as it stands now. */
    readonly outputsTo: (scriptPubKey: string) => Effect.Effect<ReadonlyArray<Output>>
    /** What our node owns in its channels. */
    readonly localBalance: Effect.Effect<Msat.Msat>
    /** What is simulated, and in which state. */
    readonly survey: Effect.Effect<Survey.Survey>
    /** Everything, as it is. Two sandboxes with the same seed, commands and clock have the same. */
    readonly state: Effect.Effect<World.State>
  }
>()("@satrail/sandbox/Sandbox") {}

/** The node of another service like ours, with a channel of its own: in the same network, each pays what the other issued. */
export class Neighbour extends Context.Service<
  Neighbour,
  {
    readonly receiver: LightningReceiver["Service"]
    readonly sender: LightningSender["Service"]
    readonly books: LightningBooks["Service"]
    /** What it owns in its channel. */
    readonly localBalance: Effect.Effect<Msat.Msat>
  }
>()("@satrail/sandbox/Sandbox/Neighbour") {}

/** The shortest and the longest life of an outside invoice, and its final expiry in blocks. */
export const expiryBounds = [1, 365 * 24 * 3600] as const
export const finalCltvBounds = [1, 100_000] as const

const destination = (world: World.World, ask: DestinationAsk) => {
  const { behaviour = "settle", amount, takes = Web.rangeOf(amount), payee = null, expirySeconds = 3600, kind = "p2wpkh" } = ask
  return (state: World.State, nowMillis: number): Result.Result<World.Decision<Destination>, SandboxRefused> => {
    if ((amount !== undefined && amount <= 0n) || takes.min <= 0n || takes.max < takes.min)
      return refuse("amount_invalid", "The amount must be positive")
    if (payee !== null && !PretendNetwork.allPayees.includes(payee))
      return refuse("payee_unknown", `The payees are ${PretendNetwork.allPayees.join(", ")}`)
    const [least, most] = expiryBounds
    if (!Number.isInteger(expirySeconds) || expirySeconds < least || expirySeconds > most)
      return refuse("out_of_range", `An invoice lives ${least} to ${most} seconds`)
    const { minFinalCltvExpiry } = ask
    const [fewest, longest] = finalCltvBounds
    if (minFinalCltvExpiry !== undefined && !(minFinalCltvExpiry >= fewest && minFinalCltvExpiry <= longest))
      return refuse("out_of_range", `A payee may hold a payment for ${fewest} to ${longest} blocks`)
    const isServer = ask.type === "lightning_address" || ask.type === "lnurl"
    // The issuer of an offer is asked as a server is, and may refuse or not answer.
    if (isOfServer(behaviour) && !isServer && (ask.type !== "bolt12_offer" || behaviour === "same_invoice"))
      return refuse("out_of_range", `${behaviour} is what a server does: it needs a lightning_address or an lnurl`)
    const label = `${behaviour.replaceAll("_", "-")}-${state.web.count}`
    switch (ask.type) {
      case "lightning_invoice": {
        const invoiced = Payee.invoiced(world, state.lightning, {
          amount,
          behaviour,
          payee,
          expirySeconds,
          minFinalCltvExpiry,
          nowMillis,
          description: { _tag: "Text", text: `Sandbox ${behaviour}` }
        })
        return Result.succeed({
          events: [invoiced],
          answer: () => ({ destination: invoiced.paymentRequest, paymentHash: invoiced.paymentHash })
        })
      }
      case "bolt12_offer": {
        const { expirySeconds: seconds } = ask
        const published = Offers.published(world, state.lightning, { amount, behaviour, payee, seconds, nowMillis })
        return Result.succeed({ events: [published], answer: () => ({ destination: published.offer }) })
      }
      case "lightning_address":
        return Result.succeed({
          events: [Web.lightningAddress(label, { behaviour, payee, takes })],
          answer: () => ({ destination: `${label}@${Web.domain}` })
        })
      case "lnurl": {
        const page = Web.page(label, { behaviour, payee, takes })
        return Result.succeed({ events: [page], answer: () => ({ destination: Lnurl.encode(page.url) }) })
      }
      case "chain_address":
        return Result.map(Miner.outsideAddress(world, kind)(state), ({ events, answer }) => ({
          events,
          answer: (after) => ({ destination: answer(after) })
        }))
    }
  }
}

const localBalance = (world: World.World, node: string) =>
  Effect.sync(() => PretendNetwork.funds(Lightning.balances(world.state().lightning), node))

const neighbour = (world: World.World): Neighbour["Service"] =>
  Neighbour.of({
    receiver: Receiver.make(world, PretendNetwork.neighbour),
    sender: Sender.make(world, PretendNetwork.neighbour),
    books: Books.lightning(world, PretendNetwork.neighbour),
    localBalance: localBalance(world, PretendNetwork.neighbour)
  })

const control = (world: World.World, maxEvents: number): Sandbox["Service"] => {
  /** Makes something happen outside, for as long as there is room to remember it. */
  const play = <A>(decide: (state: World.State, nowMillis: number) => Result.Result<World.Decision<A>, SandboxRefused>) =>
    Effect.suspend(() =>
      world.eventCount() < maxEvents
        ? world.commit(decide)
        : Effect.fromResult(refuse("full", `The sandbox is full: it keeps ${maxEvents} events. Begin another, with an empty database`))
    )
  const read = <A>(select: (state: World.State) => A) => Effect.sync(() => select(world.state()))
  return Sandbox.of({
    pay: (ask) => play(Payer.pay(world, ask)),
    destination: (ask) => play(destination(world, ask)),
    release: ({ paymentHash, outcome }) => world.commit(Payer.release(paymentHash, outcome)),
    send: (payment) => play(Miner.send(world, [payment])),
    sendMany: (payments) => play(Miner.send(world, payments)),
    mine: (blocks) => play(Miner.mine(blocks)),
    reorg: (depth) => play(Miner.reorg(depth)),
    setFeeRate: (feeRate) => play(Miner.setFeeRate(feeRate)),
    doubleSpend: (txId) => play(Miner.doubleSpend(world, txId)),
    loseNextNotice: world.commit(() => World.decided([{ _tag: "NoticeLossOrdered" }], () => undefined)),
    pause: (part) => world.setPaused(part, true),
    resume: (part) => world.setPaused(part, false),
    payments: read(({ lightning }) =>
      HashMap.toValues(lightning.payeeInvoices)
        .filter(({ times }) => times > 0)
        .map(({ paymentHash, times, received }) => ({ paymentHash, times, received }))
    ),
    outputsTo: (scriptPubKey) =>
      read(({ chain }) =>
        Option.getOrElse(HashMap.get(chain.paid, scriptPubKey), (): ReadonlyArray<string> => []).flatMap(
          (outpoint) => Source.outputOf(chain, outpoint) ?? []
        )
      ),
    localBalance: localBalance(world, PretendNetwork.us),
    survey: Effect.sync(() => Survey.of(world)),
    state: read((state) => state)
  })
}

/** Which sandbox. */
export interface Options {
  /** Every key, balance and name follows from it. Outside invoices also follow from the time of the start, unless there is a `directory`. */
  readonly seed: string
  readonly network: Network
  /** Where it is kept. Absent: it ends with the layer. */
  readonly directory?: string | undefined
  /** After so many events, each of which is kept, nothing more is made to happen outside; `maxEvents` when absent. */
  readonly maxEvents?: number | undefined
}

/** Room for some 150 000 payments, about 300 MB. */
export const maxEvents = 500_000

/** A pretend Lightning network, chain, web and domain name system, and the controls of everybody in it but us. */
export const layer = (
  options: Options
): Layer.Layer<
  | LightningReceiver
  | LightningSender
  | OfferSender
  | OfferIssuer
  | LightningBooks
  | ChainBooks
  | ChainSource
  | ChainWallet
  | Signer
  | Resolver
  | Sandbox
  | Neighbour
  | Names
  | PretendNames.PretendNames,
  LogUnusable
> => Layer.merge(PretendNames.layer, network(options))

const network = (options: Options) =>
  Layer.effectContext(
    Effect.map(World.make(options), (world) =>
      Context.make(Sandbox, control(world, options.maxEvents ?? maxEvents)).pipe(
        Context.add(Neighbour, neighbour(world)),
        Context.add(LightningReceiver, Receiver.make(world)),
        Context.add(LightningSender, Sender.make(world)),
        Context.add(OfferSender, Offers.make(world)),
        Context.add(OfferIssuer, Issuer.make(world)),
        Context.add(LightningBooks, Books.lightning(world)),
        Context.add(ChainBooks, Books.chain(world)),
        Context.add(ChainSource, Source.make(world)),
        Context.add(ChainWallet, Wallet.make(world)),
        Context.add(Signer, Wallet.signer(world)),
        Context.add(Resolver, PretendResolver.make(world))
      )
    )
  )
