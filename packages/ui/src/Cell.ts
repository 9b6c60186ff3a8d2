/**
 * Characters that make a spreadsheet run a text as a formula or command. Some spreadsheets treat the
 * full-width forms like the ASCII characters.
 */
const formula = /^[=+\-@|＝＋－＠\t\r\n]/

/** A character at which a spreadsheet with other separators begins a cell, if a formula follows, perhaps in quotes. */
const inside = /([;\t\r\n])(?="*[=+\-@|＝＋－＠])/g

/** Matches every text to which one of the rules may apply. */
const special = /^[+\-@]|[=|＝＋－＠;\t\r\n",]/

/**
 * A cell that no spreadsheet reads as a formula, because of apostrophes before it and in it. Objects are written as
 * JSON, in which an escape sequence replaces the separator.
 */
export const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "number") return String(value)
  if (typeof value === "string" && !special.test(value)) return value
  const text =
    typeof value === "string"
      ? value.replaceAll(inside, "$1'")
      : JSON.stringify(value).replaceAll(inside, "\\u003b")
  const harmless = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
