import * as Network from "@satrail/bitcoin/Network"
import * as Channels from "@satrail/core/nodes/Channels"
import * as Core from "@satrail/core/reports/reconciliation/Liquidity"
import type { Channels as Counts } from "@satrail/core/nodes/LightningBooks"
import { all as features } from "../features/core.ts"
import * as Whole from "@satrail/core/service/Status"
import { Clock, Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Described, type Description } from "@satrail/http/api/Described"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import { type Look, Looks } from "@satrail/http/api/Readiness"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import * as Warnings from "@satrail/http/resources/Warnings"

const Said = (description: string) => Schema.NullOr(Schema.String.annotate({ description }))
const Seconds = (description: string) =>
  Schema.Finite.annotate({ description: `${description}, in seconds; 0 if none` })

interface Found extends Whole.Standing {
  readonly warnings: ReadonlyArray<Channels.Warning>
  readonly description: Description
  readonly looks: ReadonlyArray<Look>
  readonly nowMillis: number
}

const ageOf = (sinceMillis: number | null, nowMillis: number): number =>
  Math.max(0, nowMillis - (sinceMillis ?? nowMillis)) / 1000

const check = View.make<Look>()(
  { identifier: "StatusCheck" },
  {
    name: Member.text((look) => look.name),
    reason: [Said("Reason for the failure; null if none"), (look) => look.reason ?? null]
  }
)

const role = View.make<Whole.Role & { readonly nowMillis: number }>()(
  { identifier: "StatusRole" },
  {
    role: Member.text((one) => one.role, "Leader role, held by one process at a time"),
    held_until: [
      Schema.NullOr(Scalars.Instant).annotate({
        description: "End of the current lease, which its holder renews; null if no process holds it"
      }),
      ({ untilMillis, nowMillis }) => (untilMillis > nowMillis ? Scalars.instant(untilMillis) : null)
    ],
    claims: [
      Schema.Int.annotate({ description: "Number of times a process claimed the lease" }),
      ({ claims }) => claims
    ]
  }
)

const measured = features.flatMap(({ name, lag }) => (lag === undefined ? [] : [{ name, about: lag.about }]))
const lag = View.make<Whole.Lag & { readonly nowMillis: number }>()(
  { identifier: "StatusLag" },
  {
    feature: [
      Schema.String.annotate({
        description: ["The feature", ...measured.map(({ name, about }) => `\`${name}\`: ${about}`)].join(". ")
      }),
      ({ feature }) => feature
    ],
    lag_seconds: [
      Seconds("Age of its oldest waiting work"),
      ({ sinceMillis, nowMillis }) => ageOf(sinceMillis, nowMillis)
    ]
  }
)

const view = View.make<Found>()(
  { identifier: "Status" },
  {
    version: [Said("Version of this process"), ({ description }) => description.version ?? null],
    network: [Network.Network, ({ network }) => network],
    database: [
      Said("Type and location of the database, without the password"),
      ({ description }) => description.database ?? null
    ],
    node: [Said("Type and location of the node"), ({ description }) => description.node ?? null],
    node_id: Member.text(({ nodeId }) => nodeId, "The node's public key"),
    chain: [Said("Source of blocks, and the wallet file"), ({ description }) => description.chain ?? null],
    rates: [Said("Source of exchange rates"), ({ description }) => description.rates ?? null],
    rates_at: [
      Schema.NullOr(Scalars.Instant).annotate({
        description: "Time of the oldest rate in use; null if none"
      }),
      ({ rates }) =>
        rates.length === 0 ? null : Scalars.instant(Math.min(...rates.map(({ atMillis }) => atMillis)))
    ],
    checks: [Schema.Array(check.schema), ({ looks }) => looks.map(check.of)],
    warnings: [
      Schema.Array(Warnings.view.schema).annotate({
        description: "Problems with the Lightning channels; empty if none are known"
      }),
      ({ warnings }) => warnings.map(Warnings.view.of)
    ],
    roles: [
      Schema.Array(role.schema),
      ({ roles, nowMillis }) => roles.map((one) => role.of({ ...one, nowMillis }))
    ],
    events_lag_seconds: [
      Seconds(
        "Age of the oldest event that is not visible yet because an earlier transaction is still running"
      ),
      ({ eventsSinceMillis, nowMillis }) => ageOf(eventsSinceMillis, nowMillis)
    ],
    lags: [
      Schema.Array(lag.schema).annotate({ description: "Delays of features" }),
      ({ lags, nowMillis }) => lags.map((one) => lag.of({ ...one, nowMillis }))
    ]
  }
)

