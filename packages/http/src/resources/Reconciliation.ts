import * as Msat from "@satrail/bitcoin/Msat"
import * as Tally from "@satrail/core/ledger/Tally"
import { Backlog } from "@satrail/core/reports/reconciliation/Backlog"
import { Cause, type Difference } from "@satrail/core/reports/reconciliation/Difference"
import { Reconciliation, type Report } from "@satrail/core/reports/reconciliation/Reconciliation"
import type { Side } from "@satrail/core/reports/reconciliation/Side"
import { Effect, Option, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"
import * as OperatorBacklog from "./OperatorBacklog.ts"

/** How many differences are shown one by one, the oldest first. All are counted. */
export const maxShown = 100

const Sats = Schema.Finite.annotate({ description: "Satoshis, to three decimals", examples: [21_000.125] })
const SatsOrNull = Schema.NullOr(Sats)

const side = View.make<Side>()(
  { identifier: "ReconciledAsset" },
  {
    owned_sats: [Sats.annotate({ description: "Balance by the node or the chain" }), ({ owned }) => Scalars.exactSats(owned)],
    own_sats: [
      SatsOrNull.annotate({ description: "Operator equity; null until it is determined" }),
      ({ own }) => Scalars.exactSatsOrNull(own)
    ],
    ledger_sats: [
      Sats.annotate({ description: "Balance by the ledger: received and not sent" }),
      ({ ledger }) => Scalars.exactSats(ledger)
    ],
    on_its_way_sats: [
      Schema.Tuple([Sats, Sats]).annotate({ description: "The range of differences that money in flight may explain: from, to" }),
      ({ least, most }) => [Scalars.exactSats(least), Scalars.exactSats(most)] as const
    ],
    unexplained_sats: [
      Sats.annotate({ description: "The unexplained rest: negative where money is missing" }),
      ({ unexplained }) => Scalars.exactSats(unexplained)
    ]
  }
)

const difference = View.make<Difference>()(
  { identifier: "Difference" },
  {
    cause: [Cause, (one) => one.cause],
    about: [Schema.String.annotate({ description: "A payment hash, a record of ours, a coin, or an account" }), (one) => one.about],
    company_id: [Schema.NullOr(Scalars.Uuid), (one) => one.companyId],
    record_id: [Schema.NullOr(Scalars.Uuid).annotate({ description: "The withdrawal or the invoice" }), (one) => one.recordId],
    ours_sats: [
      SatsOrNull.annotate({ description: "The ledger's amount; null without a record" }),
      (one) => Scalars.exactSatsOrNull(one.ours)
    ],
    theirs_sats: [
      SatsOrNull.annotate({ description: "The node's or the chain's amount; null without a record" }),
      (one) => Scalars.exactSatsOrNull(one.theirs)
    ],
    since: [Scalars.Instant, (one) => Scalars.instant(one.sinceMillis)]
  }
)

const Accounts = Schema.Struct(Tally.byAccount(() => Sats)).annotate({
  identifier: "Accounts",
  description: "The balance of each ledger account, as in a trial balance: their sum is 0"
})

/** How many there are of each cause that there are any of. */
export const countByCause = (differences: ReadonlyArray<Pick<Difference, "cause">>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { cause } of differences) counts[cause] = (counts[cause] ?? 0) + 1
  return counts
}

