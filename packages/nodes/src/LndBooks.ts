import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import {
  type Capacity,
  type InFlight,
  LightningBooks,
  type Owned,
  type Sent,
  type Taken
} from "@satrail/core/nodes/LightningBooks"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Layer, Schema, Stream } from "effect"
import type * as Lnd from "./Lnd.ts"
import { hex } from "./LndBytes.ts"
import * as LndInfo from "./LndInfo.ts"
import * as LndInvoice from "./LndInvoice.ts"
import * as LndOwn from "./LndOwn.ts"
import { get, type LndRest, make as connect, unavailable } from "./LndRest.ts"
import type * as Macaroon from "./Macaroon.ts"

/** The lnd calls needed to read lnd's books. These calls move no money and create nothing. */
export const calls = [
  { uri: "/lnrpc.Lightning/GetInfo", entity: "info", action: "read" },
  { uri: "/lnrpc.Lightning/ListPayments", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/ListInvoices", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/SubscribeInvoices", entity: "invoices", action: "read" },
  { uri: "/lnrpc.Lightning/ChannelBalance", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/ListChannels", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/PendingChannels", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/WalletBalance", entity: "onchain", action: "read" },
  { uri: "/lnrpc.Lightning/ForwardingHistory", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/ClosedChannels", entity: "offchain", action: "read" },
  { uri: "/lnrpc.Lightning/GetTransactions", entity: "onchain", action: "read" }
] as const satisfies ReadonlyArray<Macaroon.Call>

const pageSize = 500
/**
 * lnd immediately reports everything settled since an index, and then continues with new settlements. If no
 * message arrives for this long, the backlog is complete.
 */
const silenceMillis = 500

const Payments = Schema.Struct({
  payments: Schema.Array(
    Schema.Struct({
      payment_hash: PaymentHash.PaymentHash,
      value_msat: Msat.FromString,
      fee_msat: Msat.FromString,
      status: Schema.Literals(["INITIATED", "IN_FLIGHT", "SUCCEEDED", "FAILED"]),
      payment_index: Schema.BigIntFromString
    })
  )
})

type Payment = (typeof Payments.Type)["payments"][number]

const Whole = Schema.Struct({ msat: Msat.FromString })
const Balance = Schema.Struct({
  local_balance: Whole,
  unsettled_remote_balance: Whole,
  pending_open_local_balance: Whole
})

const Carried = Schema.Struct({ local_balance: Whole, remote_balance: Whole })
const Open = Schema.Struct({ num_active_channels: Schema.Int, num_inactive_channels: Schema.Int })
const Pending = Schema.Struct({
  pending_open_channels: Schema.Array(Schema.Unknown),
  waiting_close_channels: Schema.Array(
    Schema.Struct({ channel: Schema.Struct({ chan_status_flags: Schema.String }) })
  ),
  pending_force_closing_channels: Schema.Array(Schema.Unknown)
})

const Sats = Schema.BigIntFromString
const Channels = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({
      initiator: Schema.Boolean,
      commit_fee: Sats,
      pending_htlcs: Schema.Array(Schema.Struct({ incoming: Schema.Boolean, amount: Sats }))
    })
  )
})

const Reserve = Schema.Struct({ chan_reserve_sat: Sats })
const Reserved = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({
      local_balance: Sats,
      remote_balance: Sats,
      local_constraints: Reserve,
      remote_constraints: Reserve
    })
  )
})

const Held = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({ pending_htlcs: Schema.Array(Schema.Struct({ hash_lock: hex(PaymentHash.PaymentHash) })) })
  )
})

const Closing = Schema.Struct({
  waiting_close_channels: Schema.Array(
    Schema.Struct({
      channel: Schema.Struct({
        capacity: Sats,
        local_balance: Sats,
        remote_balance: Sats,
        chan_status_flags: Schema.String
      }),
      limbo_balance: Sats
    })
  ),
  pending_force_closing_channels: Schema.Array(
    Schema.Struct({
      limbo_balance: Sats,
      pending_htlcs: Schema.Array(Schema.Struct({ incoming: Schema.Boolean, amount: Sats }))
    })
  )
})

const Wallet = Schema.Struct({
  total_balance: Sats,
  unconfirmed_balance: Sats,
  locked_balance: Schema.optionalKey(Sats)
})

const states = { INITIATED: "pending", IN_FLIGHT: "pending", SUCCEEDED: "settled", FAILED: "failed" } as const

const sentOf = ({ payment_hash, value_msat, fee_msat, status }: Payment): Sent => ({
  paymentHash: payment_hash,
  amount: value_msat,
  fee: fee_msat,
  state: states[status]
})

const takenOf = (invoice: LndInvoice.Settled): Taken => ({
  paymentHash: invoice.r_hash,
  received: LndInvoice.receivedOf(invoice)
})

