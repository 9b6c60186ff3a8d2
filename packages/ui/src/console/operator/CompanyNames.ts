import type { Api, CompaniesOf } from "../Api.ts"

/** The most companies that a list to choose from has, in addition to the chosen one. */
const mostOffered = 1000

/**
 * The companies of a list to choose from, by id and name. The chosen one is always among them, under its id if
 * no such company exists, so that no other company is selected in its place. None is chosen if it is "".
 */
export const offered = async (
  { api, companies }: { readonly api: Api; readonly companies: CompaniesOf },
  chosen: string
): Promise<ReadonlyArray<readonly [id: string, name: string]>> => {
  const newest = await api.call("GET /operator/companies", { query: { limit: mostOffered } })
  const others = newest.map(({ id, name }) => [id, name] as const)
  if (chosen === "" || newest.some(({ id }) => id === chosen)) return others
  const name = (await companies([chosen])).get(chosen)?.name ?? chosen
  return [[chosen, name], ...others]
}
