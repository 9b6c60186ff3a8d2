import { Effect, Schema } from "effect"

// Output for people shows companies by name.

const Company = Schema.Struct({ id: Schema.String, name: Schema.String })
const isCompany = Schema.is(Company)

/** Maximum number of companies that are read at once; the newest ones come first. */
const most = 1000
/** Maximum number of older companies that are read one by one. */
const mostOlder = 20

type Get<E, R> = (route: string) => Effect.Effect<{ readonly data: unknown }, E, R>

const companiesIn = (data: unknown): ReadonlyArray<typeof Company.Type> => [data].flat().filter(isCompany)

const idIn = (row: unknown): ReadonlyArray<string> => {
  const id: unknown = Object(row).company_id
  return typeof id === "string" ? [id] : []
}

/**
 * Returns the names of the companies in these records, by id. Where two of the companies read have the same name, the
 * beginning of the id follows it. A company that the caller may not read, or that does not exist, is missing.
 */
export const namesOf = Effect.fnUntraced(function* <E, R>(records: ReadonlyArray<unknown>, get: Get<E, R>) {
  const ids = new Set(records.flatMap(idIn))
  if (ids.size === 0) return new Map<string, string>()
  const read = (route: string) =>
    Effect.match(get(route), { onFailure: () => [], onSuccess: ({ data }) => companiesIn(data) })
  const newest = yield* read(`/operator/companies?limit=${most}`)
  const known = new Set(newest.map(({ id }) => id))
  const missing = [...ids].filter((id) => !known.has(id)).slice(0, mostOlder)
  const older = yield* Effect.forEach(
    missing,
    (id) => read(`/operator/companies/${encodeURIComponent(id)}`),
    {
      concurrency: 4
    }
  )
  const all = [...newest, ...older.flat()]
  const isShared = (name: string) => all.filter((one) => one.name === name).length > 1
  return new Map(
    all.map(({ id, name }) => [id, isShared(name) ? `${name} (${id.slice(0, 13)})` : name] as const)
  )
})

/** Replaces the field `company_id` of a record with `company`, and other companies' ids in it with their names. */
export const withNames =
  (names: ReadonlyMap<string, string>) =>
  (record: unknown): unknown =>
    typeof record !== "object" || record === null || idIn(record).length === 0
      ? record
      : Object.fromEntries(
          Object.entries(record).map(([field, value]) => [
            field === "company_id" ? "company" : field,
            field !== "id" && typeof value === "string" ? (names.get(value) ?? value) : value
          ])
        )
