import { Config, Console, Effect } from "effect"
import { problemsOf } from "../environment/Setting.ts"
import { CommandFailed } from "../base/CommandFailed.ts"

/** Formats a value in a line; objects as JSON. */
const cell = (value: unknown): string => {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ")
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)
}

/** Formats a response for people as `name: value` lines, or as one line per item of a list. */
export const forPeople = (message: string, data: unknown): string => {
  const lines =
    typeof data !== "object" || data === null
      ? []
      : Array.isArray(data)
        ? data.map((one: unknown) => `  ${Object.values(Object(one)).map(cell).join("  ")}`)
        : Object.entries(data).map(([name, value]) => `  ${name.padEnd(12)} ${cell(value)}`)
  return [message, ...lines].join("\n")
}

/** Returns an error's message followed by its causes. The last cause is actionable, such as ECONNREFUSED. */
export const reasonsOf = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof Config.ConfigError) return problemsOf(error)
  if (!(error instanceof Error)) return []
  // Connecting to a host with several addresses fails with one error per address.
  const causes: ReadonlyArray<unknown> = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(error.message === "" ? [] : [error.message]), ...causes.flatMap(reasonsOf)]
}

/** The error of a command that could not run. */
export const failed = (error: unknown): CommandFailed => new CommandFailed({ message: reasonsOf(error).join("\n  ") })

/** Prints on standard error why a command failed, and exits with 1. */
export const explain = (error: unknown): Effect.Effect<void> =>
  Effect.andThen(
    Console.error(reasonsOf(error).join("\n")),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

/** Exit code of a command that succeeded but found a problem. */
export const wrongCode = 2

export const somethingIsWrong = Effect.sync(() => {
  process.exitCode = wrongCode
})

/** Formats an amount in sats for people. */
export const sats = (amount: number | null): string => (amount === null ? "-" : String(amount))

/** Aligns columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows.reduce<ReadonlyArray<number>>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd()).join("\n")
}

/** Formats the rows of a list, with the named fields in that order. A missing value is a dash. */
export const rows = (data: unknown, members: ReadonlyArray<string>): string =>
  !Array.isArray(data) || data.length === 0
    ? "  none"
    : table([members, ...data.map((row: unknown) => members.map((member) => cell(Reflect.get(Object(row), member) ?? "-")))])
