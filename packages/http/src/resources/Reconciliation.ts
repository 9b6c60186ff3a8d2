import * as Msat from "@satrail/bitcoin/Msat"
import type * as Waiting from "@satrail/core/ledger/Waiting"
import * as Tally from "@satrail/core/ledger/Tally"
import { Backlog } from "@satrail/core/reports/reconciliation/Backlog"
import { Cause, type Difference } from "@satrail/core/reports/reconciliation/Difference"
import { Reconciliation, type Report } from "@satrail/core/reports/reconciliation/Reconciliation"
import type { AssetBalance } from "@satrail/core/reports/reconciliation/AssetBalance"
import { Effect, Option, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as OperatorBacklog from "./OperatorBacklog.ts"

/** Maximum number of discrepancies listed, oldest first. All are counted. */
export const maxShown = 100

const SatsOrNull = Schema.NullOr(Scalars.ExactSats)

const side = View.make<AssetBalance>()(
  { identifier: "ReconciledAsset" },
  {
    owned_sats: Member.exactSats(({ owned }) => owned, "Balance reported by the node or the chain"),
    own_sats: Member.exactSatsOrNull(({ own }) => own, "Operator equity; null until determined"),
    ledger_sats: Member.exactSats(({ ledger }) => ledger, "Balance in the ledger: received minus sent"),
    on_its_way_sats: [
      Schema.Tuple([Scalars.ExactSats, Scalars.ExactSats]).annotate({
        description: "Range of differences that money in flight can explain, from lowest to highest"
      }),
      ({ least, most }) => [Scalars.exactSats(least), Scalars.exactSats(most)] as const
    ],
    unexplained_sats: Member.exactSats(
      ({ unexplained }) => unexplained,
      "Unexplained difference; negative if money is missing"
    )
  }
)

const difference = View.make<Difference>()(
  { identifier: "Difference" },
  {
    cause: [Cause, (one) => one.cause],
    about: Member.text((one) => one.about, "Subject: a payment hash, record, coin or account"),
    company_id: Member.uuidOrNull((one) => one.companyId),
    record_id: Member.uuidOrNull((one) => one.recordId, "Id of the withdrawal or invoice"),
    ours_sats: Member.exactSatsOrNull((one) => one.ours, "Amount in the ledger; null if there is no record"),
    theirs_sats: Member.exactSatsOrNull(
      (one) => one.theirs,
      "Amount reported by the node or the chain; null if there is no record"
    ),
    since: Member.instant((one) => one.sinceMillis)
  }
)

const Accounts = Schema.Struct(Tally.byAccount(() => Scalars.ExactSats)).annotate({
  identifier: "Accounts",
  description: "Balance of each ledger account (trial balance). Their sum is 0"
})

/** Counts discrepancies by cause. Causes without any are omitted. */
export const countByCause = (
  differences: ReadonlyArray<Pick<Difference, "cause">>
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { cause } of differences) counts[cause] = (counts[cause] ?? 0) + 1
  return counts
}

const report = View.make<Report>()(
  { identifier: "ReconciliationReport" },
  {
    reconciled_at: Member.instant((one) => one.atMillis),
    is_behind: [
      Schema.Boolean.annotate({
        description: "Whether there was more to read than one run can process. The next run continues shortly"
      }),
      (one) => one.isBehind
    ],
    is_outdated: [
      Schema.Boolean.annotate({
        description:
          "Whether the next runs did not take place, so that the report says nothing about the time since"
      }),
      (one) => one.isOutdated
    ],
    assets_sats: Member.exactSats((one) => one.assets, "Balances of the node and the wallet"),
    liabilities_sats: Member.exactSats((one) => one.liabilities, "Balances of all companies together"),
    node: [side.schema, (one) => side.of(one.node)],
    on_chain: [side.schema, (one) => side.of(one.chain)],
    forwarding_sats: Member.exactSats(
      ({ listed }) => listed.forwarding,
      "Fees earned by forwarding payments, as listed by the node. Part of `node.own_sats`"
    ),
    channel_costs_sats: Member.exactSats(
      ({ listed }) => Msat.make(-listed.channels),
      "Cost of cooperative channel closes, as listed by the node: fees, minus the 660 sats that lnd returns per anchor. Deducted from `node.own_sats`"
    ),
    accounts: [Accounts, (one) => Tally.byAccount((account) => Scalars.exactSats(one.accounts[account]))],
    differences_by_cause: [
      Schema.Record(Schema.String, Schema.Int).annotate({
        description: "Number of discrepancies by cause. Causes without any are omitted"
      }),
      (one) => countByCause(one.differences)
    ],
    differences: [
      Schema.Array(difference.schema).annotate({ description: `The ${maxShown} oldest discrepancies` }),
      (one) => one.differences.slice(0, maxShown).map(difference.of)
    ],
    unconfirmed: [
      Schema.Int.annotate({
        description: "Number of recent differences. The next run reports those that persist as discrepancies"
      }),
      (one) => one.unconfirmed
    ],
    confirmed_at: Member.instantOrNull(
      (one) => one.confirmedAtMillis,
      "Expected time of that run; null if there are none"
    )
  }
)

