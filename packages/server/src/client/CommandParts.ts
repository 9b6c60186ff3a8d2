import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type * as Operator from "./Operator.ts"

// What commands that ask a running service are made of.

/** Asks a route and prints what it answers. */
export const call = (...ask: Parameters<typeof Operator.call>) =>
  Effect.flatMap(
    Effect.promise(() => import("./Operator.ts")),
    ({ call }) => call(...ask)
  )

/** Asks a list and prints its rows. */
export const list = (...ask: Parameters<typeof Operator.list>) =>
  Effect.flatMap(
    Effect.promise(() => import("./Operator.ts")),
    ({ list }) => list(...ask)
  )

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the data as one line of JSON, for programs"),
  Flag.withDefault(false)
)

/** Which page of a list. */
export const paging = {
  limit: Flag.Int("limit").pipe(Flag.withDescription("How many rows at most, 1 to 1000; 100 by default"), Flag.optional),
  after: Flag.String("after").pipe(Flag.withDescription("What the page before printed as the place to go on"), Flag.optional)
}

const units = { s: 1, m: 60, h: 3600, d: 86_400 } as const
type Unit = keyof typeof units
const isUnit = (text: string): text is Unit => Object.hasOwn(units, text)

/** A time such as 90s, 15m, 1h or 2d, in seconds; a number alone is of seconds. */
export const secondsOf = (text: string): Option.Option<number> => {
  const [, count, unit = ""] = /^(\d{1,10})([a-z]?)$/.exec(text) ?? []
  if (count === undefined) return Option.none()
  return unit === "" ? Option.some(Number(count)) : isUnit(unit) ? Option.some(Number(count) * units[unit]) : Option.none()
}

/** A time on the command line, in seconds. */
export const duration = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}: such as 90s, 15m, 1h or 2d`),
    Flag.filterMap(secondsOf, (text) => `Expected a time such as 90s, 15m, 1h or 2d, got ${text}`),
    Flag.optional
  )

export const company = Argument.String("company").pipe(Argument.withDescription("The company's id"))
export const key = Argument.String("key").pipe(Argument.withDescription("The key's id, the 12 characters in its middle"))

export const name = Flag.String("name").pipe(Flag.withDescription("A display name; required"))

export const example = (command: string, description: string) => Command.withExamples([{ command: `satrail ${command}`, description }])

/** Where a company is. */
export const of = (company: string) => `/operator/companies/${encodeURIComponent(company)}`

/** Where a key is. */
export const ofKey = (key: string) => `/operator/api-keys/${encodeURIComponent(key)}`

/** What is separated by commas. */
export const listed = (text: string) => text.split(",").map((one) => one.trim())
