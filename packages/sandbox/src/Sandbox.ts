import type { Kind } from "@satrail/bitcoin/BitcoinAddress"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import type * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import type { Dns } from "@satrail/core/base/Dns"
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
import * as SimulatedNetwork from "./Network.ts"
import * as Payee from "./Payee.ts"
import * as Payer from "./Payer.ts"
import * as SimulatedDns from "./SimulatedDns.ts"
import * as Receiver from "./Receiver.ts"
import { refuse, type SandboxRefused } from "./Refused.ts"
import * as SimulatedResolver from "./Resolver.ts"
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

/** An external payee to create. */
export interface DestinationAsk {
  readonly type: RecipientType
  /**
   * The amount of an invoice, the minimum of an offer, or the only amount that an address or LNURL accepts. If
   * absent, the payer chooses the amount.
   */
  readonly amount?: Msat.Msat | undefined
  /** The range that an address or LNURL accepts. Defaults to 1 sat to 1 BTC. */
  readonly takes?: Web.Range | undefined
  /**
   * How the payee handles payments. Defaults to `settle`. Also applies to later invoices from an address or
   * LNURL.
   */
  readonly behaviour?: Behaviour | undefined
  /**
   * The payee: `alder`, `birch`, `cedar` or `dogwood`; `elm`, behind a channel of 200 000 sats; or `fern`,
   * without a channel.
   */
  readonly payee?: string | undefined
  /** Lifetime of an invoice (default: an hour) or an offer (default: unlimited). */
  readonly expirySeconds?: number | undefined
  /** Number of blocks for which an invoice's payee may hold the payment. Defaults to 18. */
  readonly minFinalCltvExpiry?: number | undefined
  /** Kind of a chain address. Defaults to P2WPKH. */
  readonly kind?: Kind | undefined
}

/** `paymentHash` is set only for an invoice. */
export interface Destination {
  readonly destination: string
  readonly paymentHash?: PaymentHash.PaymentHash
}

/** The amount that the issuer of an external invoice actually received. */
export interface Received {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly times: number
  readonly received: Msat.Msat
}

/** Controls of all external parties and of faults. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /**
     * Has the external wallet pay an invoice, ours or a payee's. With `hold`, the payment is `accepted` at our
     * node until `release`.
     */
    readonly pay: (ask: Payer.Ask) => Effect.Effect<Payer.Paid, SandboxRefused>
    /** Creates a payee. */
    readonly destination: (ask: DestinationAsk) => Effect.Effect<Destination, SandboxRefused>
    /** Ends a held payment in either direction. */
    readonly release: (ask: {
      readonly paymentHash: PaymentHash.PaymentHash
      readonly outcome: "settle" | "fail"
    }) => Effect.Effect<void, SandboxRefused>
    /**
     * Has the external wallet pay on-chain. Returns the id of the transaction, which stays in the mempool.
     */
    readonly send: (payment: Miner.Payment) => Effect.Effect<TxId.TxId, SandboxRefused>
    /** Pays several outputs in one transaction. */
    readonly sendMany: (payments: ReadonlyArray<Miner.Payment>) => Effect.Effect<TxId.TxId, SandboxRefused>
    /** Mines this number of blocks. The first includes the mempool. */
    readonly mine: (blocks: number) => Effect.Effect<Tip, SandboxRefused>
    /**
     * Replaces the last `depth` blocks with `depth + 1` empty ones. The replaced blocks' transactions wait in
     * the mempool for the next `mine`. Their coinbases, and all descendants of the coinbases, are gone.
     */
    readonly reorg: (depth: number) => Effect.Effect<Tip, SandboxRefused>
    /**
     * Sets the fee rate that the chain estimates for fast confirmation, in satoshis per virtual byte.
     */
    readonly setFeeRate: (feeRate: number) => Effect.Effect<void, SandboxRefused>
    /** Replaces an unconfirmed transaction with one that spends the same coins. Returns the new id. */
    readonly doubleSpend: (txId: TxId.TxId) => Effect.Effect<TxId.TxId, SandboxRefused>
    /**
     * Omits the next settlement of our invoices from `settlements`, so that only a lookup finds it. Payments of
     * offers are always reported, because nothing else reveals them.
     */
    readonly loseNextNotice: Effect.Effect<void>
    /**
     * Pauses a part, which then doesn't respond. Reads fail, and calls to `pay` and `broadcast` return
     * `unknown` and never arrive. While `index` is paused, the chain reports its blocks and its mempool but
     * cannot look up a confirmed transaction.
     */
    readonly pause: (part: World.Part) => Effect.Effect<void>
    readonly resume: (part: World.Part) => Effect.Effect<void>
    /** The paid external invoices, and how often each was paid. */
    readonly payments: Effect.Effect<ReadonlyArray<Received>>
    /** All outputs ever paid to an address, in their current state. */
    readonly outputsTo: (scriptPubKey: string) => Effect.Effect<ReadonlyArray<Output>>
    /** Our node's balance in its channels. */
    readonly localBalance: Effect.Effect<Msat.Msat>
    /** An overview of the simulated parts. */
    readonly survey: Effect.Effect<Survey.Survey>
    /** The complete state. Two sandboxes with the same seed, commands and clock have equal states. */
    readonly state: Effect.Effect<World.State>
  }
