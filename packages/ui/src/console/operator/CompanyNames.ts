import type { Api, CompaniesOf } from "../Api.ts"

/** Maximum number of companies in a selection list, in addition to the selected one. */
const mostOffered = 1000

/**
 * Returns the companies of a selection list, with ids and names. The selected company is always included, so
 * that no other company is selected instead. If it does not exist, its id is also its name. If `chosen` is
 * empty, none is selected.
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
