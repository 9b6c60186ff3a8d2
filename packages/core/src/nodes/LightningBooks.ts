import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Context, type Effect } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/** A node's funds: in channels, on the way out of closing channels, and in its on-chain wallet. */
export interface Owned {
  /**
   * Includes outgoing payments until they settle, and excludes incoming ones. A payment of 1000 with a fee of
   * 3 subtracts 1003 when it settles.
   */
  readonly amount: Msat
  /**
   * The part outside open channels: from closed channels, or in the node's wallet. Absent if only channels
   * are counted.
   */
  readonly onChain?: Msat
  /** Maximum error of `amount`; zero if the node counts in msat. */
  readonly within: Msat
}

/**
 * The total that the channels can carry now, including reserves, which cannot be sent. A single payment may be
 * limited to less, because it uses one channel or is split into parts, and then continues through other nodes'
 * channels.
 */
export interface Capacity {
  /** Outbound liquidity: our balances above the reserves of the channels. */
  readonly outgoing: Msat
  /** Inbound liquidity: the peers' balances above the reserves of the channels. */
  readonly incoming: Msat
  /** Absent if the node does not report it. */
  readonly channels?: Channels
}

/** Number of channels by state. */
export interface Channels {
  readonly active: number
  /** Open but unusable, usually because the peer is offline. */
  readonly inactive: number
  readonly opening: number
  /** Closing cooperatively. */
  readonly closing: number
  /** Closed unilaterally. Our funds have not returned to the wallet yet. */
  readonly forceClosing: number
}

/** A payment in the node's records. `fee` is the routing fee, paid or reserved. */
export interface Sent {
  readonly paymentHash: PaymentHash.PaymentHash
  /** If the payment pays an offer: our id of the attempt, which identifies the payment in place of the payment hash. */
  readonly attempt?: string
  readonly amount: Msat
  readonly fee: Msat
  readonly state: "pending" | "settled" | "failed"
}

/** An incoming payment that the node accepted, and the amount received. */
export interface Taken {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly received: Msat
}

/** A node's own income or cost: a forward, or a cooperatively closed channel. */
export interface Own {
  readonly kind: "forward" | "channel"
  /** Change of the node's funds; negative for a cost. */
  readonly amount: Msat
}

/** A limited number of entries. The next page starts after `cursor`. */
export interface Page<A> {
  readonly lines: ReadonlyArray<A>
  readonly cursor: string
}

/** The HTLCs in the node's channels. */
export interface InFlight {
  /** Height of the node's best block; null while the node is not synced. */
  readonly height: number | null
  /** Payment hashes of the HTLCs in channels that are not closing. */
  readonly hashes: ReadonlySet<PaymentHash.PaymentHash>
  /** Whether a channel is closing that may hold HTLCs, confirmed or not. */
  readonly isClosing: boolean
}

/**
 * A Lightning node's statement: all payments it recorded, whatever their origin, for reconciliation with the
 * ledger.
 */
export class LightningBooks extends Context.Service<
  LightningBooks,
  {
    readonly owned: Effect.Effect<Owned, NodeUnavailable>
    readonly capacity: Effect.Effect<Capacity, NodeUnavailable>
    /** Returns the HTLCs in the channels. Absent if the node never loses a payment's result. */
    readonly inFlight?: Effect.Effect<InFlight, NodeUnavailable>
    /**
     * Returns payments that started after the position `after`, in the order in which they started and in their
     * current state. Returns no entries if there are no more yet. null returns no entries and the position of
     * the newest payment.
     */
    readonly sent: (after: string | null) => Effect.Effect<Page<Sent>, NodeUnavailable>
    /** Returns payments that the node received, paged like `sent`, in the order in which they settled. */
    readonly taken: (after: string | null) => Effect.Effect<Page<Taken>, NodeUnavailable>
    /**
     * Returns the node's own income and costs, each exactly once, paged like `sent`. An entry may appear some
     * time after `owned` includes it. Absent if the node does not list them. The operator must then post them
     * manually.
     */
    readonly own?: (after: string | null) => Effect.Effect<Page<Own>, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningBooks") {}