/**
 * A position in a list: the number of its last entry, and the entry's payment hash and state. An lnd that has lost
 * its records numbers from 1 again, and then has another entry with this number. The hash of the last successful
 * payment follows, because operators delete failed ones. Positions of earlier versions have only the first parts.
 */
const placeOf = (number: bigint, ...entry: ReadonlyArray<string>): string => [number, ...entry].join(" ")
const parsed = (after: string) => {
  const [number = "0", hash, state, kept] = after.split(" ")
  return {
    number: BigInt(number),
    hash,
    state,
    kept,
    isOf: (found: PaymentHash.PaymentHash) => hash === undefined || hash === found
  }
}
const start = placeOf(0n)

const inOrder = (settled: ReadonlyArray<LndInvoice.Settled>) =>
  settled.toSorted((a, b) => (a.settle_index < b.settle_index ? -1 : 1))

const total = <A>(all: ReadonlyArray<A>, sats: (one: A) => bigint): bigint =>
  all.reduce((sum, one) => sum + sats(one), 0n)

/**
 * Returns our funds in channels: the local balances, outgoing payments in flight, and our balances in channels
 * being opened. In channels that we opened, the commitment fee is ours too until they close. It changes with
 * every payment in flight and with fee rates. lnd reports it in whole satoshis, including amounts too small for
 * an output.
 *
 * A forward counts as ours only when both of its sides have settled. Until the payer's side settles, its
 * incoming HTLC is still pending.
 */
const inChannels = (balance: typeof Balance.Type, { channels }: typeof Channels.Type): Owned => {
  const funded = channels.filter(({ initiator }) => initiator)
  const htlcs = channels.flatMap(({ initiator, pending_htlcs }) =>
    pending_htlcs.filter(({ incoming }) => initiator || incoming)
  )
  const { local_balance, unsettled_remote_balance, pending_open_local_balance } = balance
  return {
    amount: Msat.sum(
      local_balance.msat,
      unsettled_remote_balance.msat,
      pending_open_local_balance.msat,
      ...funded.map(({ commit_fee }) => Msat.fromSats(commit_fee))
    ),
    // lnd rounds each HTLC down to a whole satoshi.
    within: Msat.fromSats(2n * BigInt(funded.length) + total(htlcs, ({ amount }) => amount + 1n))
  }
}

/** Returns whether a channel is being closed cooperatively, which pays to the wallet immediately. */
const isAgreed = ({ channel }: { readonly channel: { readonly chan_status_flags: string } }) =>
  channel.chan_status_flags.includes("ChanStatusCoopBroadcasted")

/**
 * Returns the funds of closing channels and of the wallet. Each amount is counted once: in limbo until it is
 * swept, then in the wallet. The uncertainty comes from payments not yet resolved on the chain, unconfirmed
 * sweeps, and coins reserved for a transaction. Sweeps count both in the wallet and in limbo, and the wallet
 * counts each version of a replaced sweep until one is confirmed (lnd issue 5244).
 */
const onChain = (closing: typeof Closing.Type, wallet: typeof Wallet.Type): Owned => {
  const { waiting_close_channels: waiting, pending_force_closing_channels: forced } = closing
  const [agreed, unilateral] = [waiting.filter(isAgreed), waiting.filter((one) => !isAgreed(one))]
  const limbo = total(unilateral, (one) => one.limbo_balance) + total(forced, (one) => one.limbo_balance)
  const incoming = total(forced, ({ pending_htlcs }) =>
    total(pending_htlcs, (one) => (one.incoming ? one.amount : 0n))
  )
  const undecided =
    total(
      unilateral,
      ({ channel: { capacity, local_balance, remote_balance } }) => capacity - local_balance - remote_balance
    ) +
    total(forced, ({ pending_htlcs }) => total(pending_htlcs, ({ amount }) => amount)) +
    total(agreed, (one) => one.limbo_balance)
  const { total_balance, unconfirmed_balance, locked_balance = 0n } = wallet
  const seenAgain = limbo > 0n ? unconfirmed_balance : 0n
  return {
    amount: Msat.fromSats(total_balance + limbo - incoming),
    within: Msat.fromSats(undecided + seenAgain + locked_balance)
  }
}

const together = (channels: Owned, onChain: Owned): Owned => ({
  amount: Msat.sum(channels.amount, onChain.amount),
  onChain: onChain.amount,
  within: Msat.sum(channels.within, onChain.within)
})

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Returns a balance in channels without the part of each that its side must keep there. */
const above = (balance: Msat.Msat, reserved: bigint): Msat.Msat =>
  Msat.make(balance - lesser(balance, reserved * 1000n))

