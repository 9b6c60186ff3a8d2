import type * as Msat from "@satrail/bitcoin/Msat"
import type { ChangeOf, Feature as OfCore } from "@satrail/core/ledger/Feature"
import type { Noun, Row } from "@satrail/core/ledger/Noun"
import type * as Written from "@satrail/core/ledger/Written"
import type { Deposit } from "@satrail/core/receiving/Deposit"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import type { Change } from "@satrail/core/service/Changes"
import type { Random } from "@satrail/testing/Random"
import type { Act } from "../plot/Operation.ts"
import type { Crash } from "../plot/Scenes.ts"

/** Whether stories bring a kind of Change about, or why they cannot. */
export type How = "happens" | { readonly never: string }

/** The kinds that may move money: all but those whose type has no postings. */
export type Moving<C extends { readonly _tag: string }> = C extends { readonly legs: ReadonlyArray<never> } ? never : C["_tag"]

/** What came to a company, and what left it. */
export interface Moved {
  readonly deposits: ReadonlyArray<Deposit>
  readonly withdrawals: ReadonlyArray<Withdrawal>
}

/** A record that has a status, and what holds of it in every story. Said here again, whatever its declaration says. */
interface Checks<A> {
  readonly kind: string
  /** What may follow what. What is not here ends it. */
  readonly moves: { readonly [from: string]: ReadonlyArray<string> }
  /** Statuses that end it though another may follow. */
  readonly rests?: ReadonlyArray<string>
  /** The last notice of a record that has ended. */
  readonly told: { readonly [status: string]: RegExp }
  /** What it holds of its company's money, as it is. */
  readonly held: (row: A) => Msat.Msat
  /** The withdrawal that it became: what was asked for is this record, and not that one. */
  readonly became: (row: A) => string | null
  /** The metadata of whoever asked for it; null where it pays what something else was asked for. */
  readonly asked: (row: A) => { readonly [key: string]: unknown } | null
  /** What it came to. */
  readonly ending: (row: A) => string
  /** What holds of all of them and the rest of their company, at any moment, and when nothing happens any more. */
  readonly fits?: (rows: ReadonlyArray<A>, company: Moved) => void
  readonly ended?: (rows: ReadonlyArray<A>, company: Moved) => void
}

type Standing = Row & { readonly status: string; readonly updatedAtMillis: number }

export interface Record extends Checks<Standing> {
  readonly noun: Noun<Standing>
}

export const record = <A extends Standing>(noun: Noun<A>, checks: Checks<A>): Record =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- what is checked was read as this noun's
  ({ noun, ...checks }) as unknown as Record

/** Hears of what was committed, with the request of a customer that it was done for. */
export type Listener = (change: Change, asking: number | null) => void

/** The key that a request of a customer came with. */
export type KeyOf = (asking: number) => string | undefined

/** A request that was refused. `asking` tells it from others. */
export interface Refused {
  readonly path: string
  readonly asking: number
  readonly body: unknown
}

/** Returns whether a refused request may have applied a Change of this kind. */
export type Excuses = (hear: (listener: Listener) => void) => (tag: string, refused: Refused) => boolean

export interface Feature {
  readonly changes: { readonly [tag: string]: How }
  readonly records?: ReadonlyArray<Record>
  /** What holds of every withdrawal at any moment. */
  readonly withdrawal?: (row: Withdrawal) => void
  /** Checks the Changes in the order in which they were applied. */
  readonly listener?: (keyOf: KeyOf) => Listener
  /** Checks a Change alone. */
  readonly change?: (change: Change) => void
  readonly excuses?: Excuses
  /** Transitions that stories bring about: `voucher: open to claimed`. */
  readonly transitions?: ReadonlyArray<string>
  readonly limits?: {
    /** Changes that are counted against limits, and those that give it back. */
    readonly counts: ReadonlyArray<string>
    readonly returns: ReadonlyArray<string>
    /** The record that a Change holds money for, by its kind, where that is not the one that it is about. */
    readonly holders?: { readonly [tag: string]: (change: Written.Any) => string | undefined }
    /** What is counted under another id from here on. */
    readonly became?: (change: Written.Any) => readonly [id: string, was: string] | undefined
  }
}

/** What a Change holds. */
export const heldBy = ({ legs }: Change): bigint => {
  let held = 0n
  for (const { postings } of legs) for (const { to, amount } of postings) if (to === "held") held += amount
  return held
}

/** A feature in stories: every kind of its Changes that may move money has its place in `changes`. */
export const make =
  <const F extends OfCore>(_: F) =>
  <const S extends Feature & { readonly changes: { readonly [tag in Moving<ChangeOf<F>>]: How } }>(story: S): S =>
    story

/** What a feature has happen. */
export interface Stories {
  /** Operations that are dangerous together. One that is named twice is twice as likely. */
  readonly recipes: ReadonlyArray<(random: Random) => ReadonlyArray<Act>>
  /** Short stories in which each call goes wrong. */
  readonly crashes: { readonly [name: string]: Crash }
}
