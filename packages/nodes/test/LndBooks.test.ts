import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { Effect, Layer, Redacted } from "effect"
import * as LndBooks from "../src/LndBooks.ts"
import { hash, info, invoiceOf, json, nodeId, server } from "./InLndsPlace.ts"

// Responses of lnd 0.21.2 for a forwarding node whose channels were opened by its peers and whose wallet is
// empty.

interface Htlc {
  readonly incoming: boolean
  readonly amount: string
}

const whole = (msat: string) => ({ msat })

const answers = (msat: string, htlcs: ReadonlyArray<Htlc>): Readonly<Record<string, object>> => ({
  "/v1/balance/channels": {
    local_balance: whole(msat),
    unsettled_remote_balance: whole("0"),
    pending_open_local_balance: whole("0")
  },
  "/v1/channels": { channels: [{ initiator: false, commit_fee: "2811", pending_htlcs: htlcs }] },
  "/v1/channels/pending": { waiting_close_channels: [], pending_force_closing_channels: [] },
  "/v1/balance/blockchain": { total_balance: "0", unconfirmed_balance: "0" }
})

/** Returns the books of a node that gives these responses, keyed by path. */
const books = Effect.fnUntraced(function* (said: () => Readonly<Record<string, object>>) {
  const { url } = yield* server((path) =>
    path === "/v1/getinfo" ? info(nodeId) : json(200, said()[path] ?? {})
  )
  return yield* booksAt(url)
})

const booksAt = Effect.fnUntraced(function* (url: string) {
  const identity = { nodeId, network: "regtest" } as const
  const built = yield* Layer.build(LndBooks.layer({ url, macaroon: Redacted.make("00"), identity }))
  return yield* Effect.provideContext(LightningBooks, built)
})

