import { Config, Console, Effect } from "effect"
import { problemsOf } from "../environment/Setting.ts"
import { CommandFailed } from "../base/CommandFailed.ts"

/** A value in a line: what has members is JSON. */
const cell = (value: unknown): string => {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ")
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)
}

/** `name: value` lines, for people; of a list a line for each. */
export const forPeople = (message: string, data: unknown): string => {
  const lines =
    typeof data !== "object" || data === null
      ? []
      : Array.isArray(data)
        ? data.map((one: unknown) => `  ${Object.values(Object(one)).map(cell).join("  ")}`)
        : Object.entries(data).map(([name, value]) => `  ${name.padEnd(12)} ${cell(value)}`)
  return [message, ...lines].join("\n")
}

/** What went wrong, and what that came from: the last is what a person can act on, such as ECONNREFUSED. */
export const reasonsOf = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof Config.ConfigError) return problemsOf(error)
  if (!(error instanceof Error)) return []
  // A host name with several addresses fails with one error for each.
  const causes: ReadonlyArray<unknown> = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(error.message === "" ? [] : [error.message]), ...causes.flatMap(reasonsOf)]
}

/** The error of a command that did not get to do what it was asked. */
export const failed = (error: unknown): CommandFailed => new CommandFailed({ message: reasonsOf(error).join("\n  ") })

/** Says on standard error why a command was not carried out, and ends with 1. */
export const explain = (error: unknown): Effect.Effect<void> =>
  Effect.andThen(
    Console.error(reasonsOf(error).join("\n")),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

/** What a command that found something wrong ends with: it did what it was asked, and that is no success. */
export const wrongCode = 2

export const somethingIsWrong = Effect.sync(() => {
  process.exitCode = wrongCode
})

/** An amount in sats, for people. */
export const sats = (amount: number | null): string => (amount === null ? "-" : String(amount))

/** Columns that stand below each other. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows.reduce<ReadonlyArray<number>>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd()).join("\n")
}

/** Rows of a list, with the named members in that order. Nothing is a dash. */
export const rows = (data: unknown, members: ReadonlyArray<string>): string =>
  !Array.isArray(data) || data.length === 0
    ? "  none"
    : table([members, ...data.map((row: unknown) => members.map((member) => cell(Reflect.get(Object(row), member) ?? "-")))])