const status = Section.operator(
  HttpApiEndpoint.get("status", "/operator/status", {
    success: Envelope.success(200, view.schema),
    error: Errors.of("store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get the system status")
    .annotate(
      OpenApi.Description,
      "Returns the backends of this process, the `/readyz` checks, problems with the channels, the holder of each leader role, and the delays of events and features."
    )
    .annotate(Example, (world: World) => ({
      message: "Status",
      data: view.of({
        description: {
          version: "0.1.0",
          database: "PostgreSQL at db.example.com:5432/satrail",
          node: "lnd at https://127.0.0.1:8080",
          chain: "bitcoind at http://127.0.0.1:8332, wallet in wallet.json",
          rates: "the median of public tickers"
        },
        network: world.network,
        nodeId: world.asked.nodeId,
        looks: [
          { name: "store", reason: undefined },
          { name: "node", reason: "lnd is locked" }
        ],
        warnings: [],
        roles: [{ role: "chain", untilMillis: world.millis(6000), claims: 3 }],
        rates: [],
        eventsSinceMillis: null,
        lags: measured.map(({ name }) => ({ feature: name, sinceMillis: null })),
        nowMillis: world.millis()
      })
    })),
  Effect.all([Whole.Status, Looks, Channels.Channels, Described]),
  ([{ now }, looks, channels, description]) =>
    Effect.fnUntraced(function* () {
      const [standing, found, warnings] = yield* Effect.all(
        [
          Errors.answered(now),
          Effect.all([...looks.values()], { concurrency: "unbounded" }),
          channels.warnings
        ],
        { concurrency: "unbounded" }
      )
      return Envelope.ok(
        "Status",
        view.of({
          ...standing,
          description,
          looks: found,
          warnings,
          nowMillis: yield* Clock.currentTimeMillis
        })
      )
    })
)

const countsOf = (channels: Counts | undefined) => {
  if (channels === undefined) return null
  const { forceClosing, ...others } = channels
  return { ...others, force_closing: forceClosing }
}

const liquidityView = View.make<Core.Standing>()(
  { identifier: "Liquidity" },
  {
    node_id: Member.text(({ nodeId }) => nodeId, "The node's public key"),
    outgoing_sats: [
      Schema.NullOr(
        Scalars.ExactSats.annotate({
          description: "Current local balance of all channels, including reserves"
        })
      ),
      ({ channels }) => Scalars.exactSatsOrNull(channels?.outgoing ?? null)
    ],
    incoming_sats: [
      Schema.NullOr(Scalars.ExactSats.annotate({ description: "Current remote balance of all channels" })),
      ({ channels }) => Scalars.exactSatsOrNull(channels?.incoming ?? null)
    ],
    channels: [
      Schema.NullOr(
        Schema.Struct({
          active: Schema.Int,
          inactive: Schema.Int,
          opening: Schema.Int,
          closing: Schema.Int,
          force_closing: Schema.Int
        }).annotate({ description: "Number of channels by state" })
      ),
      ({ channels }) => countsOf(channels?.channels)
    ],
    wallet_sats: [
      Schema.NullOr(
        Scalars.ExactSats.annotate({ description: "Balance of the hot wallet at the last reconciliation" })
      ),
      ({ wallet }) => Scalars.exactSatsOrNull(wallet?.owned ?? null)
    ],
    wallet_at: Member.instantOrNull(({ wallet }) => wallet?.atMillis ?? null),
    spent_sats: [
      Schema.NullOr(
        Scalars.ExactSats.annotate({
          description: "Amount sent from the hot wallet since `spent_since`, including fees"
        })
      ),
      ({ wallet }) => Scalars.exactSatsOrNull(wallet?.spent ?? null)
    ],
    spent_since: Member.instantOrNull(
      ({ wallet }) => wallet?.sinceMillis ?? null,
      "Start of the measured period: 30 days ago, or the first reconciliation if later"
    ),
    days_left: [
      Schema.NullOr(Schema.Finite).annotate({
        description:
          "Days until the hot wallet is empty at the current rate of spending; null if nothing was spent, or if the measured period is shorter than a day",
        examples: [41.5]
      }),
      ({ wallet }) => (wallet === null || wallet.days === null ? null : Math.round(wallet.days * 10) / 10)
    ]
  }
)

const liquidity = Section.operator(
  HttpApiEndpoint.get("liquidity", "/operator/liquidity", {
    success: Envelope.success(200, liquidityView.schema),
    error: Errors.of("store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get liquidity")
    .annotate(
      OpenApi.Description,
      "Returns how much can be sent and received. The channels are as reported by the node, or null if it does not respond within two seconds or reports no balances (`LND_BOOKS_MACAROON`). The hot wallet is as of the last reconciliation, or null before the first run."
    )
    .annotate(Example, (world: World) => ({
      message: "Liquidity",
      data: liquidityView.of({
        nodeId: world.asked.nodeId,
        channels: {
          outgoing: world.asked.amount,
          incoming: world.paid.amount,
          channels: { active: 2, inactive: 0, opening: 1, closing: 0, forceClosing: 0 }
        },
        wallet: {
          atMillis: world.millis(),
          owned: world.asked.amount,
          spent: world.paid.amount,
          sinceMillis: world.millis(-86_400_000),
          days: 7
        }
      })
    })),
  Core.Liquidity,
  ({ now }) =>
    () =>
      Effect.map(Errors.answered(now), (found) => Envelope.ok("Liquidity", liquidityView.of(found)))
)

export const section = Section.make(
  "status",
  { title: "Status", description: "For the operator: backends, leader roles and liquidity" },
  [status, liquidity]
)
