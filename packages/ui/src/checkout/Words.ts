import { words as refunds } from "./features/refunds/Words.ts"
import { type Fiat, type Locale, type Price } from "./State.ts"
import { ar } from "./words/ar.ts"
import { de } from "./words/de.ts"
import { en } from "./words/en.ts"
import { es } from "./words/es.ts"
import { fr } from "./words/fr.ts"
import { pt } from "./words/pt.ts"

/** The sentences of the payer's pages in one language. */
export type Words = Readonly<Record<keyof typeof en | keyof typeof refunds.en, string>>

export const words: { readonly [locale in Locale]: Words } = {
  en: { ...en, ...refunds.en },
  de: { ...de, ...refunds.de },
  es: { ...es, ...refunds.es },
  fr: { ...fr, ...refunds.fr },
  pt: { ...pt, ...refunds.pt },
  ar: { ...ar, ...refunds.ar }
}

/** The languages' own names. */
export const languages: { readonly [locale in Locale]: string } = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português",
  ar: "العربية"
}

/** A sentence with its placeholders filled. */
export const filled = (text: string, ...values: ReadonlyArray<string>): string =>
  text.replaceAll(/\{(\d)\}/g, (_, n) => values[Number(n) - 1] ?? "")

/** A name and its value. In French, a space precedes the colon. */
export const named = (name: string, text: string, locale: Locale): string =>
  `${name}${locale === "fr" ? "\u00a0" : ""}: ${text}`

/** Arabic pages use Latin digits in English order, because payers compare them with their wallet. */
const formatLocale = (locale: Locale): string => (locale === "ar" ? "en" : locale)

export const number = (value: number, locale: Locale): string =>
  new Intl.NumberFormat(formatLocale(locale)).format(value)

/** Isolates an amount, because right-to-left text would reorder it. */
const isolated = (text: string, locale: Locale): string => (locale === "ar" ? `\u2066${text}\u2069` : text)

/** Formats `21,000 sats` and `1 sat`, grouped as in the language. In French, also `0 sat`. */
export const sats = (amount: number, locale: Locale): string => {
  const isOne = new Intl.PluralRules(formatLocale(locale)).select(amount) === "one"
  return isolated(`${number(amount, locale)} ${isOne ? "sat" : "sats"}`, locale)
}

const moneyFormat = (code: string, locale: Locale, digits: Intl.NumberFormatOptions = {}) =>
  new Intl.NumberFormat(formatLocale(locale), { style: "currency", currency: code.toUpperCase(), ...digits })

const fractionDigits = (code: string): number =>
  moneyFormat(code, "en").resolvedOptions().maximumFractionDigits ?? 0

/**
 * Formats `12.5` and `eur` as `€12.50`: with at least the currency's digits, and every digit that the seller
 * gave.
 */
export const fiat = (amount: string, code: string, locale: Locale): string =>
  isolated(
    moneyFormat(code, locale, {
      minimumFractionDigits: fractionDigits(code),
      maximumFractionDigits: 20
    }).format(Number(amount)),
    locale
  )

/** The smallest amount of a currency: `0.01` for `eur`. */
export const smallest = (code: string): string =>
  (1 / 10 ** fractionDigits(code)).toFixed(fractionDigits(code))

/** Formats `1234.5` and `eur` as `1234,50` in German: with the currency's digits, but without separating thousands. */
export const amountText = (amount: string, code: string, locale: Locale): string => {
  const digits = fractionDigits(code)
  const format = { useGrouping: false, minimumFractionDigits: digits, maximumFractionDigits: digits }
  return isolated(new Intl.NumberFormat(formatLocale(locale), format).format(Number(amount)), locale)
}

/** `1 BTC = €62,300` */
export const rate = ({ rate: price, currency }: Fiat, locale: Locale): string | null => {
  if (price === null) return null
  const digits = { minimumFractionDigits: 0, maximumFractionDigits: fractionDigits(currency) }
  return isolated(`1 BTC = ${moneyFormat(currency, locale, digits).format(Number(price))}`, locale)
}

const satsPerBtc = 100_000_000

/** Converts satoshis to the seller's currency at the price's rate; null without one. */
export const worth = (amountSats: number, { rate: price, currency }: Fiat, locale: Locale): string | null =>
  price === null
    ? null
    : isolated(moneyFormat(currency, locale).format((amountSats * Number(price)) / satsPerBtc), locale)

/** Adds a percentage to a price, rounded to whole satoshis and to the currency's digits. */
export const tipped = ({ amountSats, fiat: priced }: Price, percent: number): Price => ({
  amountSats: amountSats === null ? null : amountSats + Math.ceil((amountSats * percent) / 100),
  fiat:
    priced === null || percent === 0
      ? priced
      : {
          ...priced,
          amount: ((Number(priced.amount) * (100 + percent)) / 100).toFixed(fractionDigits(priced.currency))
        }
})

/** The amounts of a price in words: in fiat if there is one, and in bitcoin. */
export const priced = (price: Price, locale: Locale): ReadonlyArray<string> => [
  ...(price.fiat === null ? [] : [fiat(price.fiat.amount, price.fiat.currency, locale)]),
  ...(price.amountSats === null ? [] : [sats(price.amountSats, locale)])
]

/** The tip that a percentage of a price amounts to. */
export const tip = (price: Price, percent: number): Price => {
  const all = tipped(price, percent)
  const less = (left: number | string, right: number | string) => Number(left) - Number(right)
  return {
    amountSats:
      all.amountSats === null || price.amountSats === null ? null : less(all.amountSats, price.amountSats),
    fiat:
      all.fiat === null || price.fiat === null
        ? null
        : {
            ...all.fiat,
            amount: less(all.fiat.amount, price.fiat.amount).toFixed(fractionDigits(all.fiat.currency))
          }
  }
}

/** `5%` */
export const percent = (value: number, locale: Locale): string =>
  new Intl.NumberFormat(formatLocale(locale), { style: "percent" }).format(value / 100)

/** The received and the remaining amount, whose sum is the price. Null without a rate, or if one wrongly rounds to zero. */
export const parts = (
  { amount, rate: price, currency }: Fiat,
  receivedSats: number,
  locale: Locale
): { readonly received: string; readonly due: string; readonly share: number } | null => {
  if (price === null) return null
  const unit = 10 ** fractionDigits(currency)
  const total = Math.round(Number(amount) * unit)
  const received = Math.min(total, Math.round(((receivedSats * Number(price)) / satsPerBtc) * unit))
  if (received === total || (received === 0 && receivedSats > 0)) return null
  const shown = (units: number) => isolated(moneyFormat(currency, locale).format(units / unit), locale)
  return { received: shown(received), due: shown(total - received), share: received / total }
}

/** Formats `0.00021000`, for wallets that require an amount in bitcoin. */
export const btc = (amountSats: number): string => {
  const digits = String(amountSats).padStart(9, "0")
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** Formats `12 minutes`, `3 hours`, `2 days` in the largest unit that fits. */
export const span = (millis: number, locale: Locale): string => {
  const minutes = Math.max(1, Math.round(millis / 60_000))
  const [value, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 2880
        ? [Math.round(minutes / 60), "hour"]
        : [Math.round(minutes / 1440), "day"]
  const options = { style: "unit", unit, unitDisplay: "long", numberingSystem: "latn" } as const
  return new Intl.NumberFormat(locale, options).format(Number(value))
}
