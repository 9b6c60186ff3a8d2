import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Effect, Option, Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import * as Tally from "../../ledger/Tally.ts"
import type { Own } from "../../nodes/LightningBooks.ts"
import { Difference, type Found, type Judgement } from "./Difference.ts"
import * as Listed from "./Listed.ts"
import * as Runway from "./Runway.ts"
import { AssetBalance } from "./AssetBalance.ts"

/** An entry in the node's books or in ours that is checked again, because it differs or is not final. */
const Watched = Schema.TaggedUnion({
  Sent: {
    paymentHash: PaymentHash.PaymentHash,
    attempt: Schema.optionalKey(Schema.String),
    amount: Msat.FromString,
    fee: Msat.FromString,
    state: Schema.Literals(["pending", "settled", "failed"])
  },
  Taken: { paymentHash: PaymentHash.PaymentHash, received: Msat.FromString },
  Withdrawal: { companyId: CompanyId.CompanyId, id: Schema.String },
  Invoice: { companyId: CompanyId.CompanyId, id: Schema.String }
})
export type Watched = typeof Watched.Type

/** An entry in the node's books. */
export type Theirs = Extract<Watched, { readonly _tag: "Sent" | "Taken" }>

export const isTheirs = (line: Watched): line is Theirs => line._tag === "Sent" || line._tag === "Taken"

/** An entry with the result of its comparison. */
export interface Judged {
  readonly line: Watched
  readonly judgement: Judgement
}

/** Result of a reconciliation run, and where the next run resumes. */
export const Run = Schema.Struct({
  atMillis: Schema.Int,
  node: AssetBalance,
  chain: AssetBalance,
  tally: Tally.Tally,
  /** All differences, including those that payments in flight may have caused. */
  found: Schema.Array(Difference),
  /**
   * True if some entries were not read, because there were more than the maximum per run. The node's
   * unexplained amount is then unknown and stored as 0.
   */
  isBehind: Schema.Boolean,
  watched: Schema.Array(Watched),
  /** Totals sent from the wallet, as of a few earlier runs. Absent if an earlier version stored the run. */
  marks: Schema.optionalKey(Schema.Array(Runway.Mark)),
  /** Totals listed by the node so far. Absent if an earlier version stored the run. */
  listed: Schema.optionalKey(Listed.Listed),
  places: Schema.Struct({
    sent: Schema.NullOr(Schema.String),
    taken: Schema.NullOr(Schema.String),
    event: Schema.BigIntFromString,
    /** The last evicted deposit that was looked up. Evicted deposits are looked up newest first. */
    givenUp: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
})
export interface Run extends Schema.Schema.Type<typeof Run> {}

const source = "reconciliation"
const Text = Schema.fromJsonString(Run)

/**
 * Reads the last run of any process. Returns none if another version stored the run in a different format;
 * reconciliation then starts over.
 */
export const last: Effect.Effect<Option.Option<Run>, StoreUnavailable, LedgerReads> = Effect.gen(
  function* () {
    return Option.flatMap(yield* (yield* LedgerReads).cursor(source), Schema.decodeUnknownOption(Text))
  }
)

/** Returns the total ever sent from the wallet, as of this run. */
export const markOf = ({ atMillis, tally }: Pick<Run, "atMillis" | "tally">): Runway.Mark => ({
  atMillis,
  out: tally.accounts.chain.into
})

/** Returns the cursor that stores a run for the next run and for readers. */
export const kept = (run: Run) => ({ source, value: Schema.encodeSync(Text)(run) })

const key = ({ cause, about }: Found): string => `${cause} ${about}`

/** Removes the finding about the node's balance if it is explained by items that the node has listed since the run. */
export const corrected = (run: Run, items: ReadonlyArray<Own>): Run =>
  Listed.explain(run.node, items)
    ? { ...run, found: run.found.filter(({ cause }) => cause !== "node_balance") }
    : run

/** Adds to each finding the time of the run that first found it, or now if the clock was ahead then. */
export const dated = (
  found: ReadonlyArray<Found>,
  before: Run | undefined,
  nowMillis: number
): ReadonlyArray<Difference> => {
  const since = new Map(before?.found.map((difference) => [key(difference), difference.sinceMillis]))
  return found.map((one) => ({ ...one, sinceMillis: Math.min(since.get(key(one)) ?? nowMillis, nowMillis) }))
}

/** Identifies an entry in the node's books by its payment hash, or by its attempt if an offer was paid. */
export const keyOf = (line: Theirs): string =>
  ("attempt" in line ? line.attempt : undefined) ?? line.paymentHash

const aboutOf = (line: Watched): string => ("paymentHash" in line ? line.paymentHash : line.id)

/**
 * Returns the entries that the next run checks again, and their discrepancies. A discrepancy that was older than
 * `forgetMillis` in the previous run is dropped, so that one found before a long outage is still reported.
 */
export const open = (
  lines: ReadonlyArray<Judged>,
  before: Run | undefined,
  { nowMillis, forgetMillis }: { readonly nowMillis: number; readonly forgetMillis: number }
): Pick<Run, "watched" | "found"> => {
  const beforeMillis = Math.min(before?.atMillis ?? nowMillis, nowMillis)
  const open = lines.flatMap(({ line, judgement }) => {
    if (judgement === "same") return []
    if (judgement === "under_way") return [{ line, found: [] }]
    const found = dated([{ ...judgement, about: aboutOf(line) }], before, nowMillis)
    return found.every(({ sinceMillis }) => beforeMillis - sinceMillis < forgetMillis)
      ? [{ line, found }]
      : []
  })
  return { watched: open.map(({ line }) => line), found: open.flatMap(({ found }) => found) }
}

/** Returns the discrepancies older than the grace period, oldest first. */
export const differences = ({ atMillis, found }: Run, graceMillis: number): ReadonlyArray<Difference> =>
  found
    .filter(({ sinceMillis }) => atMillis - sinceMillis >= graceMillis)
    .toSorted((a, b) => a.sinceMillis - b.sinceMillis)

/** Returns the discrepancies that the previous run did not report. */
export const newDifferences = (
  run: Run,
  before: Run | undefined,
  graceMillis: number
): ReadonlyArray<Difference> => {
  const known = new Set(before === undefined ? [] : differences(before, graceMillis).map(key))
  return differences(run, graceMillis).filter((difference) => !known.has(key(difference)))
}
