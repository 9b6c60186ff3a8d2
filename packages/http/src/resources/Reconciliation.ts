import * as Tally from "@satrail/core/ledger/Tally"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { Cause, type Difference } from "@satrail/core/reconciliation/Difference"
import { Reconciliation, type Report } from "@satrail/core/reconciliation/Reconciliation"
import type { Side } from "@satrail/core/reconciliation/Side"
import { Effect, Option, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Envelope from "../Envelope.ts"
import * as Errors from "../Errors.ts"
import { Example } from "../Examples.ts"
import * as Scalars from "../Scalars.ts"
import * as Section from "../Section.ts"
import * as View from "../View.ts"

/** How many differences are shown one by one, the oldest first. All are counted. */
export const maxShown = 100

const Sats = Schema.Finite.annotate({ description: "Satoshis, to three decimals", examples: [21_000.125] })
const SatsOrNull = Schema.NullOr(Sats)

const side = View.make<Side>()(
  { identifier: "ReconciledAsset" },
  {
    owned_sats: [Sats.annotate({ description: "What node or chain say that we own" }), ({ owned }) => Scalars.exactSats(owned)],
    own_sats: [
      SatsOrNull.annotate({ description: "What of that is the operator's own; null until that is known" }),
      ({ own }) => Scalars.exactSatsOrNull(own)
    ],
    ledger_sats: [
      Sats.annotate({ description: "What our books say came in and has not gone out" }),
      ({ ledger }) => Scalars.exactSats(ledger)
    ],
    on_its_way_sats: [
      Schema.Tuple([Sats, Sats]).annotate({ description: "By how much what is on its way may explain a difference: from, to" }),
      ({ least, most }) => [Scalars.exactSats(least), Scalars.exactSats(most)] as const
    ],
    unexplained_sats: [
      Sats.annotate({ description: "The rest: less than nothing where something is missing" }),
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
      SatsOrNull.annotate({ description: "What our books have; null where they have nothing" }),
      (one) => Scalars.exactSatsOrNull(one.ours)
    ],
    theirs_sats: [
      SatsOrNull.annotate({ description: "What the node or the chain have; null where they have nothing" }),
      (one) => Scalars.exactSatsOrNull(one.theirs)
    ],
    since: [Scalars.Instant, (one) => Scalars.instant(one.sinceMillis)]
  }
)

const backlog = View.make<Waiting.Waiting>()(
  { identifier: "Waiting" },
  {
    count: [Schema.Int, ({ count }) => count],
    oldest_at: [Schema.NullOr(Scalars.Instant), ({ oldestAtMillis }) => Scalars.instantOrNull(oldestAtMillis)],
    amount_sats: [Sats.annotate({ description: "With fees" }), ({ amount }) => Scalars.exactSats(amount)]
  }
)

const Accounts = Schema.Struct(Tally.byAccount(() => Sats)).annotate({
  identifier: "Accounts",
  description: "What is in each account of the ledger, as in a trial balance: together nothing"
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
      Schema.Boolean.annotate({ description: "There was more than one comparison reads: the next goes on in a moment" }),
      (one) => one.isBehind
    ],
    assets_sats: [Sats.annotate({ description: "What node and wallet own" }), (one) => Scalars.exactSats(one.assets)],
    liabilities_sats: [Sats.annotate({ description: "What all companies own together" }), (one) => Scalars.exactSats(one.liabilities)],
    node: [side.schema, (one) => side.of(one.node)],
    chain: [side.schema, (one) => side.of(one.chain)],
    accounts: [Accounts, (one) => Tally.byAccount((account) => Scalars.exactSats(one.accounts[account]))],
    differences_by_cause: [
      Schema.Record(Schema.String, Schema.Int).annotate({ description: "How many there are; a cause without any is left out" }),
      (one) => countByCause(one.differences)
    ],
    differences: [
      Schema.Array(difference.schema).annotate({ description: `The ${maxShown} oldest` }),
      (one) => one.differences.slice(0, maxShown).map(difference.of)
    ]
  }
)

const Answer = Schema.Struct({
  report: Schema.NullOr(report.schema).annotate({ description: "null where nobody has ever compared" }),
  waiting: Schema.Struct(Waiting.byKind(() => backlog.schema)).annotate({ description: "What waits now, and since when" })
}).annotate({ identifier: "Reconciliation" })

const OwnFunds = Schema.Struct({ node_sats: SatsOrNull, chain_sats: SatsOrNull }).annotate({ identifier: "OwnFunds" })

const path = "/operator/reconciliation"

const get = Section.operator(
  HttpApiEndpoint.get("reconciliation", path, {
    success: Envelope.success(200, Answer),
    error: Errors.of("store_unavailable")
  })
    .annotate(OpenApi.Summary, "Whether our books agree with the node's and the chain's")
    .annotate(
      OpenApi.Description,
      "The last comparison, whichever process made it, and what waits now. What is on its way is no difference; what is reported has stood for a while. Nothing is ever repaired by itself."
    ),
  Reconciliation,
  ({ last, waiting }) =>
    Effect.fnUntraced(function* () {
      const found = Option.getOrUndefined(yield* Errors.answered(last))
      const all = yield* Errors.answered(waiting)
      const message =
        found === undefined
          ? "No comparison has been made yet: no process reads the node's books, or the first one is still to come"
          : found.differences.length === 0
            ? "No differences"
            : "There are differences"
      const waits = Waiting.byKind((kind) => backlog.of(all[kind]))
      return Envelope.ok(message, { report: found === undefined ? null : report.of(found), waiting: waits })
    })
)

const stateOwn = Section.operator(
  HttpApiEndpoint.put("stateOwnFunds", `${path}/own-funds`, {
    payload: Schema.Struct({
      node_sats: Scalars.given(Scalars.GivenExactSats),
      chain_sats: Scalars.given(Scalars.GivenExactSats)
    }).annotate({ identifier: "StateOwnFunds" }),
    success: Envelope.success(200, OwnFunds),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "State what is the operator's own")
    .annotate(
      OpenApi.Description,
      "What of the node's money and the wallet's is the operator's, besides what the ledger knows of. What is absent stays as it was. Counts from the next comparison on."
    )
    .annotate(Example, () => {
      const sats = { node_sats: 10_000_000, chain_sats: 1_000_000 }
      return { body: sats, message: "Own funds stated", data: sats }
    }),
  Reconciliation,
  ({ stateOwnFunds }) =>
    Effect.fnUntraced(function* ({ payload }) {
      const stated = stateOwnFunds({ node: payload.node_sats ?? null, chain: payload.chain_sats ?? null })
      const { node, chain } = yield* Errors.answered(stated)
      return Envelope.ok("Own funds stated", { node_sats: Scalars.exactSatsOrNull(node), chain_sats: Scalars.exactSatsOrNull(chain) })
    })
)

/** For whoever answers for the money. */
export const section = Section.make(
  "reconciliation",
  { title: "Reconciliation", description: "Our books, compared with the node's and the chain's" },
  [get, stateOwn]
)