/** Says "No differences" only if everything was read recently and no difference is left to be confirmed. */
const messageOf = (report: Report): string =>
  report.isOutdated
    ? `Outdated: no comparison since ${Scalars.instant(report.atMillis)}. Check whether the node and the chain respond. Result then: ${resultOf(report)}`
    : resultOf(report)

const resultOf = ({ differences, unconfirmed, confirmedAtMillis, isBehind }: Report): string => {
  const told =
    differences.length > 0
      ? "There are differences"
      : `No differences${isBehind ? " in the records read so far" : ""}`
  if (confirmedAtMillis === null) return told
  const recent = `${unconfirmed} ${differences.length > 0 ? "more " : ""}${unconfirmed === 1 ? "difference" : "differences"}`
  const open = `${recent} to be confirmed by the comparison at ${Scalars.instant(confirmedAtMillis)}`
  return differences.length > 0 ? `${told}, and ${open}` : open
}

const answerOf = (kinds: ReadonlyArray<Waiting.Kind>) =>
  Schema.Struct({
    report: Schema.NullOr(report.schema).annotate({
      description: "Time of the last run; null before the first"
    }),
    waiting: OperatorBacklog.schemaOf(kinds).annotate({
      description: "Backlog: pending jobs and records, and their ages"
    })
  }).annotate({ identifier: "Reconciliation" })

const OwnFunds = Schema.Struct({ node_sats: SatsOrNull, on_chain_sats: SatsOrNull }).annotate({
  identifier: "OwnFunds"
})

const path = "/operator/reconciliation"

const get = (kinds: ReadonlyArray<Waiting.Kind>) =>
  Section.operator(
    HttpApiEndpoint.get("reconciliation", path, {
      success: Envelope.success(200, answerOf(kinds)),
      error: Errors.of("store_unavailable")
    })
      .annotate(OpenApi.Summary, "Get the reconciliation report")
      .annotate(
        OpenApi.Description,
        "Returns the report of the last run by any process, and the current backlog. Money in flight is not reported as a discrepancy; a discrepancy is reported only after it has persisted. Nothing is repaired automatically."
      ),
    Effect.all([Reconciliation, Backlog]),
    ([{ last }, { all }]) =>
      Effect.fnUntraced(function* () {
        const found = Option.getOrUndefined(yield* Errors.answered(last))
        const waiting = OperatorBacklog.viewOf(kinds, yield* Errors.answered(all))
        const message =
          found === undefined
            ? "No reconciliation run yet: no process can read the node's statement, or the first run is still pending"
            : messageOf(found)
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
    .annotate(OpenApi.Summary, "Set operator equity")
    .annotate(
      OpenApi.Description,
      "Declares how much of the money in the node and the wallet is operator equity, which the ledger does not record. Omitted fields keep their values. Takes effect with the next run."
    )
    .annotate(Example, () => {
      const sats = { node_sats: 10_000_000, on_chain_sats: 1_000_000 }
      return { body: sats, message: "Operator equity set", data: sats }
    }),
  Reconciliation,
  ({ stateOwnFunds }) =>
    Effect.fnUntraced(function* ({ payload }) {
      const stated = stateOwnFunds({ node: payload.node_sats ?? null, chain: payload.on_chain_sats ?? null })
      const { node, chain } = yield* Errors.answered(stated)
      return Envelope.ok("Operator equity set", {
        node_sats: Scalars.exactSatsOrNull(node),
        on_chain_sats: Scalars.exactSatsOrNull(chain)
      })
    })
)

/** The section of a service that can wait for these reasons. */
export const make = (kinds: ReadonlyArray<Waiting.Kind>) =>
  Section.make(
    "reconciliation",
    {
      title: "Reconciliation",
      description: "Comparison of the ledger with the records of the node and the chain"
    },
    [get(kinds), stateOwn]
  )
