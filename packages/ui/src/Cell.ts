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
