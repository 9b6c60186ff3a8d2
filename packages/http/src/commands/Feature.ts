import type { Option } from "effect"
import type { Command, Flag } from "effect/cli"
import type { Listed } from "./Collections.ts"
import type { Listing } from "./Listing.ts"
import type { Trigger } from "./SandboxSteps.ts"

/** The groups in the help text to which features can add commands. */
export type Group =
  | "Companies"
  | "Company records"
  | "Pauses and limits"
  | "Pending work"
  | "Ledger"
  | "Notifications"

/** A feature's part of the command line. All fields are optional. */
export interface Feature {
  /** The lists that `companies look` shows. */
  readonly listings?: { readonly [what: string]: Listing }
  /** The feature's commands. Each calls a running service. */
  readonly commands?: { readonly [group in Group]?: ReadonlyArray<Command.Command.Any> }
  /** The lists of the feature's records, in which shortened ids are looked up. */
  readonly collections?: { readonly [route: string]: Listed }
  /** The feature's events that `satrail trigger` can cause. */
  readonly triggers?: ReadonlyArray<Trigger>
  /** The options that the feature adds to the command `verify` (see the server's verifications.ts). */
  readonly verifyFlags?: { readonly [option: string]: Flag.Flag<Option.Option<string>> }
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The commands of these features. */
export type CommandOf<F> = F extends { readonly commands: infer C }
  ? C[keyof C] extends ReadonlyArray<infer One>
    ? One
    : never
  : never
