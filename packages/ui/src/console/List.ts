import { type ComponentChildren, h } from "preact"
import { type Listed, Refused } from "./Api.ts"
import { csv, type CsvColumn } from "./Csv.ts"
import * as Formats from "./Format.ts"
import { type AnyVisit, type File, type Page, type Shown, type Visit, withQuery } from "./Page.ts"
import { button, chips, empty, type Icon, plain, segments } from "./Parts.ts"
import * as Range from "./Range.ts"
import { type Column, exported, paging, table } from "./Table.ts"

// Lists of records. The URL contains the filters and the page. An export contains exactly the filtered rows.

const perPage = 50
/** Maximum number of records that one page of a filtered list reads. */
const mostRead = 500
const mostExported = 10_000
const perRead = 1000
/**
 * Maximum length of the responses that one page or export reads, because records may have large metadata. It leaves
 * 2000 for each row of an export, which is more than most records have.
 */
export const mostCharacters = 20_000_000

/** A status to filter by, and the records that have it. */
export type Kind<Row> = readonly [value: string, text: string, is: (row: Row, nowMillis: number) => boolean]

interface Asked {
  readonly limit: number
  readonly cursor: string | undefined
  /** The range, which also excludes records that `read` returns, if its route has no such parameters. */
  readonly from?: string
  readonly until?: string
}

export interface List<Row> {
  /** Below `/console`. The export is at `path/export`. */
  readonly path: string
  readonly nav: string
  readonly title: string
  readonly lead: string
  readonly glyph: Icon
  /** Plural noun for the records: `invoices`. */
  readonly noun: string
  readonly none: string
  /** Reads the records, newest first. */
  readonly read: (visit: Visit, asked: Asked) => Promise<Listed<ReadonlyArray<Row>>>
  readonly at: (row: Row) => string
  readonly kinds: ReadonlyArray<Kind<Row>>
  readonly columns: (visit: Visit) => ReadonlyArray<Column<Row>>
  readonly csv: ReadonlyArray<CsvColumn<Row>>
  /** A link or form to create a record; null if the user may not create one. */
  readonly create?: (visit: Visit) => ComponentChildren
  /** Further filters, which `read` applies. Each has a parameter name and a label. */
  readonly also?: ReadonlyArray<readonly [name: string, text: string]>
  /** Shown above the list, such as links to related lists. */
  readonly above?: (visit: Visit) => ComponentChildren
}

interface Filter<Row> {
  readonly isIn: (row: Row) => boolean
  readonly range: Range.Range
  readonly isAll: boolean
}

const filterOf = <Row>({ kinds, at }: List<Row>, visit: Visit): Filter<Row> => {
  const { query, say } = visit
  const range = Range.rangeOf(visit)
  const { fromMillis = -Infinity, untilMillis = Infinity } = range
  const isWithin = (millis: number) => millis >= fromMillis && millis < untilMillis
  const [, , is = () => true] = kinds.find(([value]) => value === query.get("status")) ?? []
  return {
    isIn: (row) => isWithin(Date.parse(at(row))) && is(row, say.nowMillis),
    range,
    isAll: !Range.isRanged(visit) && !kinds.some(([value]) => value === query.get("status"))
  }
}

/** Reads until enough records match, or enough were read. */
const matching = async <Row>(
  list: List<Row>,
  visit: Visit,
  most: { readonly rows: number; readonly read: number; readonly each: number }
) => {
  const { isIn, isAll, range } = filterOf(list, visit)
  const { fromMillis = -Infinity } = range
  const rows: Array<Row> = []
  let [cursor, read, length] = [cursorOf(visit), 0, 0]
  for (;;) {
    const { data, next, characters } = await list.read(visit, {
      limit: most.each,
      cursor,
      ...Range.queryOf(range)
    })
    rows.push(...(isAll ? data : data.filter(isIn)))
    read += data.length
    length += characters
    const last = data.at(-1)
    const isEnd = next === undefined || last === undefined || Date.parse(list.at(last)) < fromMillis
    cursor = isEnd ? undefined : next
    if (isEnd || rows.length >= most.rows || read >= most.read || length >= mostCharacters)
      return { rows, next: cursor }
  }
}

/**
 * Maximum number of cursors of previous pages, which are in the URL so that “Newer” needs no separate kind of
 * cursor.
 */
const longestTrail = 40

/** Where the page of a list begins. Undefined for the first page. */
export const cursorOf = ({ query }: Pick<AnyVisit, "query">): string | undefined =>
  query.get("cursor") ?? undefined

