import * as Tally from "@satrail/core/ledger/Tally"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { Cause, type Difference } from "@satrail/core/reconciliation/Difference"
import { Reconciliation, type Report } from "@satrail/core/reconciliation/Reconciliation"
import type { Side } from "@satrail/core/reconciliation/Side"
import { Effect, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { OperatorAuthentication } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Wire from "./Wire.ts"

/** How many differences are shown one by one, the oldest first. All are counted. */
export const maxShown = 100

const Sats = Schema.Finite.annotate({ description: "Satoshis, to three decimals", examples: [21_000.125] })
const SatsOrNull = Schema.NullOr(Sats)

const SideRecord = Schema.Struct({
  owned_sats: Sats.annotate({ description: "What node or chain say that we own" }),
  own_sats: SatsOrNull.annotate({ description: "What of that is the operator's own; null until that is known" }),
  ledger_sats: Sats.annotate({ description: "What our books say came in and has not gone out" }),
  on_its_way_sats: Schema.Tuple([Sats, Sats]).annotate({
    description: "By how much what is on its way may explain a difference: from, to"
  }),
  unexplained_sats: Sats.annotate({ description: "The rest: less than nothing where something is missing" })
}).annotate({ identifier: "ReconciledAsset" })

const side = ({ owned, own, ledger, least, most, unexplained }: Side): typeof SideRecord.Type => ({
  owned_sats: Wire.satsAndMsats(owned),
  own_sats: Wire.satsOrNothing(own),
  ledger_sats: Wire.satsAndMsats(ledger),
  on_its_way_sats: [Wire.satsAndMsats(least), Wire.satsAndMsats(most)],
  unexplained_sats: Wire.satsAndMsats(unexplained)
})

const DifferenceRecord = Schema.Struct({
  cause: Cause,
  about: Schema.String.annotate({ description: "A payment hash, a record of ours, a coin, or an account" }),
  company_id: Schema.NullOr(Wire.Uuid),
  record_id: Schema.NullOr(Wire.Uuid).annotate({ description: "The withdrawal or the invoice" }),
  ours_sats: SatsOrNull.annotate({ description: "What our books have; null where they have nothing" }),
  theirs_sats: SatsOrNull.annotate({ description: "What the node or the chain have; null where they have nothing" }),
  since: Wire.Instant
}).annotate({ identifier: "Difference" })

const difference = (one: Difference): typeof DifferenceRecord.Type => ({
  cause: one.cause,
  about: one.about,
  company_id: one.companyId,
  record_id: one.recordId,
  ours_sats: Wire.satsOrNothing(one.ours),
  theirs_sats: Wire.satsOrNothing(one.theirs),
  since: Wire.instant(one.sinceMillis)
})

const WaitingRecord = Schema.Struct({
  count: Schema.Int,
  oldest_at: Schema.NullOr(Wire.Instant),
  amount_sats: Sats.annotate({ description: "With fees" })
}).annotate({ identifier: "Waiting" })

const Accounts = Schema.Struct(Tally.byAccount(() => Sats)).annotate({
  identifier: "Accounts",
  description: "What is in each account of the ledger, as in a trial balance: together nothing"
})

const ReportRecord = Schema.Struct({
  reconciled_at: Wire.Instant,
  is_behind: Schema.Boolean.annotate({ description: "There was more than one comparison reads: the next goes on in a moment" }),
  assets_sats: Sats.annotate({ description: "What node and wallet own" }),
  liabilities_sats: Sats.annotate({ description: "What all companies own together" }),
  node: SideRecord,
  chain: SideRecord,
  accounts: Accounts,
  differences_by_cause: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "How many there are; a cause without any is left out"
  }),
  differences: Schema.Array(DifferenceRecord).annotate({ description: `The ${maxShown} oldest` })
}).annotate({ identifier: "ReconciliationReport" })

/** How many there are of each cause that there are any of. */
export const countByCause = (differences: ReadonlyArray<Pick<Difference, "cause">>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { cause } of differences) counts[cause] = (counts[cause] ?? 0) + 1
  return counts
}

