import { Effect } from "effect"
import { type Check, warning } from "../base/Check.ts"
import type * as Setting from "../environment/Setting.ts"

/** A limitation or an untested property of a node or a block source, and what the operator can do about it. */
export interface Caveat {
  readonly says: string
  readonly remedy: string
}

/** A backend as it appears in the settings, the checks and the documentation. */
export interface Entry {
  /** The value of the setting, such as `lnd`. */
  readonly name: string
  readonly title: string
  /** The prefix of the backend's settings, such as `LND_`. An unknown variable with this prefix prevents startup. */
  readonly prefix: string
  /** The backend's settings, in the order of the documentation. */
  readonly settings: Setting.Settings
  /** The versions and setups that the backend was tested with, for the documentation. */
  readonly proof: string
  /** Limitations and untested properties. They are reported at startup and by `satrail check`. */
  readonly caveats: ReadonlyArray<Caveat>
}

export const unproven = ({ caveats }: Entry, subject: string): ReadonlyArray<Check> =>
  caveats.length === 0
    ? []
    : [{ subject, lines: Effect.succeed(caveats.map(({ says, remedy }) => warning(says, remedy))) }]
