import { Effect } from "effect"
import { type Check, warning } from "../base/Check.ts"
import type * as Setting from "../environment/Setting.ts"

/** What a node or a chain's source is not known to do, and what an operator makes of that. */
export interface Caveat {
  readonly says: string
  readonly remedy: string
}

/** What the settings, the checks and the documentation have of everything that can be chosen. */
export interface Entry {
  /** What the setting says, such as `lnd`. */
  readonly name: string
  /** What people call it. */
  readonly title: string
  /** How the names of its settings begin, such as `LND_`: any other variable that begins so stops the start. */
  readonly prefix: string
  /** In the order of the documentation. */
  readonly settings: Setting.Settings
  /** What it was shown to work with, for the documentation. */
  readonly proof: string
  /** What was never shown. `satrail check` and every start say so. */
  readonly caveats: ReadonlyArray<Caveat>
}

/** The caveats of an entry, as `satrail check` shows them. */
export const unproven = ({ caveats }: Entry, subject: string): ReadonlyArray<Check> =>
  caveats.length === 0 ? [] : [{ subject, lines: Effect.succeed(caveats.map(({ says, remedy }) => warning(says, remedy))) }]
