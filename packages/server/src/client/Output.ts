import { Config, Console, Effect } from "effect"
import { problemsOf } from "../environment/Setting.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"

// Characters that a terminal acts on, such as line breaks and escapes, and those that change the direction of text.
const active = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Escapes active characters. Otherwise a payer's comment could rewrite or forge what an operator sees. */
const inert = (text: string): string =>
  text.replaceAll(active, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Formats a value for a line of text. Objects are formatted as JSON. */
export const cell = (value: unknown): string => {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return inert(value.join(", "))
  return inert(typeof value === "object" && value !== null ? JSON.stringify(value) : String(value))
}

/** Formats a response as human-readable text: a line per field, or a line per item of a list. */
export const forPeople = (message: string, data: unknown): string => {
  const lines =
    typeof data !== "object" || data === null
      ? []
      : Array.isArray(data)
        ? data.map((one: unknown) => `  ${Object.values(Object(one)).map(cell).join("  ")}`)
        : Object.entries(data).map(([name, value]) => `  ${name.padEnd(12)} ${cell(value)}`)
  return [message, ...lines].join("\n")
}

/**
 * Returns an error's message, followed by those of its causes. The last one is usually the most specific, such
 * as ECONNREFUSED.
 */
export const reasonsOf = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof Config.ConfigError) return problemsOf(error)
  if (!(error instanceof Error)) return []
  // Connecting to a host with several addresses fails with one error per address.
  const causes: ReadonlyArray<unknown> = error instanceof AggregateError ? error.errors : [error.cause]
  const { message } = error
  return [...(message === "" ? [] : [message]), ...new Set(causes.flatMap(reasonsOf))].filter(
    (one, at) => at === 0 || !message.includes(one)
  )
}

/** Returns the error for a command that could not run. */
export const failed = (error: unknown): CommandFailed =>
  new CommandFailed({ message: reasonsOf(error).join("\n  ") })

/** Prints on standard error why a command failed, and exits with 1. */
export const explain = (error: unknown): Effect.Effect<void> =>
  Effect.andThen(
    Console.error(reasonsOf(error).join("\n")),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

/** The exit code of a command that succeeded but found a problem. */
export const wrongCode = 2

export const somethingIsWrong = Effect.sync(() => {
  process.exitCode = wrongCode
})

/** The exit code of a command that succeeded but could not check. */
export const uncheckedCode = 3

export const nothingIsChecked = Effect.sync(() => {
  process.exitCode = uncheckedCode
})

export const sats = (amount: number | null): string => (amount === null ? "-" : String(amount))

export const table = (written: ReadonlyArray<ReadonlyArray<string>>): string => {
  const rows = written.map((row) => row.map(inert))
  const widths = rows.reduce<ReadonlyArray<number>>(
    (most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)),
    []
  )
  return rows
    .map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd())
    .join("\n")
}

/** Formats a list as a table with the named fields, in that order. A missing value becomes a dash. */
export const rows = (data: unknown, members: ReadonlyArray<string>): string =>
  !Array.isArray(data) || data.length === 0
    ? "  none"
    : table([
        members,
        ...data.map((row: unknown) => members.map((member) => cell(Reflect.get(Object(row), member) ?? "-")))
      ])
