import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Context, type Effect } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/** What a node owns: in its channels, on its way out of channels that are being closed, and in the wallet on the chain that they are opened from and closed to. */
export interface Owned {
  /**
   * With what is on its way out for as long as it has not arrived, without what is on its way in: a payment of 1000 with a fee of 3 takes 1003, and takes
   * them when it settles.
   */
  readonly amount: Msat
  /** How much of it is not in open channels: on its way out of closed ones, or in the node's wallet. Absent where only channels are counted. */
  readonly onChain?: Msat
  /** The truth is this near: zero where the node counts to the msat. */
  readonly within: Msat
}

/**
 * What the channels can carry now, all together, each side's reserve included, which can not be sent. One payment may find room for less: it goes through one
 * channel, or in parts, and somebody else's channels come after ours.
 */
export interface Capacity {
  /** What we could send. */
  readonly outgoing: Msat
  /** What we could receive. */
  readonly incoming: Msat
  /** Absent where the node does not say it. */
  readonly channels?: Channels
}

/** How many channels there are, by their state. */
export interface Channels {
  readonly active: number
  /** Open, and unusable: their peer is away, as a rule. */
  readonly inactive: number
  readonly opening: number
  /** Being closed by agreement. */
  readonly closing: number
  /** Closed by one side alone: what was ours is not back in the wallet yet. */
  readonly forceClosing: number
}

/** A payment in the node's books. `fee` is what its routing takes, or took. */
export interface Sent {
  readonly paymentHash: PaymentHash.PaymentHash
  /** The attempt that it was asked for under, where it pays an offer: then that is what it is known by. */
  readonly attempt?: string
  readonly amount: Msat
  readonly fee: Msat
  readonly state: "pending" | "settled" | "failed"
}

/** A payment that the node has taken, and what arrived. */
export interface Taken {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly received: Msat
}

/** What the node earned or spent by itself: a forward, or a channel that was closed by agreement. */
export interface Own {
  readonly kind: "forward" | "channel"
  /** What the node has more by it; less than zero where it cost something. */
  readonly amount: Msat
}

/** A bounded number of lines; the next page is after `cursor`. */
export interface Page<A> {
  readonly lines: ReadonlyArray<A>
  readonly cursor: string
}

/** A Lightning node's statement: all payments that it recorded, of any origin, to be reconciled with the ledger. */
export class LightningBooks extends Context.Service<
  LightningBooks,
  {
    readonly owned: Effect.Effect<Owned, NodeUnavailable>
    readonly capacity: Effect.Effect<Capacity, NodeUnavailable>
    /**
     * The payments that were begun after the place `after`, in that order, as they stand now; no lines where there are no more yet. null answers no lines,
     * and the place of the newest.
     */
    readonly sent: (after: string | null) => Effect.Effect<Page<Sent>, NodeUnavailable>
    /** The same of the payments that the node has taken, in the order in which they settled. */
    readonly taken: (after: string | null) => Effect.Effect<Page<Taken>, NodeUnavailable>
    /**
     * The same of what the node earned and spent by itself, each once. It may be listed a while after `owned` has counted it. Absent where the node does not list
     * it: then it is the operator who says what is his.
     */
    readonly own?: (after: string | null) => Effect.Effect<Page<Own>, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningBooks") {}
