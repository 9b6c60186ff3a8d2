import type { File } from "./Page.ts"

// Exports for spreadsheets (RFC 4180).

/** A cell that no spreadsheet reads as a formula. */
const cell = (value: string | number | null): string => {
  if (value === null) return ""
  if (typeof value === "number") return String(value)
  const harmless = /^[=+\-@|\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export type CsvColumn<Row> = readonly [head: string, cell: (row: Row) => string | number | null]

export const csv = <Row>(name: string, columns: ReadonlyArray<CsvColumn<Row>>, rows: ReadonlyArray<Row>): File => {
  const lines = rows.map((row) => columns.map(([, of]) => cell(of(row))).join(","))
  return {
    file: {
      name: `${name}.csv`,
      contentType: "text/csv; charset=utf-8; header=present",
      text: [columns.map(([head]) => head).join(","), ...lines, ""].join("\r\n")
    }
  }
}
