import type { File } from "./Page.ts"

// Exports for spreadsheets (RFC 4180).

/**
 * Characters that make a spreadsheet run a text as a formula or command. Some spreadsheets treat the
 * full-width forms like the ASCII characters.
 */
const formula = /^[=+\-@|＝＋－＠\t\r\n]/

/** A cell that no spreadsheet reads as a formula, because of an apostrophe before it. Objects are written as JSON. */
export const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "number") return String(value)
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const harmless = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A column: a member of the row, or a heading and what to write below it. */
export type CsvColumn<Row> = (keyof Row & string) | readonly [head: string, cell: (row: Row) => string | number | null]

export const csv = <Row>(name: string, columns: ReadonlyArray<CsvColumn<Row>>, rows: ReadonlyArray<Row>): File => {
  const lines = rows.map((row) => columns.map((column) => cell(typeof column === "string" ? row[column] : column[1](row))).join(","))
  return {
    file: {
      name: `${name}.csv`,
      contentType: "text/csv; charset=utf-8; header=present",
      text: [columns.map((column) => (typeof column === "string" ? column : column[0])).join(","), ...lines, ""].join("\r\n")
    }
  }
}
