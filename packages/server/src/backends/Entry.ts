import { Effect } from "effect"
import { type Check, warning } from "../base/Check.ts"
import type * as Setting from "../environment/Setting.ts"

/** A capability that was not shown for a node or a block source, and what the operator can do about it. */
export interface Caveat {
  readonly says: string
  readonly remedy: string
}

/** An alternative in the settings, the checks and the documentation. */
export interface Entry {
  /** The value of the setting, such as `lnd`. */
  readonly name: string
  /** The name shown to people. */
  readonly title: string
  /** The prefix of its settings, such as `LND_`. Any other variable with this prefix stops the start. */
  readonly prefix: string
  /** In the order of the documentation. */
  readonly settings: Setting.Settings
  /** The versions and setups it was shown to work with, for the documentation. */
  readonly proof: string
  /** Capabilities that were never shown. They are reported at startup and by `satrail check`. */
  readonly caveats: ReadonlyArray<Caveat>
}

/** The caveats of an entry, as `satrail check` shows them. */
export const unproven = ({ caveats }: Entry, subject: string): ReadonlyArray<Check> =>
  caveats.length === 0 ? [] : [{ subject, lines: Effect.succeed(caveats.map(({ says, remedy }) => warning(says, remedy))) }]