>()("@satrail/sandbox/Sandbox") {}

/**
 * The node of another service like ours, with its own channel. Both are in the same network and can pay each
 * other's invoices.
 */
export class Neighbour extends Context.Service<
  Neighbour,
  {
    readonly receiver: LightningReceiver["Service"]
    readonly sender: LightningSender["Service"]
    readonly books: LightningBooks["Service"]
    /** The balance in its channel. */
    readonly localBalance: Effect.Effect<Msat.Msat>
  }
>()("@satrail/sandbox/Sandbox/Neighbour") {}

/** Bounds for an external invoice's lifetime, and for its final CLTV delta in blocks. */
export const expiryBounds = [1, 365 * 24 * 3600] as const
export const finalCltvBounds = [1, 100_000] as const

const destination = (world: World.World, ask: DestinationAsk) => {
  const {
    behaviour = "settle",
    amount,
    takes = Web.rangeOf(amount),
    payee = null,
    expirySeconds = 3600,
    kind = "p2wpkh"
  } = ask
  return (
    state: World.State,
    nowMillis: number
  ): Result.Result<World.Decision<Destination>, SandboxRefused> => {
    if ((amount !== undefined && amount <= 0n) || takes.min <= 0n || takes.max < takes.min)
      return refuse("amount_invalid", "The amount must be positive")
    if (payee !== null && !SimulatedNetwork.allPayees.includes(payee))
      return refuse("payee_unknown", `The payees are ${SimulatedNetwork.allPayees.join(", ")}`)
    const [least, most] = expiryBounds
    if (!Number.isInteger(expirySeconds) || expirySeconds < least || expirySeconds > most)
      return refuse("out_of_range", `The lifetime of an invoice must be between ${least} and ${most} seconds`)
    const { minFinalCltvExpiry } = ask
    const [fewest, longest] = finalCltvBounds
    if (minFinalCltvExpiry !== undefined && !(minFinalCltvExpiry >= fewest && minFinalCltvExpiry <= longest))
      return refuse("out_of_range", `A payee may hold a payment for ${fewest} to ${longest} blocks`)
    const isServer = ask.type === "lightning_address" || ask.type === "lnurl"
    // An offer's issuer acts like a server, so it may refuse or not respond.
    if (isOfServer(behaviour) && !isServer && (ask.type !== "bolt12_offer" || behaviour === "same_invoice"))
      return refuse(
        "out_of_range",
        `${behaviour} is a server's behavior, so it requires a lightning_address or an lnurl`
      )
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
        const published = Offers.published(world, state.lightning, {
          amount,
          behaviour,
          payee,
          seconds,
          nowMillis
        })
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
  Effect.sync(() => SimulatedNetwork.funds(Lightning.balances(world.state().lightning), node))

const neighbour = (world: World.World): Neighbour["Service"] =>
  Neighbour.of({
    receiver: Receiver.make(world, SimulatedNetwork.neighbour),
    sender: Sender.make(world, SimulatedNetwork.neighbour),
    books: Books.lightning(world, SimulatedNetwork.neighbour),
    localBalance: localBalance(world, SimulatedNetwork.neighbour)
  })

const control = (world: World.World, maxEvents: number): Sandbox["Service"] => {
  /** Makes something happen outside, unless the event limit has been reached. */
  const play = <A>(
    decide: (state: World.State, nowMillis: number) => Result.Result<World.Decision<A>, SandboxRefused>
  ) =>
    Effect.suspend(() =>
      world.eventCount() < maxEvents
        ? world.commit(decide)
        : Effect.fromResult(
            refuse(
              "full",
              `The sandbox is full: it stores at most ${maxEvents} events. Start another one with an empty database`
            )
          )
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
    localBalance: localBalance(world, SimulatedNetwork.us),
    survey: Effect.sync(() => Survey.of(world)),
    state: read((state) => state)
  })
}

export interface Options {
  /**
   * Every key, balance and name is derived from the seed. Without a `directory`, external invoices also depend
   * on the start time.
   */
  readonly seed: string
  readonly network: Network
  /** The directory in which the sandbox's state is stored. If absent, the state is lost when the layer closes. */
  readonly directory?: string | undefined
  /** Maximum number of stored events, after which external actions are refused. Defaults to `maxEvents`. */
  readonly maxEvents?: number | undefined
}

/** Enough for about 150 000 payments, about 300 MB. */
export const maxEvents = 500_000

/**
 * A simulated Lightning network, chain, web and domain name system, with controls over every party except us.
 */
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
  | Dns
  | SimulatedDns.SimulatedDns,
  LogUnusable
> => Layer.merge(SimulatedDns.layer, network(options))

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
        Context.add(Resolver, SimulatedResolver.make(world))
      )
    )
  )