/** Returns the capacity and state of the channels of the node at `rest`. */
export const capacity = (rest: LndRest): Effect.Effect<Capacity, NodeUnavailable> =>
  Effect.all(
    [
      rest.ask("capacity", get("/v1/balance/channels"), Carried),
      rest.ask("capacity", get("/v1/channels"), Reserved),
      rest.ask("capacity", get("/v1/getinfo"), Open),
      rest.ask("capacity", get("/v1/channels/pending"), Pending)
    ],
    { concurrency: "unbounded" }
  ).pipe(
    Effect.map(([{ local_balance, remote_balance }, { channels }, open, pending]) => {
      const {
        pending_open_channels: opening,
        waiting_close_channels: waiting,
        pending_force_closing_channels: forced
      } = pending
      const agreed = waiting.filter(isAgreed).length
      return {
        outgoing: above(
          local_balance.msat,
          total(channels, (one) => lesser(one.local_balance, one.local_constraints.chan_reserve_sat))
        ),
        incoming: above(
          remote_balance.msat,
          total(channels, (one) => lesser(one.remote_balance, one.remote_constraints.chan_reserve_sat))
        ),
        channels: {
          active: open.num_active_channels,
          inactive: open.num_inactive_channels,
          opening: opening.length,
          closing: agreed,
          forceClosing: waiting.length - agreed + forced.length
        }
      }
    }),
    Effect.catchTag("Refused", unavailable("capacity"))
  )

/**
 * Returns the HTLCs in the channels of the node at `rest`. lnd lists those of closing channels without their hashes, or
 * not at all while the commitment is unconfirmed. Open channels are read before closing ones, so that one that begins to
 * close in between is not missed.
 */
const inFlight = (rest: LndRest): Effect.Effect<InFlight, NodeUnavailable> =>
  Effect.gen(function* () {
    const { height, isSynced } = yield* LndInfo.chain(rest)
    const { channels } = yield* rest.ask("inFlight", get("/v1/channels"), Held)
    const pending = yield* rest.ask("inFlight", get("/v1/channels/pending"), Pending)
    return {
      height: isSynced ? height : null,
      hashes: new Set(
        channels.flatMap(({ pending_htlcs }) => pending_htlcs.map(({ hash_lock }) => hash_lock))
      ),
      isClosing:
        pending.waiting_close_channels.length > 0 || pending.pending_force_closing_channels.length > 0
    }
  }).pipe(Effect.catchTag("Refused", unavailable("inFlight")))

/** Reads the settled invoices of the node at `rest`. */
const settlements = (rest: LndRest) => {
  /**
   * Reads all invoices to find the settled ones. Used for a database's first read, and repeatedly while the
   * node has never been paid.
   */
  const allSettled = Effect.gen(function* () {
    const settled: Array<LndInvoice.Settled> = []
    for (let offset = 0n; ;) {
      const request = get("/v1/invoices", {
        urlParams: { index_offset: String(offset), num_max_invoices: String(pageSize) }
      })
      const { invoices, last_index_offset } = yield* rest.ask("taken", request, LndInvoice.Page)
      settled.push(...invoices.filter(LndInvoice.isSettled))
      if (invoices.length < pageSize) return inOrder(settled)
      offset = last_index_offset
    }
  })

  const settledAfter = (index: bigint) =>
    rest
      .listen(
        "taken",
        get("/v1/invoices/subscribe", { urlParams: { settle_index: String(index) } }),
        LndInvoice.Listed
      )
      .pipe(
        Stream.filter(LndInvoice.isSettled),
        Stream.timeout(silenceMillis),
        Stream.take(pageSize),
        Stream.runCollect
      )

  /** Returns a page of the settled invoices, starting with this settle index. */
  const settledFrom = Effect.fnUntraced(function* (number: bigint) {
    // lnd treats a settle index of 0 as "new settlements only".
    if (number > 1n) {
      const found = inOrder(yield* settledAfter(number - 1n))
      // With native SQL, lnd reports its backlog in the order of creation, so a page with gaps may lack some.
      if (found.length < pageSize || found.at(-1)?.settle_index === number + BigInt(pageSize) - 1n)
        return found
    }
    return (yield* allSettled).filter(({ settle_index }) => settle_index >= number).slice(0, pageSize)
  })
  return { allSettled, settledFrom }
}

