import { Schema } from "effect"

/** Languages of the pages for payers. */
export const Locale = Schema.Literals(["en", "de", "es", "fr", "pt", "ar"])
export type Locale = typeof Locale.Type

/** The value that leaves the language to the payer's browser. */
export const auto = "auto"

/** Longer than any language tag in use. */
export const maxTagCharacters = 100

/** The parts of a tag (BCP 47), joined by `-` or `_`, and the encoding and modifier of a POSIX locale: `de_DE.UTF-8@euro`. */
export const tagPattern = "([a-zA-Z]{1,8})(?:[-_][a-zA-Z0-9]{1,8})*(?:\\.[a-zA-Z0-9-]+)?(?:@[a-zA-Z0-9=-]+)?"
const form = new RegExp(`^${tagPattern}$`)

const isLocale = Schema.is(Locale)

/** Returns why a text is neither empty nor a language tag or a POSIX locale, or undefined if it is. */
export const tagIssue = (text: string): string | undefined =>
  text === "" || (text.length <= maxTagCharacters && form.test(text))
    ? undefined
    : "must be a language tag, such as pt-BR, or auto"

/** Returns the page's language for a tag. Undefined if the page is not available in it: `de` for `de_AT.UTF-8` and `deu`. */
export const languageOf = (tag: string): Locale | undefined => {
  const part = form.exec(tag)?.[1]?.toLowerCase() ?? ""
  if (isLocale(part)) return part
  // Three-letter codes have a two-letter form. Other first parts, such as `i`, are not languages by themselves.
  if (!/^[a-z]{3}$/.test(part)) return undefined
  const [canonical = ""] = Intl.getCanonicalLocales(part)
  return isLocale(canonical) ? canonical : undefined
}

/** Returns the first available language of an `Accept-Language` header, in the order of its weights (RFC 9110, section 12.5.4). */
export const accepted = (header: string): Locale | undefined => {
  const weighted = header.split(",").map((one) => {
    const [tag = "", ...parameters] = one.split(";").map((part) => part.trim())
    const weight = parameters
      .map((parameter) => /^q=([01](?:\.\d{0,3})?)$/i.exec(parameter)?.[1])
      .find((q) => q !== undefined)
    return { tag, weight: weight === undefined ? 1 : Number(weight) }
  })
  const sorted = weighted.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)
  for (const { tag } of sorted) {
    const found = languageOf(tag)
    if (found !== undefined) return found
  }
  return undefined
}