describe("lnd's books", () => {
  it.live("lnd: a channel can send and receive what its sides have above their reserves", () =>
    Effect.gen(function* () {
      const channel = (ours: string, theirs: string) => ({
        local_balance: ours,
        remote_balance: theirs,
        local_constraints: { chan_reserve_sat: "50000" },
        remote_constraints: { chan_reserve_sat: "40000" }
      })
      const { capacity } = yield* books(() => ({
        "/v1/balance/channels": { local_balance: whole("4960000789"), remote_balance: whole("1080000999") },
        "/v1/channels": { channels: [channel("4950000", "40000"), channel("10000", "1040000")] },
        "/v1/channels/pending": {
          pending_open_channels: [],
          waiting_close_channels: [],
          pending_force_closing_channels: []
        }
      }))
      const { outgoing, incoming } = yield* capacity
      assert.deepStrictEqual([outgoing, incoming], [Msat.make(4_900_000_789n), Msat.make(1_000_000_999n)])
    }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: the books explain a forward while the payer's node is down, even if a peer opened the channel",
    () =>
      Effect.gen(function* () {
        let said = answers("13950004467", [{ incoming: true, amount: "50006" }])
        const { owned } = yield* books(() => said)
        const away = yield* owned
        said = answers("14000010468", [])
        const settled = yield* owned
        assert.strictEqual(settled.within, Msat.zero)
        assert.isAtMost(Number(settled.amount - away.amount), Number(away.within))
      }).pipe(Effect.scoped)
  )

  it.live("lnd: a payment through a channel opened by a peer is counted to the msat", () =>
    Effect.gen(function* () {
      const { owned } = yield* books(() => answers("14000010468", [{ incoming: false, amount: "700" }]))
      assert.deepStrictEqual(yield* owned, {
        amount: Msat.make(14_000_010_468n),
        onChain: Msat.zero,
        within: Msat.zero
      })
    }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: the books explain a sweep that lnd replaces, because its wallet counts both versions until one confirms",
    () =>
      Effect.gen(function* () {
        const swept = 8_000_000n
        const state = (limbo: bigint, unconfirmed: bigint) => ({
          ...answers("0", []),
          "/v1/channels/pending": {
            waiting_close_channels: [],
            pending_force_closing_channels:
              limbo === 0n ? [] : [{ limbo_balance: String(limbo), pending_htlcs: [] }]
          },
          "/v1/balance/blockchain": {
            total_balance: String(unconfirmed),
            unconfirmed_balance: String(unconfirmed)
          }
        })
        let said = state(swept, 0n)
        const { owned } = yield* books(() => said)
        const { amount } = yield* owned
        assert.strictEqual(amount, Msat.fromSats(swept))
        for (const versions of [1n, 2n, 3n]) {
          said = state(swept, versions * swept)
          const found = yield* owned
          assert.strictEqual(found.amount - amount, found.within, `${versions} versions`)
        }
        said = {
          ...state(0n, 0n),
          "/v1/balance/blockchain": { total_balance: String(swept), unconfirmed_balance: "0" }
        }
        assert.deepStrictEqual(yield* owned, { amount, onChain: amount, within: Msat.zero })
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: payments are listed from the first again if lnd has lost its records, and from the same one if lnd has renumbered them",
    () =>
      Effect.gen(function* () {
        const hashOf = (n: number) => PaymentHash.make(String(n).padStart(64, "0"))
        const payment = (index: number, n = index, status = "SUCCEEDED") => ({
          payment_hash: hashOf(n),
          value_msat: String(n * 1000),
          fee_msat: "0",
          status,
          payment_index: String(index)
        })
        let paid = [payment(40), payment(41, 41, "FAILED")]
        const { url } = yield* server((path) => {
          if (path === "/v1/getinfo") return info(nodeId)
          const { searchParams } = new URL(path, "http://lnd")
          const offset = Number(searchParams.get("index_offset") ?? 0)
          const isReversed = searchParams.get("reversed") === "true"
          const most = Number(searchParams.get("max_payments"))
          const [from, upTo] = isReversed ? [0, offset === 0 ? Infinity : offset] : [offset, Infinity]
          const found = paid.filter(
            ({ payment_index }) => Number(payment_index) > from && Number(payment_index) < upTo
          )
          return json(200, { payments: isReversed ? found.slice(-most) : found.slice(0, most) })
        })
        const { sent } = yield* booksAt(url)
        const listed = (cursor: string) =>
          Effect.map(
            sent(cursor),
            ({ lines, cursor }) => [lines.map(({ amount }) => Number(amount) / 1000), cursor] as const
          )
        const { cursor } = yield* sent(null)
        assert.deepStrictEqual(yield* listed(cursor), [[], cursor])
        // A database that reuses numbers has the newest payment under the same number if it is tried again.
        paid = [payment(40), payment(41)]
        const [again, later] = yield* listed(cursor)
        assert.deepStrictEqual([again, yield* listed(later)], [[41], [[], later]])
        // The newest payment was deleted, or tried again under a new number.
        for (const n of [42, 41]) {
          paid = [payment(40), payment(42, n)]
          assert.deepStrictEqual((yield* listed(cursor))[0], [n])
        }
        // It was deleted, and there is none after it, or one that got its number.
        for (const [more, listedLater] of [
          [[], []],
          [[payment(41, 43)], [43]]
        ] as const) {
          paid = [payment(39), payment(40), ...more]
          const [none, kept] = yield* listed(cursor)
          assert.deepStrictEqual([none, (yield* listed(kept))[0]], [[], listedLater])
        }
        // A migration to another database.
        for (const index of [2, 3, 40]) {
          paid = [payment(index - 1, 40), payment(index, 41), payment(index + 1, 42), payment(index + 2, 43)]
          const [none, moved] = yield* listed(cursor)
          assert.deepStrictEqual([none, (yield* listed(moved))[0]], [[], [42, 43]])
        }
        for (const index of [1, 40, 41]) {
          paid = [payment(index, 51), payment(index + 1, 52)]
          const [none, restart] = yield* listed(cursor)
          assert.deepStrictEqual([none, (yield* listed(restart))[0]], [[], [51, 52]])
        }
        // A position of an earlier version has no hash.
        paid = [payment(41), payment(42)]
        assert.deepStrictEqual((yield* listed("41"))[0], [42])
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: receipts are listed from the first again if lnd has lost its records, even if as many have arrived since",
    () =>
      Effect.gen(function* () {
        const receipt = (index: number, n = index) => invoiceOf(n, "SETTLED", index)
        let settled: ReadonlyArray<ReturnType<typeof receipt>> = []
        const { url } = yield* server((path) => {
          if (path === "/v1/getinfo") return info(nodeId)
          const { pathname, searchParams } = new URL(path, "http://lnd")
          if (pathname === "/v1/invoices")
            return json(200, { invoices: settled, first_index_offset: "1", last_index_offset: "99" })
          const after = Number(searchParams.get("settle_index"))
          const later = settled.filter(({ settle_index }) => after > 0 && Number(settle_index) > after)
          return { status: 200, body: later.map((result) => JSON.stringify({ result })).join("\n") }
        })
        const { taken } = yield* booksAt(url)
        const received = (cursor: string) =>
          Effect.map(
            taken(cursor),
            ({ lines, cursor }) => [lines.map(({ received }) => Number(received)), cursor] as const
          )
        const none = yield* taken(null)
        settled = [receipt(1), receipt(2)]
        const [two, first] = yield* received(none.cursor)
        settled = [...settled, receipt(3)]
        const [third, cursor] = yield* received(first)
        assert.deepStrictEqual([two, third, yield* received(cursor)], [[1000, 2000], [3000], [[], cursor]])
        for (const fresh of [[11], [11, 12, 13], [11, 12, 13, 14]]) {
          settled = fresh.map((n, at) => receipt(at + 1, n))
          const [lines, restart] = yield* received(cursor)
          const [again] = yield* received(restart)
          assert.deepStrictEqual([lines, again], [[], fresh.map((n) => n * 1000)])
        }
        // A position of an earlier version has no hash.
        settled = [receipt(1), receipt(2), receipt(3)]
        assert.deepStrictEqual((yield* received("2"))[0], [3000])
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: receipts are listed once each, in the order in which they settled, even if lnd reports them in the order of creation",
    () =>
      Effect.gen(function* () {
        // With native SQL invoices, lnd reports them by creation.
        const settled = (most: number) =>
          Array.from({ length: most }, (_, at) => ({
            ...invoiceOf(1, "SETTLED", most - at),
            amt_paid_msat: String(most - at)
          }))
        let all = settled(4)
        const { url } = yield* server((path) => {
          if (path === "/v1/getinfo") return info(nodeId)
          const { pathname, searchParams } = new URL(path, "http://lnd")
          const offset = Number(searchParams.get("index_offset"))
          const upTo = offset + Number(searchParams.get("num_max_invoices"))
          if (pathname === "/v1/invoices")
            return json(200, {
              invoices: all.slice(offset, upTo),
              first_index_offset: "1",
              last_index_offset: String(upTo)
            })
          const later = all.filter(
            ({ settle_index }) => Number(settle_index) > Number(searchParams.get("settle_index"))
          )
          return { status: 200, body: later.map((result) => JSON.stringify({ result })).join("\n") }
        })
        const { taken } = yield* booksAt(url)
        let { cursor } = yield* taken(null)
        for (const most of [7, 507, 1700]) {
          const before = all.length
          all = settled(most)
          const listed: Array<number> = []
          for (let page = yield* taken(cursor); page.lines.length > 0; page = yield* taken(cursor)) {
            listed.push(...page.lines.map(({ received }) => Number(received)))
            cursor = page.cursor
          }
          assert.deepStrictEqual(
            listed,
            Array.from({ length: most - before }, (_, at) => before + 1 + at)
          )
        }
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: each forward and each cooperatively closed channel is listed once, with its revenue or cost",
    () =>
      Effect.gen(function* () {
        const forward = (nanos: string, earned: bigint) => ({
          timestamp_ns: nanos,
          amt_in_msat: String(12_345_678n + earned),
          amt_out_msat: "12345678"
        })
        const channel = (
          at: number,
          close_height: number,
          open_initiator: string,
          close_type = "COOPERATIVE_CLOSE"
        ) => ({
          channel_point: `${at}:0`,
          closing_tx_hash: `closes ${at}`,
          capacity: "15000000",
          close_height,
          close_type,
          open_initiator
        })
        const closes = (at: number) => ({
          tx_hash: `closes ${at}`,
          output_details: [{ amount: "7074701" }, { amount: "7924914" }]
        })
        const first = {
          forwards: [forward("3795572940950167814", 5n)],
          closed: [channel(1, 400, "INITIATOR_LOCAL")]
        }
        const later = {
          forwards: [
            ...first.forwards,
            forward("3795572940950167815", 2234n),
            forward("3795572999000000000", 0n)
          ],
          closed: [
            channel(4, 0, "INITIATOR_LOCAL"),
            channel(3, 463, "INITIATOR_REMOTE"),
            channel(2, 463, "INITIATOR_LOCAL"),
            channel(5, 463, "INITIATOR_LOCAL", "REMOTE_FORCE_CLOSE"),
            channel(6, 463, "INITIATOR_LOCAL"),
            ...first.closed
          ]
        }
        let said: { readonly forwards: ReadonlyArray<object>; readonly closed: ReadonlyArray<object> } = first
        const open = [
          { channel_point: "2:0", initiator: true, commitment_type: "ANCHORS" },
          { channel_point: "6:0", initiator: true, commitment_type: "STATIC_REMOTE_KEY" }
        ]
        const { own } = yield* books(() => ({
          "/v1/channels": { channels: open },
          "/v1/switch": { forwarding_events: said.forwards, last_offset_index: said.forwards.length },
          "/v1/channels/closed?cooperative=true": { channels: said.closed },
          "/v1/transactions?start_height=463&end_height=463": {
            transactions: [closes(2), closes(3), closes(6)]
          }
        }))
        if (own === undefined) return assert.fail("lnd lists the fees that it earned")
        const begun = yield* own(null)
        assert.deepStrictEqual([begun.lines, (yield* own(begun.cursor)).lines], [[], []])
        // The cooperatively closed channels are no longer open, and their closing transactions await
        // confirmation.
        open.length = 0
        const waiting = yield* own(begun.cursor)
        said = later
        const { lines, cursor } = yield* own(waiting.cursor)
        assert.deepStrictEqual(
          lines.map(({ kind, amount }) => [kind, Number(amount)]),
          [
            ["forward", 2234],
            ["forward", 0],
            ["channel", 0],
            ["channel", 275_000],
            ["channel", -385_000]
          ]
        )
        // A reorganization removes the block with both closing transactions. Other blocks then include them.
        said = { ...later, closed: first.closed }
        const without = yield* own(cursor)
        said = {
          ...later,
          closed: [channel(3, 464, "INITIATOR_REMOTE"), channel(2, 465, "INITIATOR_LOCAL"), ...first.closed]
        }
        assert.deepStrictEqual([without.lines, (yield* own(without.cursor)).lines], [[], []])
      }).pipe(Effect.scoped)
  )

  it.live(
    "lnd: HTLCs are listed by hash, and a closing channel, confirmed or not, may hold more of them",
    () =>
      Effect.gen(function* () {
        const channels = {
          channels: [
            { pending_htlcs: [{ hash_lock: Buffer.from(hash, "hex").toString("base64") }] },
            { pending_htlcs: [] }
          ]
        }
        const waiting = { channel: { chan_status_flags: "ChanStatusCommitBroadcasted" } }
        let [isSynced, closing] = [
          true,
          { waiting_close_channels: [waiting].slice(1), pending_force_closing_channels: [{}].slice(1) }
        ]
        const { url } = yield* server((path) => {
          if (path === "/v1/channels") return json(200, channels)
          if (path === "/v1/channels/pending") return json(200, { pending_open_channels: [], ...closing })
          const { body } = info(nodeId)
          return json(200, { ...JSON.parse(body), block_height: 800, synced_to_chain: isSynced })
        })
        const { inFlight } = yield* booksAt(url)
        if (inFlight === undefined) return assert.fail("lnd can lose results")
        const hashes = new Set([hash])
        assert.deepStrictEqual(yield* inFlight, { height: 800, hashes, isClosing: false })
        isSynced = false
        closing = { waiting_close_channels: [waiting], pending_force_closing_channels: [] }
        assert.deepStrictEqual(yield* inFlight, { height: null, hashes, isClosing: true })
        closing = { waiting_close_channels: [], pending_force_closing_channels: [{}] }
        assert.isTrue((yield* inFlight).isClosing)
      }).pipe(Effect.scoped)
  )
})
