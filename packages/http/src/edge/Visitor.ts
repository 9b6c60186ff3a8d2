import type { Fiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Language from "@satrail/core/base/Language"
import type { Prices } from "@satrail/core/nodes/Prices"
import { type Locale, locales, type Visit } from "@satrail/ui/checkout/State"
import * as Words from "@satrail/ui/checkout/Words"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

// Determines the language and currency of a payment page's visitor from the request alone. Nothing is stored.

type Request = Pick<HttpServerRequest.HttpServerRequest, "url" | "headers">

export const queryOf = ({ url }: Pick<Request, "url">): URLSearchParams =>
  new URLSearchParams(url.split("?")[1] ?? "")

export const visitOf = (request: Request): Visit => {
  const query = queryOf(request)
  const way = query.get("way")
  return {
    way: way === "lightning" || way === "chain" ? way : "any",
    language: locales.find((locale) => locale === query.get("lang")) ?? null,
    isAsked: query.has("ask"),
    hasFailed: query.has("failed"),
    isFramed: query.has("frame") || request.headers["sec-fetch-dest"] === "iframe"
  }
}

/** Returns the language for a page that does not set one. */
export const localeOf = (request: Request): Locale =>
  visitOf(request).language ?? Language.accepted(request.headers["accept-language"] ?? "") ?? "en"

const regions: Readonly<Record<string, Fiat>> = {
  US: "usd",
  GB: "gbp",
  JP: "jpy",
  CN: "cny",
  CA: "cad",
  AU: "aud",
  CH: "chf",
  LI: "chf",
  HK: "hkd",
  NZ: "nzd"
}
const euro = new Set("AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK".split(" "))
const languages: Readonly<Record<string, Fiat>> = {
  de: "eur",
  fr: "eur",
  es: "eur",
  it: "eur",
  nl: "eur",
  pt: "eur",
  ja: "jpy",
  zh: "cny"
}

/** Guesses a visitor's currency from the browser's preferred language. Default: US dollars. */
export const currencyOf = ({ headers }: Request): Fiat => {
  const [first = ""] = (headers["accept-language"] ?? "").split(",")
  const [, language = "", region = ""] = /^\s*([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}))?/i.exec(first) ?? []
  const upper = region.toUpperCase()
  return regions[upper] ?? (euro.has(upper) ? "eur" : (languages[language.toLowerCase()] ?? "usd"))
}

/** Maximum time for which a page waits for a rate. */
const patienceMillis = 500

/** Returns a currency's rate in decimal digits; null if no rate is known now. */
export const rateOf = (prices: Prices["Service"], currency: Fiat): Effect.Effect<string | null> =>
  prices.current.pipe(
    Effect.map((rates) => rates.find((rate) => rate.currency === currency)),
    Effect.timeoutOrElse({ duration: patienceMillis, orElse: () => Effect.undefined }),
    Effect.match({
      onSuccess: (rate) => (rate === undefined ? null : Decimal.format(rate.price)),
      onFailure: () => null
    })
  )

/** Returns an amount's approximate value in the visitor's currency; null if there is no rate. */
export const aboutOf = (
  prices: Prices["Service"],
  request: Request,
  sats: number | null,
  locale: Locale
): Effect.Effect<string | null> => {
  if (sats === null) return Effect.succeed(null)
  const currency = currencyOf(request)
  return Effect.map(rateOf(prices, currency), (rate) => {
    const worth = Words.worth(sats, { amount: "0", currency, rate }, locale)
    return worth === null ? null : Words.filled(Words.words[locale].about, worth)
  })
}
