import * as Amount from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example } from "@satrail/http/wire/Examples"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Faults from "@satrail/sandbox/Faults"
import { maxEvents } from "@satrail/sandbox/Sandbox"
import * as Survey from "@satrail/sandbox/Survey"
import * as Time from "@satrail/sandbox/Time"
import { Clock, Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { type Controls, error, may, Playing, refused } from "./Controls.ts"
import * as Reset from "./Reset.ts"

const Fault = Schema.Struct({ what: Faults.What, ends_at: Scalars.Instant })

const faultOf = ({ what, endsAtMillis }: Faults.Fault) => ({ what, ends_at: Scalars.instant(endsAtMillis) })

const seconds = (maximum: number, example: number) =>
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum })).annotate({ examples: [example] })

const begin = Section.company(
  HttpApiEndpoint.post("beginFault", "/sandbox/fault", {
    payload: Schema.Struct({
      what: Faults.What.annotate({ description: "Part to take down. `web` means payees' servers and DNS" }),
      for_seconds: seconds(Faults.maxFaultSeconds, 60)
    }).annotate({ identifier: "SandboxFault" }),
    success: Envelope.success(200, Fault),
    error
  })
    .annotate(OpenApi.Summary, "Simulate an outage")
    .annotate(
      OpenApi.Description,
      "Simulates an outage: requests to this part fail, and confirmed withdrawals wait until it is back. The outage ends after `for_seconds` of the sandbox's clock, or when the process exits. Repeating the request replaces the end time."
    )
    .annotate(Example, ({ millis }) => ({
      body: { what: "node", for_seconds: 60 },
      message: "Fault begun",
      data: { what: "node", ends_at: Scalars.instant(millis(60_000)) }
    })),
  Playing,
  ({ faults, parts }) =>
    Effect.fnUntraced(function* ({ payload: { what, for_seconds }, request }) {
      yield* may(parts[what] !== undefined, request)
      return Envelope.ok("Fault begun", faultOf(yield* refused(faults.begin(what, for_seconds))))
    })
)

const end = Section.company(
  HttpApiEndpoint.delete("endFault", "/sandbox/fault/:what", {
    params: { what: Faults.What },
    success: Envelope.success(200, Schema.Struct({ what: Faults.What })),
    error
  })
    .annotate(OpenApi.Summary, "End an outage")
    .annotate(OpenApi.Description, "Ends a simulated outage early. Has no effect if there is none.")
    .annotate(Example, () => ({ params: { what: "node" }, message: "Fault ended", data: { what: "node" } })),
  Playing,
  ({ faults, parts }) =>
    Effect.fnUntraced(function* ({ params: { what }, request }) {
      yield* may(parts[what] !== undefined, request)
      yield* faults.end(what)
      return Envelope.ok("Fault ended", { what })
    })
)

const ClockShown = Schema.Struct({
  now: Scalars.Instant,
  ahead_seconds: Schema.Finite.annotate({ examples: [3600] })
})

const clock = Section.company(
  HttpApiEndpoint.post("advanceClock", "/sandbox/clock", {
    payload: Schema.Struct({ advance_seconds: seconds(Time.maxAdvanceDays * 86_400, 3600) }).annotate({
      identifier: "SandboxClock"
    }),
    success: Envelope.success(200, ClockShown),
    error
  })
    .annotate(OpenApi.Summary, "Advance the clock")
    .annotate(
      OpenApi.Description,
      "Advances the clock shared by the service and the simulated network: invoices, keys, vouchers and stored responses expire, and due work is done. The clock never moves backward, and it keeps its time across restarts. Available only if everything is simulated."
    )
    .annotate(Example, ({ millis }) => ({
      body: { advance_seconds: 3600 },
      message: "Clock advanced",
      data: { now: Scalars.instant(millis(3_600_000)), ahead_seconds: 3600 }
    })),
  Playing,
  ({ time }) =>
    Effect.fnUntraced(function* ({ payload: { advance_seconds }, request }) {
      yield* may(time !== undefined, request)
      const ahead = time === undefined ? 0 : yield* refused(time.advance(advance_seconds * 1000))
      return Envelope.ok("Clock advanced", {
        now: Scalars.instant(yield* Clock.currentTimeMillis),
        ahead_seconds: ahead / 1000
      })
    })
)

const fiats = Amount.Currency.literals.filter(Amount.isFiat)

const Text = Schema.String

const Lightning = Schema.Struct({
  nodes: Schema.Array(Schema.Struct({ name: Text, node_id: Text, balance_sats: Scalars.Sats })).annotate({
    description: "Balance of each node's channels. `us` is the service's node"
  }),
  channels: Schema.Array(Schema.Struct({ peer: Text, local_sats: Scalars.Sats, remote_sats: Scalars.Sats })),
  held_count: Schema.Int,
  held_payments: Schema.Array(
    Schema.Struct({
      direction: Schema.Literals(["in", "out"]),
      payment_hash: Text,
      amount_sats: Scalars.Sats
    })
  ).annotate({
    description: `Up to ${Survey.listed} held payments. POST /sandbox/release settles or fails one`
  })
})

const Chain = Schema.Struct({
  height: Schema.Int,
  block_hash: Text,
  fee_rate: Schema.Int.annotate({ description: "Fee rate for the next blocks, in sats per virtual byte" }),
  mempool_count: Schema.Int,
  mempool: Schema.Array(
    Schema.Struct({ chain_tx_id: Text, fee_sats: Scalars.Sats, virtual_bytes: Schema.Int })
  ).annotate({
    description: `Up to ${Survey.listed} transactions`
  }),
  wallet_sats: Scalars.Sats.annotate({ description: "Spendable balance of the service's wallet" }),
  outside_sats: Scalars.Sats.annotate({ description: "Spendable balance of the outside wallet" })
})

