import type { Api, CompaniesOf } from "../Api.ts"

/** Maximum number of companies in a selection list, in addition to the selected one. */
export const mostOffered = 1000

/**
 * Returns the companies of a selection list, with ids and names, and whether these are all. The selected company
 * is always included, so that no other company is selected instead. If it does not exist, its id is also its name.
 * If `chosen` is empty, none is selected.
 */
export const offered = async (
  { api, companies }: { readonly api: Api; readonly companies: CompaniesOf },
  chosen: string
): Promise<{
  readonly options: ReadonlyArray<readonly [id: string, name: string]>
  readonly isAll: boolean
}> => {
  const { data: newest, next } = await api.page("GET /operator/companies", { query: { limit: mostOffered } })
  const [others, isAll] = [newest.map(({ id, name }) => [id, name] as const), next === undefined]
  if (chosen === "" || newest.some(({ id }) => id === chosen)) return { options: others, isAll }
  const name = (await companies([chosen])).get(chosen)?.name ?? chosen
  return { options: [[chosen, name], ...others], isAll }
}
