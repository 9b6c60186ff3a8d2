import * as Msat from "@satrail/bitcoin/Msat"
import type { Own, Page } from "@satrail/core/nodes/LightningBooks"
import { Clock, Effect, Schema } from "effect"
import { get, type LndRest, post } from "./LndRest.ts"

// An lnd node's own earnings and costs: its forwards, and the fees of cooperatively closed channels that it
// opened.

const pageSize = 500
/** Maximum lag of lnd's clock behind ours. The search for the newest forward begins this long ago. */
const skewMillis = 600_000
/** Maximum depth of a reorganization, in blocks. */
const depth = 144
/** The amount of both anchors of a commitment, in satoshis (BOLT 3, "Anchor Outputs"). */
const anchors = 660n

const Forwards = Schema.Struct({
  forwarding_events: Schema.Array(
    Schema.Struct({
      timestamp_ns: Schema.BigIntFromString,
      amt_in_msat: Msat.FromString,
      amt_out_msat: Msat.FromString
    })
  ),
  last_offset_index: Schema.Int
})
type Forward = (typeof Forwards.Type)["forwarding_events"][number]

const Closed = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({
      channel_point: Schema.String,
      closing_tx_hash: Schema.String,
      capacity: Schema.BigIntFromString,
      close_height: Schema.Int,
      close_type: Schema.String,
      open_initiator: Schema.String
    })
  )
})
type Closed = (typeof Closed.Type)["channels"][number]

const Transactions = Schema.Struct({
  transactions: Schema.Array(
    Schema.Struct({
      tx_hash: Schema.String,
      output_details: Schema.Array(Schema.Struct({ amount: Schema.BigIntFromString }))
    })
  )
})

const Open = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({ channel_point: Schema.String, initiator: Schema.Boolean, commitment_type: Schema.String })
  )
})

/**
 * The position in both lists: the time of the last forward, in nanoseconds, and the block of the last closed
 * channel. It also contains the channels closed shortly before that block. `legacy` lists the open channels
 * without anchors that we opened. It is stored because lnd doesn't report whether a closed channel had anchors.
 */
const Place = Schema.Struct({
  forward: Schema.BigIntFromString,
  height: Schema.Int,
  closed: Schema.Array(Schema.String),
  legacy: Schema.Array(Schema.String)
})
type Place = typeof Place.Type
const Text = Schema.fromJsonString(Place)

/**
 * Returns a page of entries after a position. Without a position, returns no entries and the position of the
 * newest one.
 */
export const list = (rest: LndRest) => {
  /**
   * Returns forwards in lnd's order, which is by time. An offset is not stored across calls, because lnd may
   * delete older entries in between.
   */
  const forwardsAfter = Effect.fnUntraced(function* (nanos: bigint) {
    for (let offset = 0; ;) {
      const body = {
        start_time: String(nanos / 1_000_000_000n),
        index_offset: offset,
        num_max_events: pageSize
      }
      const { forwarding_events: events, last_offset_index } = yield* rest.ask(
        "own",
        post("/v1/switch", body),
        Forwards
      )
      const found = events.filter(({ timestamp_ns }) => timestamp_ns > nanos)
      if (found.length > 0 || events.length < pageSize) return found
      offset = last_offset_index
    }
  })

  const closed = Effect.map(
    rest.ask("own", get("/v1/channels/closed", { urlParams: { cooperative: "true" } }), Closed),
    ({ channels }) =>
      channels
        .filter(({ close_type, close_height }) => close_type === "COOPERATIVE_CLOSE" && close_height > 0)
        .toSorted((a, b) => a.close_height - b.close_height)
  )

  const legacy = Effect.map(rest.ask("own", get("/v1/channels"), Open), ({ channels }) =>
    channels
      .filter(({ initiator, commitment_type }) => initiator && !/ANCHORS|LEASE|TAPROOT/.test(commitment_type))
      .map(({ channel_point }) => channel_point)
  )

  /**
   * The opener of a channel pays the fee of its closing transaction (BOLT 2, "Closing Negotiation") and
   * recovers the two anchors of the commitment, which lnd counts toward neither side's balance while the
   * channel is open.
   */
  const costs = Effect.fnUntraced(function* (channels: ReadonlyArray<Closed>, legacy: ReadonlyArray<string>) {
    const [first, last] = [channels.at(0)?.close_height, channels.at(-1)?.close_height]
    if (first === undefined || last === undefined) return []
    const heights = { start_height: String(first), end_height: String(last) }
    const { transactions } = yield* rest.ask(
      "own",
      get("/v1/transactions", { urlParams: heights }),
      Transactions
    )
    return channels.map(({ open_initiator, capacity, channel_point, closing_tx_hash }): Own => {
      const paid = transactions.find(({ tx_hash }) => tx_hash === closing_tx_hash)
      if (open_initiator !== "INITIATOR_LOCAL" || paid === undefined)
        return { kind: "channel", amount: Msat.zero }
      const fee = paid.output_details.reduce((rest, { amount }) => rest - amount, capacity)
      return { kind: "channel", amount: Msat.fromSats((legacy.includes(channel_point) ? 0n : anchors) - fee) }
    })
  })

  /**
   * Returns the next position. It keeps a channel that a reorganization temporarily removes from the list, so
   * that the channel is not listed twice.
   */
  const placeOf = ({ forward, height, closed, legacy }: Place, channels: ReadonlyArray<Closed>): string => {
    const newest = Math.max(height, channels.at(-1)?.close_height ?? 0)
    const recent = channels
      .filter(({ close_height }) => close_height > newest - depth)
      .map(({ channel_point }) => channel_point)
    const isOut = (point: string) => !channels.some(({ channel_point }) => channel_point === point)
    const open = [...new Set(legacy)].filter(isOut)
    return Schema.encodeSync(Text)({
      forward,
      height: newest,
      closed: [...closed.filter(isOut), ...recent],
      legacy: open
    })
  }

  return Effect.fnUntraced(function* (after: string | null) {
    const withoutAnchors = yield* legacy
    const channels = yield* closed
    if (after === null) {
      const from = BigInt((yield* Clock.currentTimeMillis) - skewMillis) * 1_000_000n
      let forward = from
      for (
        let more: ReadonlyArray<Forward> = yield* forwardsAfter(from);
        more.length > 0;
        more = yield* forwardsAfter(forward)
      ) {
        forward = more.at(-1)?.timestamp_ns ?? forward
      }
      const page: Page<Own> = {
        lines: [],
        cursor: placeOf({ forward, height: 0, closed: [], legacy: withoutAnchors }, channels)
      }
      return page
    }
    const place = yield* Effect.orDie(Schema.decodeUnknownEffect(Text)(after))
    const forwards = yield* forwardsAfter(place.forward)
    const fresh = channels.filter(
      ({ channel_point, close_height }) =>
        close_height > place.height - depth && !place.closed.includes(channel_point)
    )
    const earned = forwards.map(({ amt_in_msat, amt_out_msat }): Own => ({
      kind: "forward",
      amount: Msat.make(amt_in_msat - amt_out_msat)
    }))
    const forward = forwards.at(-1)?.timestamp_ns ?? place.forward
    const page: Page<Own> = {
      lines: [...earned, ...(yield* costs(fresh, place.legacy))],
      cursor: placeOf({ ...place, forward, legacy: [...place.legacy, ...withoutAnchors] }, channels)
    }
    return page
  })
}
