import { Effect, Schema } from "effect"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { Collections, type Listed } from "@satrail/http/commands/Collections"

// Ids are long, so users can enter the beginning of an id, or a company's name. The record is then looked up in
// its list.

const Rows = Schema.Array(
  Schema.Struct({
    id: Schema.String,
    kind: Schema.optionalKey(Schema.NullOr(Schema.String)),
    name: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
)

interface Collection {
  /** The singular noun for messages. */
  readonly noun: string
  /** Returns the route of the list in which the text is looked up. */
  readonly list: (typed: string) => string
  /** The kind of search result, if a read looks the text up in all records, not only in the list. */
  readonly kind?: string
}

const all = { limit: "1000" }

const companies: [string, Collection] = [
  "/operator/companies",
  { noun: "company", list: (search) => `/operator/companies?${new URLSearchParams({ ...all, search })}` }
]
const ofMoney = {
  "/operator/withdrawals": { noun: "pending withdrawal", kind: "withdrawals" },
  "/operator/deposits": { noun: "pending deposit", kind: "deposits" },
  "/operator/suspense": { noun: "payment" }
}

const collectionOf = ([route, { noun, isUnpaged, kind }]: readonly [
  string,
  Listed & { readonly kind?: string }
]): [string, Collection] => [
  route,
  {
    noun,
    list: () => (isUnpaged === true ? route : `${route}?${new URLSearchParams(all)}`),
    ...(kind !== undefined && { kind })
  }
]

const isWhole = (id: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)

/**
 * Returns the rows with this name if there are any, otherwise the rows whose id begins with the text. For
 * reads, rows whose name contains the text are the last resort.
 */
const meant = (rows: typeof Rows.Type, typed: string, isRead: boolean) => {
  const text = typed.toLowerCase()
  const named = rows.filter(({ name }) => name?.toLowerCase() === text)
  if (named.length > 0) return named
  const begun = rows.filter(({ id }) => id.toLowerCase().startsWith(text))
  return begun.length > 0 || !isRead
    ? begun
    : rows.filter(({ name }) => name?.toLowerCase().includes(text) === true)
}

/** Maximum number of records that an error lists. */
const listed = 5

const only = ([one, ...others]: typeof Rows.Type, noun: string, typed: string) => {
  if (one === undefined)
    return Effect.fail(
      new CommandFailed({ message: `There is no ${noun} ${JSON.stringify(typed)}. Check the id.` })
    )
  if (others.length === 0) return Effect.succeed(one.id)
  const shown = [one, ...others]
    .slice(0, listed)
    .map(({ id, name }) => `\n  ${id}${name === undefined || name === null ? "" : `  ${name}`}`)
  return Effect.fail(
    new CommandFailed({
      message: `${JSON.stringify(typed)} matches more than one ${noun} (${others.length + 1}). Enter more characters of the id:${shown.join("")}`
    })
  )
}

/** A page of a list. */
interface Page {
  readonly data: unknown
  /** The cursor of the next page. */
  readonly next: string | undefined
}

/** Completes the shortened id in a route. `get` reads a list. `isRead` is set if the route changes nothing. */
export const route = <E, R>(
  given: string,
  isRead: boolean,
  get: (route: string) => Effect.Effect<Page, E, R>
) =>
  Effect.gen(function* () {
    const [path = "", query] = given.split("?")
    const collections = [
      companies,
      ...Object.entries({ ...ofMoney, ...(yield* Collections) }).map(collectionOf)
    ]
    const [collection] = collections.filter(([prefix]) => path.startsWith(`${prefix}/`))
    if (collection === undefined) return given
    const [prefix, { noun: listed, list, kind }] = collection
    const isSearched = isRead && kind !== undefined
    const noun = isSearched ? listed.replace("pending ", "") : listed
    const [id = "", ...rest] = path.slice(prefix.length + 1).split("/")
    const typed = decodeURIComponent(id)
    if (isWhole(typed)) return given
    const { data, next } = yield* get(
      isSearched ? `/operator/search?${new URLSearchParams({ text: typed })}` : list(typed)
    )
    if (next !== undefined)
      return yield* new CommandFailed({
        message: `There are too many records to look up a ${noun}. Enter the whole id.`
      })
    const rows = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Rows)(data),
      () => new CommandFailed({ message: "The service's version differs from this program's." })
    )
    const found = isSearched
      ? yield* only(
          rows.filter((row) => row.kind === kind),
          noun,
          typed
        )
      : yield* only(meant(rows, typed, isRead), noun, typed)
    return [[prefix, found, ...rest].join("/"), ...(query === undefined ? [] : [query])].join("?")
  })