/** Returns a function that returns the URL of a list's first page with other filters. An empty value removes a filter. */
export const filtering =
  (path: string, { query, to }: AnyVisit) =>
  (change: Readonly<Record<string, string>>) =>
    to(withQuery(path, query, { cursor: "", trail: "", ...change }))

export const pages = (path: string, visit: AnyVisit, next: string | undefined) => {
  const { query, to } = visit
  const cursor = cursorOf(visit)
  const trail = (query.get("trail") ?? "").split(".").filter((one) => one !== "")
  const at = (change: Readonly<Record<string, string>>) => to(withQuery(path, query, change))
  const past = [...trail, ...(cursor === undefined ? [] : [cursor])].slice(-longestTrail).join(".")
  return {
    newer:
      cursor === undefined
        ? undefined
        : at({ cursor: trail.at(-1) ?? "", trail: trail.slice(0, -1).join(".") }),
    older: next === undefined ? undefined : at({ cursor: next, trail: past })
  }
}

/** Reads one page of a list that has no filters. The footer is undefined if there is only one page. */
export const onePage = async <Row>(
  path: string,
  visit: Visit,
  read: (asked: Asked) => Promise<Listed<ReadonlyArray<Row>>>
) => {
  const cursor = cursorOf(visit)
  const { data, next } = await read({ limit: perPage, cursor })
  const footer =
    next === undefined && cursor === undefined
      ? undefined
      : paging(data.length, `${data.length} shown`, pages(path, visit, next))
  return { rows: data, footer }
}

const get =
  <Row>(list: List<Row>) =>
  async (visit: Visit): Promise<Shown> => {
    const { path, title, lead, glyph, noun, none, kinds, create, above, also = [] } = list
    const { query, to, say } = visit
    const { rows, next } = await matching(list, visit, { rows: perPage, read: mostRead, each: perPage })
    const at = filtering(path, visit)
    const [isFirst, chosen] = [cursorOf(visit) === undefined, query.get("status") ?? ""]
    const others = also.filter(([name]) => query.has(name))
    const isFiltered = Range.isRanged(visit) || chosen !== "" || others.length > 0
    const count = next === undefined && isFirst ? Formats.sats(rows.length) : noun
    const making = create?.(visit)
    return {
      title,
      lead,
      isLive: isFirst,
      // Instead of an empty list, the page offers to create the first record.
      actions: (rows.length > 0 || isFiltered) && [
        rows.length > 0 && exported(filtering(`${path}/export`, visit)({}), count),
        making
      ],
      body: [
        above?.(visit),
        h("div", { class: "chips" }, [
          kinds.length > 0 &&
            segments("Status", [
              { text: "All", href: at({ status: "" }), isOn: chosen === "" },
              ...kinds.map(([value, text]) => ({ text, href: at({ status: value }), isOn: value === chosen }))
            ]),
          chips([
            ...Range.rangeChips(visit, at),
            ...others.map(([name, text]) => ({ text, href: at({ [name]: "" }), isOn: true }))
          ])
        ]),
        plain(
          title,
          rows.length === 0
            ? isFiltered
              ? empty(
                  "search",
                  "No results",
                  next === undefined
                    ? `No ${noun} match these filters.`
                    : `None of the newest ${mostRead} match. Older ones may.`,
                  button(to(path), "Clear all", "main")
                )
              : empty(glyph, `No ${noun} yet`, none, h("span", null, making))
            : table(`List of ${noun}`, { columns: list.columns(visit), groups: [{ rows }], opens: true }),
          paging(rows.length, `${Formats.sats(rows.length)} shown · times in ${say.zone}`, {
            ...pages(path, visit, next),
            ...((rows.length > 0 || isFiltered) && { extra: Range.rangeForm(visit, path) })
          })
        )
      ]
    }
  }

const file =
  <Row>(list: List<Row>) =>
  async (visit: Visit): Promise<File> => {
    const { rows, next } = await matching(list, visit, {
      rows: mostExported,
      read: Number.POSITIVE_INFINITY,
      each: perRead
    })
    if (next !== undefined) {
      const why =
        rows.length < mostExported
          ? `The ${list.noun} are too large to export together`
          : `More than ${Formats.sats(mostExported)} ${list.noun} match`
      throw new Refused(400, "malformed_request", `${why}. Choose a shorter period or a status`)
    }
    return csv(list.path.replaceAll("/", "-"), list.csv, rows)
  }

export const pagesOf = <Row>(list: List<Row>): ReadonlyArray<Page> => [
  { path: list.path, nav: list.nav, get: get(list) },
  { path: `${list.path}/export`, nav: list.nav, get: file(list) }
]
