import { Config, Console, Effect } from "effect"
import { problemsOf } from "../environment/Setting.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"

// Characters that a terminal acts on, such as line breaks and escapes, and those that change the direction of text.
const active = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Escapes active characters. Otherwise a payer's comment could rewrite or forge what an operator sees. */
const inert = (text: string): string =>
  text.replaceAll(active, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Formats a value in words: the fields of an object and the items of a list, separated by commas. */
const words = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "-"
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map(words).join(value.some(isRecord) ? "; " : ", ")
  if (!isRecord(value)) return String(value)
  const fields = Object.entries(value).filter(([, one]) => one !== null)
  return fields.length === 0
    ? "none"
    : fields.map(([name, one]) => `${name} ${isRecord(one) ? `(${words(one)})` : words(one)}`).join(", ")
}

/** Formats a value for a line of text, without JSON. */
export const cell = (value: unknown): string => inert(words(value))

/** Formats a field: on one line, or for an object, with a line for each of its fields below. */
const field = ([name, value]: readonly [string, unknown], indent: string): ReadonlyArray<string> =>
  isRecord(value) && Object.keys(value).length > 0
    ? [`${indent}${name}`, ...Object.entries(value).flatMap((one) => field(one, `${indent}  `))]
    : [`${indent}${name.padEnd(12)} ${cell(value)}`]

/** Formats a response as human-readable text: a line per field, or a table of a list's items. */
export const forPeople = (message: string, data: unknown): string => {
  const lines =
    typeof data !== "object" || data === null
      ? []
      : Array.isArray(data)
        ? [data.every(isRecord) ? rows(data, Object.keys(Object(data[0]))) : `  ${cell(data)}`]
        : Object.entries(data).flatMap((one) => field(one, "  "))
  return [message, ...lines].join("\n")
}

/** Whether a message names only the failed call, so that the reason is in the cause. */
const isGeneric = (message: string): boolean =>
  message === "" || message === "fetch failed" || message.startsWith("Transport error (")

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
  return [...(isGeneric(message) ? [] : [message]), ...new Set(causes.flatMap(reasonsOf))].filter(
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
