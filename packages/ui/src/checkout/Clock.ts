/** The countdown turns amber this long before its end. */
export const soonMillis = 120_000

/** A longer time is shown as a date, because nobody counts down days. */
export const countedMillis = 24 * 3_600_000

/** `04:09`, `1:00:00` */
export const duration = (millis: number): string => {
  const seconds = Math.max(0, Math.ceil(millis / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (part: number) => String(part).padStart(2, "0")
  return hours === 0
    ? `${two(minutes)}:${two(seconds % 60)}`
    : `${hours}:${two(minutes)}:${two(seconds % 60)}`
}

/** The drawn part of a ring in percent, as its `stroke-dasharray`. */
export const dashes = (leftMillis: number, allMillis: number): string =>
  `${Math.max(0, Math.min(100, Math.round((100 * leftMillis) / Math.max(1, allMillis))))} 100`

/** The format of a time. A script rewrites it in the reader's time zone. */
export type Moment = "long" | "time"

const momentFormats: { readonly [moment in Moment]: Intl.DateTimeFormatOptions } = {
  long: {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short"
  },
  time: { hour: "2-digit", minute: "2-digit", timeZoneName: "short" }
}

/**
 * Formats `24 November 2026 at 09:34 UTC`, in the reader's time zone unless another one is given. `language`
 * is the document's language.
 */
export const moment = (millis: number, kind: Moment, language: string, timeZone?: string): string => {
  const name = language === "en" ? "en-GB" : `${language}-u-nu-latn`
  return new Intl.DateTimeFormat(name, {
    ...momentFormats[kind],
    ...(timeZone !== undefined && { timeZone })
  }).format(millis)
}