const books = (options: Lnd.Options): LightningBooks["Service"] => {
  const rest = connect(options)
  const own = LndOwn.list(rest)
  const { allSettled, settledFrom } = settlements(rest)
  const recognised = LndInfo.recognise(rest, options.identity)

  const payments = (urlParams: Readonly<Record<string, string>>) => {
    const all = {
      include_incomplete: "true",
      max_payments: String(pageSize),
      omit_hops: "true",
      ...urlParams
    }
    return Effect.map(
      rest.ask("sent", get("/v1/payments", { urlParams: all }), Payments),
      ({ payments }) => payments
    )
  }

  const newest = Effect.map(payments({ reversed: "true", max_payments: "1" }), (found) => found.at(-1))

  /** Returns the position after these payments. `kept` is the last successful one before them. */
  const placeAfter = (found: ReadonlyArray<Payment>, kept?: string) => {
    const last = found.at(-1)
    if (last === undefined) return start
    const settled = found.findLast(({ status }) => status === "SUCCEEDED")?.payment_hash ?? kept
    return placeOf(
      last.payment_index,
      last.payment_hash,
      states[last.status],
      ...(settled === undefined ? [] : [settled])
    )
  }

  /**
   * Returns the position of a payment that has another number since lnd's migration to another database or, if it was
   * deleted, that of the last successful one.
   */
  const moved = Effect.fnUntraced(function* ({
    hash,
    kept
  }: Pick<ReturnType<typeof parsed>, "hash" | "kept">) {
    if (hash === undefined) return start
    for (let index_offset = "0"; ;) {
      const found = yield* payments({ reversed: "true", index_offset })
      const same = found.findLast(({ payment_hash }) => payment_hash === hash || payment_hash === kept)
      if (same !== undefined) return placeAfter([same], kept)
      if (found.length < pageSize) return start
      index_offset = String(found[0]?.payment_index ?? 0n)
    }
  })

  return LightningBooks.of({
    owned: Effect.andThen(
      recognised,
      Effect.map(
        Effect.all([
          rest.ask("owned", get("/v1/balance/channels"), Balance),
          rest.ask("owned", get("/v1/channels"), Channels),
          rest.ask("owned", get("/v1/channels/pending"), Closing),
          rest.ask("owned", get("/v1/balance/blockchain"), Wallet)
        ]),
        ([balance, channels, closing, wallet]) =>
          together(inChannels(balance, channels), onChain(closing, wallet))
      )
    ).pipe(Effect.catchTag("Refused", unavailable("owned"))),
    capacity: Effect.andThen(recognised, capacity(rest)),
    // Money may be released on this, so confirm each time that it comes from the expected node.
    inFlight: Effect.andThen(LndInfo.confirm(rest, options.identity), inFlight(rest)),
    sent: Effect.fnUntraced(
      function* (after) {
        yield* recognised
        if (after === null) return { lines: [], cursor: placeAfter(yield* payments({ reversed: "true" })) }
        const place = parsed(after)
        const { number, state, kept, isOf } = place
        const found = yield* payments({ index_offset: String(number === 0n ? number : number - 1n) })
        const at = found.find(({ payment_index }) => payment_index === number)
        if (at !== undefined && !isOf(at.payment_hash)) return { lines: [], cursor: yield* moved(place) }
        // There is none with this number if the payment was deleted, or tried again under a new number. Some databases
        // give it the same number again.
        const isAgain = at !== undefined && state !== undefined && state !== states[at.status]
        const later = isAgain ? found : found.filter(({ payment_index }) => payment_index > number)
        if (later.length > 0) return { lines: later.map(sentOf), cursor: placeAfter(later, kept) }
        return {
          lines: [],
          cursor: ((yield* newest)?.payment_index ?? 0n) < number ? yield* moved(place) : after
        }
      },
      Effect.catchTag("Refused", unavailable("sent"))
    ),
    taken: Effect.fnUntraced(
      function* (after) {
        yield* recognised
        const placeAfter = (found: ReadonlyArray<LndInvoice.Settled>, otherwise: string) => {
          const last = found.at(-1)
          return last === undefined ? otherwise : placeOf(last.settle_index, last.r_hash)
        }
        if (after === null) return { lines: [], cursor: placeAfter(yield* allSettled, start) }
        const { number, isOf } = parsed(after)
        const found = yield* settledFrom(number)
        if (number === 0n) return { lines: found.map(takenOf), cursor: placeAfter(found, start) }
        // lnd deletes no settled invoice, so the first one is that of the position.
        const [first, ...later] = found
        if (first?.settle_index === number && isOf(first.r_hash))
          return { lines: later.map(takenOf), cursor: placeAfter(later, after) }
        const isSilent = first === undefined && (yield* LndInvoice.hasSettled(rest, number))
        return { lines: [], cursor: isSilent ? after : start }
      },
      Effect.catchTag("Refused", unavailable("taken"))
    ),
    own: (after) =>
      Effect.andThen(recognised, own(after)).pipe(Effect.catchTag("Refused", unavailable("own")))
  })
}

/** lnd's books. Its funds include its on-chain wallet. */
export const layer = (options: Lnd.Options): Layer.Layer<LightningBooks> =>
  Layer.sync(LightningBooks, () => books(options))
