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
import { Side } from "./Side.ts"

/** A line of the node's books or of ours that differs, or has not ended: it is looked at again. */
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

/** A line of the node's books. */
export type Theirs = Extract<Watched, { readonly _tag: "Sent" | "Taken" }>

export const isTheirs = (line: Watched): line is Theirs => line._tag === "Sent" || line._tag === "Taken"

/** A line that was compared, and what that came to. */
export interface Judged {
  readonly line: Watched
  readonly judgement: Judgement
}

/** What a comparison came to, and where the next one goes on. */
export const Look = Schema.Struct({
  atMillis: Schema.Int,
  node: Side,
  chain: Side,
  tally: Tally.Tally,
  /** Everything that differs, also what may still be on its way. */
  found: Schema.Array(Difference),
  /** Not everything was read: there was more than one comparison reads. What is unexplained of the node's balance is then not known, and 0. */
  isBehind: Schema.Boolean,
  watched: Schema.Array(Watched),
  /** What had left the wallet by a few earlier comparisons; nothing where an earlier version wrote it. */
  marks: Schema.optionalKey(Schema.Array(Runway.Mark)),
  /** What the node has listed by then; nothing where an earlier version wrote it. */
  listed: Schema.optionalKey(Listed.Listed),
  places: Schema.Struct({
    sent: Schema.NullOr(Schema.String),
    taken: Schema.NullOr(Schema.String),
    event: Schema.BigIntFromString,
    /** The deposit up to which evicted ones were looked up, from the newest on. */
    givenUp: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
})
export interface Look extends Schema.Schema.Type<typeof Look> {}

const source = "reconciliation"
const Text = Schema.fromJsonString(Look)

/** The last comparison, by whichever process. One that another version wrote in other words is none: then it begins anew. */
export const last: Effect.Effect<Option.Option<Look>, StoreUnavailable, LedgerReads> = Effect.gen(function* () {
  return Option.flatMap(yield* (yield* LedgerReads).cursor(source), Schema.decodeUnknownOption(Text))
})

/** What has ever left the wallet, by this comparison. */
export const markOf = ({ atMillis, tally }: Pick<Look, "atMillis" | "tally">): Runway.Mark => ({ atMillis, out: tally.accounts.chain.into })

/** How it is stored, for the next run and for every reader. */
export const kept = (look: Look) => ({ source, value: Schema.encodeSync(Text)(look) })

const key = ({ cause, about }: Found): string => `${cause} ${about}`

/** A comparison as it would have been, had the node listed by then what it has listed since. */
export const corrected = (look: Look, items: ReadonlyArray<Own>): Look =>
  Listed.explain(look.node, items) ? { ...look, found: look.found.filter(({ cause }) => cause !== "node_balance") } : look

/** What was found at `nowMillis`, each since the comparison that found it first. */
export const dated = (found: ReadonlyArray<Found>, before: Look | undefined, nowMillis: number): ReadonlyArray<Difference> => {
  const since = new Map(before?.found.map((difference) => [key(difference), difference.sinceMillis]))
  return found.map((one) => ({ ...one, sinceMillis: since.get(key(one)) ?? nowMillis }))
}

/** What a line of the node's books is known by: the payment hash, or the attempt to pay an offer. */
export const keyOf = (line: Theirs): string => ("attempt" in line ? line.attempt : undefined) ?? line.paymentHash

const aboutOf = (line: Watched): string => ("paymentHash" in line ? line.paymentHash : line.id)

/** The lines that the next comparison looks at again, and what differs in them. What has differed for `forgetMillis` is forgotten. */
export const open = (
  lines: ReadonlyArray<Judged>,
  before: Look | undefined,
  { nowMillis, forgetMillis }: { readonly nowMillis: number; readonly forgetMillis: number }
): Pick<Look, "watched" | "found"> => {
  const open = lines.flatMap(({ line, judgement }) => {
    if (judgement === "same") return []
    if (judgement === "under_way") return [{ line, found: [] }]
    const found = dated([{ ...judgement, about: aboutOf(line) }], before, nowMillis)
    return found.every(({ sinceMillis }) => nowMillis - sinceMillis < forgetMillis) ? [{ line, found }] : []
  })
  return { watched: open.map(({ line }) => line), found: open.flatMap(({ found }) => found) }
}

/** What had differed for long enough by then, the oldest first. */
export const differences = ({ atMillis, found }: Look, graceMillis: number): ReadonlyArray<Difference> =>
  found.filter(({ sinceMillis }) => atMillis - sinceMillis >= graceMillis).toSorted((a, b) => a.sinceMillis - b.sinceMillis)

/** Those of them that had not by the comparison before. */
export const newDifferences = (look: Look, before: Look | undefined, graceMillis: number): ReadonlyArray<Difference> => {
  const known = new Set(before === undefined ? [] : differences(before, graceMillis).map(key))
  return differences(look, graceMillis).filter((difference) => !known.has(key(difference)))
}
