import { type Page, list, type List } from "@satrail/client/Calls"
import { idOf } from "./Sharing.ts"

/** Calls the core with a method's arguments. The core returns lists in pages. */
type Call = (given: ReadonlyArray<unknown>, signal: unknown) => Promise<unknown>

const isQuery = (given: unknown): boolean => typeof given === "object" && given !== null && !("id" in given)

/**
 * Builds a list method whose options follow the first `ids` arguments. The company may also be passed as an
 * option, as in `@satrail/client`.
 */
export const make =
  (ids: number, call: Call) =>
  (...given: ReadonlyArray<unknown>): List<unknown> => {
    const isInOptions = ids > 0 && isQuery(given[0])
    const options = given[isInOptions ? 0 : ids] ?? {}
    const { company, signal, ...others } = Object(options)
    const query = typeof options === "object" ? others : options
    const first = isInOptions ? [idOf(company)] : given.slice(0, ids)
    return list((cursor) => {
      const last = cursor === undefined ? query : { ...others, cursor }
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the core's pages, converted by `Methods`
      return call([...first, last], signal) as Promise<Page<unknown>>
    })
  }
