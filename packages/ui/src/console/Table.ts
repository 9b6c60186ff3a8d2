import { type ComponentChild, type ComponentChildren, h } from "preact"
import { icon } from "./Parts.ts"

/**
 * The position of a cell when a row becomes a card on a phone: `c1` the subject, `c2` the amount, `c3` and `c4` below them, `all` a
 * separate line, `off` hidden.
 */
export type Place = "c1" | "c1 all" | "c2" | "c3" | "c4" | "all" | "off"

export interface Column<Row> {
  /** The unit is shown here, not in the cells. */
  readonly title: string
  readonly place: Place
  readonly cell: (row: Row) => ComponentChildren
  /** `amount` and `fiat` are aligned to the right. */
  readonly kind?: "amount" | "fiat" | "soft" | "faint" | "r" | "r act" | "num" | ""
  readonly width?: "w-since" | "w-sats" | "w-act"
  /** Label before the cell in the card layout, which has no headings. */
  readonly key?: string
  readonly isSorted?: boolean
}

export interface Group<Row> {
  readonly title?: ComponentChildren
  readonly sums?: ComponentChildren
  readonly rows: ReadonlyArray<Row>
}

interface Options<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  readonly groups: ReadonlyArray<Group<Row>>
  readonly kind?: string
  /** Whether the whole row is a link: its `c1` cell contains `rowLink`. */
  readonly opens?: boolean
  /** Whether a row is highlighted as wrong. */
  readonly isWrong?: (row: Row) => boolean
}

const isRight = (kind: string | undefined) => kind === "amount" || kind === "fiat"

const classOf = <Row>({ place, kind = "" }: Column<Row>) =>
  `${place} ${kind === "fiat" ? "amount fiat" : kind}`.trim()

/** A table that becomes a list of cards on a phone. */
export const table = <Row>(
  label: string,
  { columns, groups, kind = "", opens = false, isWrong }: Options<Row>
) =>
  h(
    "div",
    { class: "scroll", tabIndex: 0, role: "group", "aria-label": label },
    h(
      "table",
      { class: `cards ${kind}`.trim(), role: "table", "aria-label": label },
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          columns.map(({ title, kind, width = "", isSorted = false }) =>
            h(
              "th",
              {
                scope: "col",
                role: "columnheader",
                class: `${isRight(kind) ? "amount" : ""} ${width}`.trim(),
                ...(isSorted && { "aria-sort": "descending" as const })
              },
              title === "" ? h("span", { class: "visually-hidden" }, "Action") : title
            )
          )
        )
      ),
      groups.map(({ title, sums, rows }) =>
        h(
          "tbody",
          { role: "rowgroup" },
          title !== undefined &&
            h(
              "tr",
              { role: "row" },
              h(
                "th",
                { class: "day", colSpan: columns.length, scope: "rowgroup", role: "rowheader" },
                h("span", null, h("b", { class: "strong" }, title), h("span", null, sums))
              )
            ),
          rows.map((row) =>
            h(
              "tr",
              {
                class: `${opens ? "opens" : ""} ${isWrong?.(row) === true ? "wrong" : ""}`.trim(),
                role: "row"
              },
              columns.map((column) =>
                h(
                  "td",
                  {
                    class: classOf(column),
                    role: "cell",
                    ...(column.key !== undefined && { "data-k": column.key })
                  },
                  column.cell(row)
                )
              )
            )
          )
        )
      )
    )
  )

/** A link that makes the whole row clickable. */
export const rowLink = (href: string, ...children: ReadonlyArray<ComponentChildren>) =>
  h("a", { class: "row", href }, children)

/** The footer of a list: a text about its rows, and links to the previous and next pages. An empty list has no text. */
export const paging = (
  rows: number,
  text: ComponentChildren,
  {
    newer,
    older,
    extra = null
  }: {
    readonly newer?: string | undefined
    readonly older?: string | undefined
    readonly extra?: ComponentChild
  }
) =>
  (rows > 0 || newer !== undefined || older !== undefined) && [
    h("span", { class: "num" }, rows > 0 && text),
    h(
      "div",
      { class: "paging" },
      extra,
      newer !== undefined && h("a", { class: "btn", href: newer, rel: "prev" }, "← Newer"),
      older !== undefined && h("a", { class: "btn", href: older, rel: "next" }, "Older →")
    )
  ]

/**
 * A link to an export of exactly the rows of a list. Without `download`, the browser shows a page that says why there
 * is no file, such as the page for signing in, instead of saving it.
 */
export const exported = (href: string, count: string) =>
  h("a", { class: "btn", href }, icon("download"), `Export these ${count}`)
