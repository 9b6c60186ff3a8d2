import { type Config, Context, Effect, type Option, Schema } from "effect"
import { CommandFailed } from "./CommandFailed.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Fields of a body. An option that was not given is left out. */
export type Body = Readonly<Record<string, unknown>>

/** Query parameters. An option that was not given is left out. */
export type Query = Readonly<Record<string, Option.Option<string | number>>>

type Failure = CommandFailed | Config.ConfigError

/** What commands use to call a running service. The program that runs them provides it. */
export class Client extends Context.Service<
  Client,
  {
    /** Calls a route. A shortened id in the route is completed. */
    readonly ask: (
      method: Method,
      route: string,
      body?: Body
    ) => Effect.Effect<
      { readonly message: string; readonly data: unknown; readonly next: string | undefined },
      Failure
    >
    /** Returns the id of a company given by name or shortened id. */
    readonly companyId: (named: string) => Effect.Effect<string, Failure>
    /**
     * Calls a route and prints the response. The idempotency key `once` makes the call safe to repeat. If the
     * record awaits a second operator's approval, also prints the `approve` command for it.
     */
    readonly call: (
      options: { readonly json: boolean; readonly once?: Option.Option<string>; readonly approve?: string },
      method: Method,
      route: string,
      body?: Body
    ) => Effect.Effect<void, Failure>
    /** Calls a list route, and prints these fields of each row and its `details`. Without rows, prints the hint. */
    readonly list: (
      options: { readonly json: boolean; readonly query: Query },
      route: string,
      members: ReadonlyArray<string>,
      details?: (row: unknown) => ReadonlyArray<string>,
      hint?: string
    ) => Effect.Effect<void, Failure>
    /** Prints a route's response as it arrives. */
    readonly print: (route: string) => Effect.Effect<void, Failure>
    /** Prints a list, or writes it to a file, which appears only when it is complete. */
    readonly save: (
      options: { readonly query: Query; readonly output: Option.Option<string> },
      route: string
    ) => Effect.Effect<void, Failure>
  }
>()("@satrail/http/commands/Client") {}

/** Decodes a response with this version's schema. */
export const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, data: unknown) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(data),
    () => new CommandFailed({ message: "The service's version differs from this program's." })
  )