const report = (one: Report): typeof ReportRecord.Type => ({
  reconciled_at: Wire.instant(one.atMillis),
  is_behind: one.isBehind,
  assets_sats: Wire.satsAndMsats(one.assets),
  liabilities_sats: Wire.satsAndMsats(one.liabilities),
  node: side(one.node),
  chain: side(one.chain),
  accounts: Tally.byAccount((account) => Wire.satsAndMsats(one.accounts[account])),
  differences_by_cause: countByCause(one.differences),
  differences: one.differences.slice(0, maxShown).map(difference)
})

const ReconciliationRecord = Schema.Struct({
  report: Schema.NullOr(ReportRecord).annotate({ description: "null where nobody has ever compared" }),
  waiting: Schema.Struct(Waiting.byKind(() => WaitingRecord)).annotate({ description: "What waits now, and since when" })
}).annotate({ identifier: "Reconciliation" })

const OwnFundsRecord = Schema.Struct({ node_sats: SatsOrNull, chain_sats: SatsOrNull }).annotate({ identifier: "OwnFunds" })

const path = "/operator/reconciliation"

const reconciliation = HttpApiEndpoint.get("reconciliation", path, {
  success: Envelope.success(200, ReconciliationRecord),
  error: Errors.of("store_unavailable")
})
  .annotate(OpenApi.Summary, "Whether our books agree with the node's and the chain's")
  .annotate(
    OpenApi.Description,
    "The last comparison, whichever process made it, and what waits now. What is on its way is no difference; what is reported has stood for a while. Nothing is ever repaired by itself."
  )

const stateOwnFunds = HttpApiEndpoint.put("stateOwnFunds", `${path}/own-funds`, {
  payload: Schema.Struct({ node_sats: Field.given(Field.ExactSats), chain_sats: Field.given(Field.ExactSats) }).annotate({
    identifier: "StateOwnFunds"
  }),
  success: Envelope.success(200, OwnFundsRecord),
  error: Errors.of("malformed", "store_unavailable")
})
  .annotate(OpenApi.Summary, "State what is the operator's own")
  .annotate(
    OpenApi.Description,
    "What of the node's money and the wallet's is the operator's, besides what the ledger knows of. What is absent stays as it was. Counts from the next comparison on."
  )

/** For whoever answers for the money. */
export class Group extends HttpApiGroup.make("reconciliation")
  .add(reconciliation, stateOwnFunds)
  .middleware(Decoding)
  .middleware(OperatorAuthentication)
  .annotate(OpenApi.Title, "Reconciliation")
  .annotate(OpenApi.Description, "Our books, compared with the node's and the chain's") {}

export const layer = Handlers.layer(
  base.add(Group),
  "reconciliation",
  Effect.fnUntraced(function* (handlers) {
    const { last, waiting, stateOwnFunds } = yield* Reconciliation

    return handlers.handleAll({
      reconciliation: Effect.fnUntraced(function* () {
        const found = Option.getOrUndefined(yield* Errors.answered(last))
        const all = yield* Errors.answered(waiting)
        const waits = Waiting.byKind((kind) => {
          const { count, oldestAtMillis, amount } = all[kind]
          return { count, oldest_at: Wire.instantOrNull(oldestAtMillis), amount_sats: Wire.satsAndMsats(amount) }
        })
        const message =
          found === undefined
            ? "No comparison has been made yet: no process reads the node's books, or the first one is still to come"
            : found.differences.length === 0
              ? "No differences"
              : "There are differences"
        return Envelope.ok(message, { report: found === undefined ? null : report(found), waiting: waits })
      }),
      stateOwnFunds: Effect.fnUntraced(function* ({ payload }) {
        const { node, chain } = yield* Errors.answered(
          stateOwnFunds({ node: payload.node_sats ?? null, chain: payload.chain_sats ?? null })
        )
        return Envelope.ok("Own funds stated", { node_sats: Wire.satsOrNothing(node), chain_sats: Wire.satsOrNothing(chain) })
      })
    })
  })
)
