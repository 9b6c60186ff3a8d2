import type { Locale } from "./State.ts"
import { ar } from "./words/ar.ts"
import { de } from "./words/de.ts"
import { en, type Words } from "./words/en.ts"
import { es } from "./words/es.ts"
import { fr } from "./words/fr.ts"
import { pt } from "./words/pt.ts"

export type { Words }

export const words: { readonly [locale in Locale]: Words } = { en, de, es, fr, pt, ar }

/** A sentence with its gaps filled. */
export const filled = (text: string, ...values: ReadonlyArray<string>): string =>
  text.replaceAll(/\{(\d)\}/g, (_, n) => values[Number(n) - 1] ?? "")

/** Digits are Latin everywhere: payers compare them with their wallet's. */
export const number = (value: number, locale: Locale): string => new Intl.NumberFormat(locale, { numberingSystem: "latn" }).format(value)

/** Among words from right to left a number would be put behind its unit. */
const measured = (text: string, locale: Locale): string => (locale === "ar" ? `\u2066${text}\u2069` : text)

/** `21,000 sats`, as the payer's language groups digits. */
export const sats = (amount: number, locale: Locale): string => measured(`${number(amount, locale)} sats`, locale)

/** `12.50 EUR` for `12.5` and `eur`: with the digits of its currency at least, and none left out that somebody asked for. */
export const fiat = (amount: string, code: string, locale: Locale): string => {
  const currency = code.toUpperCase()
  const { minimumFractionDigits = 0 } = new Intl.NumberFormat(locale, { style: "currency", currency }).resolvedOptions()
  const digits = { minimumFractionDigits, maximumFractionDigits: 20 }
  return measured(`${new Intl.NumberFormat(locale, { numberingSystem: "latn", ...digits }).format(Number(amount))} ${currency}`, locale)
}

/** To the minute, the same for everybody. */
export const instant = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`

/** `4:09`, `1:00:00` */
export const duration = (millis: number): string => {
  const seconds = Math.max(0, Math.ceil(millis / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (part: number) => String(part).padStart(2, "0")
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`
}

const locales: ReadonlyArray<Locale> = ["en", "de", "es", "fr", "pt", "ar"]

/** The language of a page that has none of its own, by `Accept-Language`: the first that there is. */
export const accepted = (header = ""): Locale => {
  for (const one of header.split(",")) {
    const wanted = one.trim().slice(0, 2).toLowerCase()
    const found = locales.find((locale) => locale === wanted)
    if (found !== undefined) return found
  }
  return "en"
}
