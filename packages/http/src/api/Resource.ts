import type { Scope } from "@satrail/core/accounts/ApiKey"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Pages from "@satrail/core/ledger/Page"
import { Context, Effect, type Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as View from "../wire/View.ts"
import { companyId, Scopes } from "./Authentication.ts"

/** An operation's documentation. The required scope is appended to its description. */
export interface About {
  readonly scope?: Scope
  readonly summary: string
  readonly description?: string
}

const annotations = (
  { scope, summary, description }: About,
  example: typeof Example.Service,
  ...sentences: ReadonlyArray<string>
) => {
  const needs = scope === undefined ? [] : [`Requires the \`${scope}\` scope.`]
  const text = [...(description === undefined ? [] : [description]), ...sentences, ...needs].join(" ")
  const words = Context.make(OpenApi.Summary, summary).pipe(
    Context.add(OpenApi.Description, text),
    Context.add(Example, example)
  )
  return scope === undefined ? words : Context.add(words, Scopes, [scope])
}

/** Calls a function with the company that owns the request's key. */
export const own =
  <Ask, A, E>(ask: (companyId: CompanyId.CompanyId, what: Ask) => Effect.Effect<A, E>) =>
  (what: Ask) =>
    Effect.flatMap(companyId, (id) => ask(id, what))

type ListQuery = Parameters<typeof Page.asked>[0]
type Params<Name extends string, Value> = { readonly [N in Name]: Value }

/** Makes the usual endpoints for a record type at `path`, with their handlers. */
export const make = <
  const Path extends `/${string}`,
  Row,
  Fields extends Schema.Struct.Fields & { readonly id: Schema.Constraint },
  const Param extends string = "id"
>(kind: {
  readonly path: Path
  /** The name of the path parameter that is a record's id. Default: `id`. */
  readonly param?: Param
  /** Messages in a response with one record, and in a response with a page of records. */
  readonly names: readonly [one: string, many: string]
  readonly view: View.View<Row, Fields>
  readonly example: (world: World) => Row
}) => {
  const { path, view, example } = kind
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `Param` is "id" if no parameter is given
  const param = kind.param ?? ("id" as Param)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one member, by name
  const paramsOf = <A>(id: A) => ({ [param]: id }) as Params<Param, A>
  const [one, many] = kind.names
  const page = Page.of(view, many, path)
  const params = paramsOf(Scalars.Id)
  const success = Envelope.success(200, view.schema)
  const shown = (message: string, row: (world: World) => Row) => (world: World) => ({
    params: paramsOf(String(view.members.id[1](row(world)))),
    message,
    data: view.of(row(world))
  })
  const answers =
    <E, R>(message: string, ask: (id: string) => Effect.Effect<Row, E, R>) =>
    ({ params }: { readonly params: Params<Param, string> }) =>
      Effect.map(ask(params[param]), (row) => View.answer(message, view.of(row)))
  return {
    /** Lists records, newest first. `filters` are further query parameters. */
    list: <const Name extends string, Filters extends Schema.Struct.Fields = {}>(
      name: Name,
      about: About,
      filters?: Filters
    ) =>
      HttpApiEndpoint.get(name, path, {
        query: Object.assign(Page.place(), filters),
        success: page.success,
        error: Errors.of("malformed", "store_unavailable")
      }).annotateMerge(
        annotations(
          about,
          (world) => ({ message: many, data: [view.of(example(world))] }),
          "The next page is in the `Link` header."
        )
      ),
    lists: <Query extends ListQuery, E extends Errors.ServiceError, R>(
      find: (asked: Pages.Dated, query: Query) => Effect.Effect<Pages.Page<Row>, E, R>
    ) =>
      Effect.fnUntraced(function* ({ query }: { readonly query: Query }) {
        const asked = Page.asked(query)
        const { rows, next } = yield* Errors.answered(find(asked, query))
        return page.answer(rows, Search.written({ ...query, limit: asked.limit }), next)
      }),
    get: <const Name extends string>(name: Name, about: About) =>
      HttpApiEndpoint.get(name, `${path}/:${param}` as const, {
        params,
        success,
        error: Errors.of("not_found", "store_unavailable")
      }).annotateMerge(annotations(about, shown(one, example))),
    gets: <E extends Errors.ServiceError, R>(find: (id: string) => Effect.Effect<Row, E, R>) =>
      answers(one, (id) => Errors.answered(find(id))),
    /** Shared parts of an endpoint that responds with one record. */
    one: { params, success },
    /** Annotations of an endpoint that responds with one record. */
    about: (message: string, about: About, row: (example: Row, world: World) => Row) =>
      annotations(
        about,
        shown(message, (world) => row(example(world), world))
      ),
    /** Handler of an endpoint that responds with one record. */
    answers
  }
}