const report = View.make<Report>()(
  { identifier: "ReconciliationReport" },
  {
    reconciled_at: [Scalars.Instant, (one) => Scalars.instant(one.atMillis)],
    is_behind: [
      Schema.Boolean.annotate({ description: "There is more than one run reads: the next one continues in a moment" }),
      (one) => one.isBehind
    ],
    assets_sats: [Sats.annotate({ description: "What node and wallet own" }), (one) => Scalars.exactSats(one.assets)],
    liabilities_sats: [Sats.annotate({ description: "Balances of all companies together" }), (one) => Scalars.exactSats(one.liabilities)],
    node: [side.schema, (one) => side.of(one.node)],
    on_chain: [side.schema, (one) => side.of(one.chain)],
    forwarding_sats: [
      Sats.annotate({ description: "What the node earned by forwarding payments of others, as it lists them: a part of `node.own_sats`" }),
      ({ listed }) => Scalars.exactSats(listed.forwarding)
    ],
    channel_costs_sats: [
      Sats.annotate({
        description:
          "What closing channels by agreement cost, as the node lists it: fees, and on lnd less the 660 sats of anchors that each gives back. A part of `node.own_sats`, which is less by it"
      }),
      ({ listed }) => Scalars.exactSats(Msat.make(-listed.channels))
    ],
    accounts: [Accounts, (one) => Tally.byAccount((account) => Scalars.exactSats(one.accounts[account]))],
    differences_by_cause: [
      Schema.Record(Schema.String, Schema.Int).annotate({
        description: "Number of discrepancies by cause; a cause without any is left out"
      }),
      (one) => countByCause(one.differences)
    ],
    differences: [
      Schema.Array(difference.schema).annotate({ description: `The ${maxShown} oldest` }),
      (one) => one.differences.slice(0, maxShown).map(difference.of)
    ]
  }
)

const Answer = Schema.Struct({
  report: Schema.NullOr(report.schema).annotate({ description: "null before the first run" }),
  waiting: OperatorBacklog.Kinds.annotate({
    description: "The backlog: jobs and records that wait, and their age"
  })
}).annotate({ identifier: "Reconciliation" })

const OwnFunds = Schema.Struct({ node_sats: SatsOrNull, on_chain_sats: SatsOrNull }).annotate({ identifier: "OwnFunds" })

const path = "/operator/reconciliation"

const get = Section.operator(
  HttpApiEndpoint.get("reconciliation", path, {
    success: Envelope.success(200, Answer),
    error: Errors.of("store_unavailable")
  })
    .annotate(OpenApi.Summary, "Fetch the reconciliation report")
    .annotate(
      OpenApi.Description,
      "The report of the last run, of any process, and the current backlog. Money in flight is no discrepancy; a reported one has lasted for a while. Nothing is repaired automatically."
    ),
  Effect.all([Reconciliation, Backlog]),
  ([{ last }, { all }]) =>
    Effect.fnUntraced(function* () {
      const found = Option.getOrUndefined(yield* Errors.answered(last))
      const waiting = OperatorBacklog.kindsOf(yield* Errors.answered(all))
      const message =
        found === undefined
          ? "No reconciliation run yet: no process reads the node's statement, or the first run is still to come"
          : found.differences.length === 0
            ? "No differences"
            : "There are differences"
      return Envelope.ok(message, { report: found === undefined ? null : report.of(found), waiting })
    })
)

const stateOwn = Section.operator(
  HttpApiEndpoint.patch("stateOwnFunds", `${path}/own-funds`, {
    payload: Schema.Struct({
      node_sats: Scalars.given(Scalars.GivenExactSats),
      on_chain_sats: Scalars.given(Scalars.GivenExactSats)
    }).annotate({ identifier: "StateOwnFunds" }),
    success: Envelope.success(200, OwnFunds),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "State what is the operator's own")
    .annotate(
      OpenApi.Description,
      "Declares how much of the money of node and wallet is operator equity, apart from the ledger. A member that is left out stays as it was. Effective from the next run on."
    )
    .annotate(Example, () => {
      const sats = { node_sats: 10_000_000, on_chain_sats: 1_000_000 }
      return { body: sats, message: "Own funds stated", data: sats }
    }),
  Reconciliation,
  ({ stateOwnFunds }) =>
    Effect.fnUntraced(function* ({ payload }) {
      const stated = stateOwnFunds({ node: payload.node_sats ?? null, chain: payload.on_chain_sats ?? null })
      const { node, chain } = yield* Errors.answered(stated)
      return Envelope.ok("Own funds stated", { node_sats: Scalars.exactSatsOrNull(node), on_chain_sats: Scalars.exactSatsOrNull(chain) })
    })
)

/** For the operator. */
export const section = Section.make(
  "reconciliation",
  { title: "Reconciliation", description: "The ledger compared with the statements of node and chain" },
  [get, stateOwn]
)
