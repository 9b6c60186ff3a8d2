import { type Api, Refused } from "../Api.ts"
import type { CompanyOverview } from "../wire.ts"

/** Companies by id. An unknown one is left out. */
export const companiesOf = async (api: Api, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, CompanyOverview>> => {
  const found = await Promise.all(
    [...new Set(ids)].map((id) => api.call("GET /operator/companies/{id}", { params: { id } }).catch(missing))
  )
  return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.id, one] as const])))
}

const missing = (error: unknown): undefined => {
  if (error instanceof Refused && error.status === 404) return
  throw error
}

/** The most companies that a list to choose from has, in addition to the chosen one. */
const mostOffered = 1000

/**
 * The companies of a list to choose from, by id and name. The chosen one is always among them, under its id if
 * no such company exists, so that no other company is selected in its place. None is chosen if it is "".
 */
export const offered = async (api: Api, chosen: string): Promise<ReadonlyArray<readonly [id: string, name: string]>> => {
  const newest = await api.call("GET /operator/companies", { query: { limit: mostOffered } })
  const others = newest.map(({ id, name }) => [id, name] as const)
  if (chosen === "" || newest.some(({ id }) => id === chosen)) return others
  const name = (await companiesOf(api, [chosen])).get(chosen)?.name ?? chosen
  return [[chosen, name], ...others]
}