const Shown = Schema.Struct({
  id: Schema.NullOr(Text).annotate({ description: "Sandbox id, required by `POST /sandbox/reset`" }),
  clock: ClockShown,
  faults: Schema.Array(Fault),
  lightning: Schema.NullOr(Lightning).annotate({ description: "null if the node is real" }),
  chain: Schema.NullOr(Chain).annotate({ description: "null if the chain is real" }),
  rates: Schema.NullOr(Schema.Record(Text, Text)).annotate({
    description: "Prices of one bitcoin; null if rates are real"
  }),
  events: Schema.Struct({ count: Schema.Int, most: Schema.Int }).annotate({
    description: "The number of stored events and its maximum"
  })
})

const shownOf = Effect.fnUntraced(function* ({ sandbox, simulated, faults, time, rates, reset }: Controls) {
  const { nodes, channels, held, tip, feeRate, mempool, wallet, outside, events } = yield* sandbox.survey
  const lightning = {
    nodes: nodes.map(({ name, nodeId, balance }) => ({
      name,
      node_id: nodeId,
      balance_sats: Scalars.sats(balance)
    })),
    channels: channels.map(({ peer, local, remote }) => ({
      peer,
      local_sats: Scalars.sats(local),
      remote_sats: Scalars.sats(remote)
    })),
    held_count: held.count,
    held_payments: held.payments.map(({ direction, paymentHash, amount }) => ({
      direction,
      payment_hash: paymentHash,
      amount_sats: Scalars.sats(amount)
    }))
  }
  const chain = {
    height: tip.height,
    block_hash: tip.hash,
    fee_rate: feeRate,
    mempool_count: mempool.count,
    mempool: mempool.transactions.map(({ txId, feeSats, virtualSize }) => ({
      chain_tx_id: txId,
      fee_sats: Number(feeSats),
      virtual_bytes: virtualSize
    })),
    wallet_sats: Scalars.sats(wallet),
    outside_sats: Scalars.sats(outside)
  }
  return {
    id: reset?.id() ?? null,
    clock: {
      now: Scalars.instant(yield* Clock.currentTimeMillis),
      ahead_seconds: (time?.aheadMillis() ?? 0) / 1000
    },
    faults: (yield* faults.all).map(faultOf),
    lightning: simulated.lightning ? lightning : null,
    chain: simulated.chain ? chain : null,
    rates:
      rates === undefined
        ? null
        : Object.fromEntries(fiats.map((fiat) => [fiat, Decimal.format(rates.prices[fiat])])),
    events: { count: events, most: maxEvents }
  }
})

const world = Section.company(
  HttpApiEndpoint.get("world", "/sandbox/world", {
    success: Envelope.success(200, Shown),
    error: Errors.of("malformed")
  })
    .annotate(OpenApi.Summary, "Get the state of the simulated world")
    .annotate(
      OpenApi.Description,
      "Returns the nodes and their balances, held payments, the chain and its mempool, rates, faults and the clock."
    )
    .annotate(Example, ({ millis, paid, companyId }) => ({
      message: "World",
      data: {
        id: companyId,
        clock: { now: Scalars.instant(millis(0)), ahead_seconds: 0 },
        faults: [],
        lightning: {
          nodes: [{ name: "us", node_id: paid.nodeId, balance_sats: 9_800_000_000 }],
          channels: [{ peer: "harbor", local_sats: 4_900_000_000, remote_sats: 5_100_000_000 }],
          held_count: 1,
          held_payments: [{ direction: "out", payment_hash: paid.paymentHash, amount_sats: 3000 }]
        },
        chain: {
          height: 110,
          block_hash: "00".repeat(32),
          fee_rate: 2,
          mempool_count: 0,
          mempool: [],
          wallet_sats: 1_000_000_000,
          outside_sats: 50_000_000_000
        },
        rates: { usd: "50000" },
        events: { count: 12, most: maxEvents }
      }
    })),
  Playing,
  (controls) => () => Effect.map(shownOf(controls), (data) => Envelope.ok("World", data))
)

const reset = Section.operator(
  HttpApiEndpoint.post("resetSandbox", "/sandbox/reset", {
    payload: Schema.Struct({
      sandbox: Schema.NonEmptyString.annotate({
        description: "`id` of the sandbox, from `GET /sandbox/world`"
      })
    }).annotate({ identifier: "SandboxReset" }),
    success: Envelope.success(200, Schema.Struct({ deletes: Schema.Array(Text) })),
    error
  })
    .annotate(OpenApi.Summary, "Reset the sandbox")
    .annotate(
      OpenApi.Description,
      "Stops the service, deletes the sandbox and its embedded database with every company, key and entry, and starts the service again at the same address. Available only if everything is simulated and `DATABASE_URL` is not set. The new sandbox has a different id, so a repeated request deletes nothing."
    )
    .annotate(Example, ({ companyId }) => ({
      body: { sandbox: companyId },
      message: "Resetting",
      data: { deletes: [...Reset.deleted] }
    })),
  Playing,
  ({ reset }) =>
    Effect.fnUntraced(function* ({ payload: { sandbox }, request }) {
      yield* may(reset !== undefined, request)
      if (reset !== undefined)
        yield* Effect.mapError(reset.begin(sandbox), () =>
          Errors.failure(
            "sandbox_refused",
            "This sandbox has a different id (see /sandbox/world). It may have been reset already"
          )
        )
      return Envelope.ok("Resetting", { deletes: [...Reset.deleted] })
    })
)

export const operations = [begin, end, clock, world, reset] as const
