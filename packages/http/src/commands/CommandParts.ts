import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "./Client.ts"

// Parts of commands that call a running service.

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON"),
  Flag.withDefault(false)
)

/** Returns a handler that is loaded on demand. */
export const later =
  <I, A, E, R>(load: () => Promise<(input: I) => Effect.Effect<A, E, R>>) =>
  (input: I) =>
    Effect.flatMap(Effect.promise(load), (run) => run(input))

type Calls = Client["Service"]

/** Calls a route and prints the response. */
export const call = (...ask: Parameters<Calls["call"]>) => Effect.flatMap(Client, ({ call }) => call(...ask))

/** Defines a command that only needs an argument, which is part of the route. */
export const action = <const Name extends string>(
  name: Name,
  argument: Argument.Argument<string>,
  method: "GET" | "POST" | "DELETE",
  route: (argument: string) => string,
  description: string
) =>
  Command.make(name, { argument, json }, ({ argument, json }) =>
    call({ json }, method, route(argument))
  ).pipe(Command.withDescription(description))

/** Defines a command that ends the access of a key or person, and can also void its links. */
export const ending = <const Name extends string>(
  name: Name,
  argument: Argument.Argument<string>,
  route: (argument: string) => string,
  description: string
) =>
  Command.make(
    name,
    {
      argument,
      json,
      voidsLinks: Flag.Boolean("void-links").pipe(
        Flag.withDescription("Also cancel the open vouchers and refund links that the key or person created"),
        Flag.withDefault(false)
      )
    },
    ({ argument, json, voidsLinks }) =>
      call({ json }, "DELETE", `${route(argument)}${voidsLinks ? "?links=void" : ""}`)
  ).pipe(Command.withDescription(description))

/** Like `call`, but adds the company's id to the body. */
export const callFor = (company: string, ...[options, method, route, body]: Parameters<Calls["call"]>) =>
  Effect.flatMap(Client, ({ call, companyId }) =>
    Effect.flatMap(companyId(company), (company_id) => call(options, method, route, { ...body, company_id }))
  )

/** Returns the id of a company given by name or shortened id, for a query. */
export const companyIdOf = (company: Option.Option<string>) =>
  Option.isNone(company)
    ? Effect.succeed(company)
    : Effect.flatMap(Client, ({ companyId }) => Effect.asSome(companyId(company.value)))

/** Reads a list and prints its rows. */
export const list = (...ask: Parameters<Calls["list"]>) => Effect.flatMap(Client, ({ list }) => list(...ask))

/** Prints a route's response as it arrives. */
export const print = (route: string) => Effect.flatMap(Client, ({ print }) => print(route))

/** Prints a list, or writes it to a file, which appears only when it is complete. */
export const save = (...ask: Parameters<Calls["save"]>) => Effect.flatMap(Client, ({ save }) => save(...ask))

export const paging = {
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("Maximum rows, 1 to 1000; 100 by default"),
    Flag.optional
  ),
  after: Flag.String("after").pipe(Flag.withDescription("The cursor from the previous page"), Flag.optional)
}

const units = { s: 1, m: 60, h: 3600, d: 86_400 } as const
type Unit = keyof typeof units
const isUnit = (text: string): text is Unit => Object.hasOwn(units, text)

/** Parses a duration such as 90s, 15m, 1h or 2d into seconds. A number without a unit is in seconds. */
export const secondsOf = (text: string): Option.Option<number> => {
  const [, count, unit = ""] = /^(\d{1,10})([a-z]?)$/.exec(text) ?? []
  if (count === undefined) return Option.none()
  return unit === ""
    ? Option.some(Number(count))
    : isUnit(unit)
      ? Option.some(Number(count) * units[unit])
      : Option.none()
}

/** Defines a flag for a duration, parsed into seconds. */
export const duration = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description}, such as 90s, 15m, 1h or 2d`),
    Flag.filterMap(secondsOf, (text) => `Expected a duration such as 90s, 15m, 1h or 2d, got ${text}`),
    Flag.optional
  )

/** Defines the flag that makes a command safe to repeat. */
export const idempotencyKey = (record: string) =>
  Flag.String("idempotency-key").pipe(
    Flag.withDescription(
      `If a response is lost, repeat the command with the same key to get the same ${record}`
    ),
    Flag.optional
  )

export const company = Argument.String("company").pipe(
  Argument.withDescription("The company's name, or the beginning of its id")
)
export const key = Argument.String("key").pipe(
  Argument.withDescription("The key's id (the 12 characters in the middle of the key)")
)

export const name = Flag.String("name").pipe(Flag.withDescription("A display name; required"))

export const example = (command: string, description: string) =>
  Command.withExamples([{ command: `satrail ${command}`, description }])

/** Returns a company's path. */
export const of = (company: string) => `/operator/companies/${encodeURIComponent(company)}`

/** Returns the id in a full API key. Never returns a secret, because ids are part of URLs, logs and messages. */
export const idIn = (text: string): string => {
  const [prefix = "", _, id = ""] = text.split("_")
  return text === prefix || (prefix !== "sr" && prefix !== "op") ? text : id === "" ? prefix : id
}

/** Returns a key's path. */
export const ofKey = (key: string) => `/operator/api-keys/${encodeURIComponent(idIn(key))}`

export const listed = (text: string) => text.split(",").map((one) => one.trim())
