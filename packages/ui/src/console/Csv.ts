import { cell } from "../Cell.ts"
import type { File } from "./Page.ts"

// Exports for spreadsheets (RFC 4180).

/** A column: a member of the row, or a heading and what to write below it. */
export type CsvColumn<Row> =
  | (keyof Row & string)
  | readonly [head: string, cell: (row: Row) => string | number | object | null]

export const csv = <Row>(
  name: string,
  columns: ReadonlyArray<CsvColumn<Row>>,
  rows: ReadonlyArray<Row>
): File => {
  const lines = rows.map((row) =>
    columns.map((column) => cell(typeof column === "string" ? row[column] : column[1](row))).join(",")
  )
  return {
    file: {
      name: `${name}.csv`,
      contentType: "text/csv; charset=utf-8; header=present",
      text: [
        columns.map((column) => (typeof column === "string" ? column : column[0])).join(","),
        ...lines,
        ""
      ].join("\r\n")
    }
  }
}
