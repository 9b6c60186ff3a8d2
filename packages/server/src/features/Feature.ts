import type { Command } from "effect/cli"
import type { Kind } from "./Look.ts"

/** The groups of the help that features add commands to. */
export type Group = "Companies" | "A company's own" | "Stop" | "What waits" | "The books" | "Told to operators"

/** What a feature is on the command line. It has what it names, and nothing of the rest. */
export interface Feature {
  /** What `companies look` shows of it. */
  readonly look?: { readonly [what: string]: Kind }
  /** Its commands. Each asks a running service. */
  readonly commands?: { readonly [group in Group]?: ReadonlyArray<Command.Command.Any> }
}

export const make = <const F extends Feature>(feature: F): F => feature

/** The commands of these features. */
export type CommandOf<F> = F extends { readonly commands: infer C } ? (C[keyof C] extends ReadonlyArray<infer One> ? One : never) : never
