// Numbers, dates and fiat values, in the person's time zone and currency.

/** The person's preferences, stored in cookies. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark"
  readonly currency: string
  /** IANA time zone reported by the browser. UTC until the browser has reported one. */
  readonly zone: string
}

/** Price of one bitcoin in a currency; undefined if it is not known now. */
export interface Price {
  readonly currency: string
  readonly perBitcoin: number
  /** The currencies with a known price. */
  readonly currencies: ReadonlyArray<string>
}

const locale = "en-US"
const numbers = new Map<string, Intl.NumberFormat>()
/** The first formatter takes ten milliseconds, so none is made before it is used. */
const number = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const key = JSON.stringify(options)
  const known = numbers.get(key) ?? new Intl.NumberFormat(locale, options)
  numbers.set(key, known)
  return known
}
const clocks = new Map<string, Intl.DateTimeFormat>()
/** Maximum number of cached formatters, of 10 kB each. A user can send any of 3000 zones, and each needs ten. */
const maxClocks = 1000
const clock = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = zone + JSON.stringify(options)
  const known = clocks.get(key)
  if (known !== undefined) return known
  if (clocks.size >= maxClocks) clocks.clear()
  const made = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone, hourCycle: "h23" })
  clocks.set(key, made)
  return made
}

export const sats = (amount: number): string =>
  number({ maximumFractionDigits: 0 }).format(Math.trunc(amount))
export const short = (amount: number): string =>
  number({ notation: "compact", maximumSignificantDigits: 3 }).format(amount)
/** With up to three decimals, for thousandths of a satoshi. */
export const exact = (amountSats: number, minimumFractionDigits = 0): string =>
  number({ minimumFractionDigits, maximumFractionDigits: 3 }).format(amountSats)
/** The unit of an amount: `sat` after 1. */
export const unit = (amountSats: number): string => (Math.abs(amountSats) === 1 ? "sat" : "sats")
/** `1 sat`, `21,000 sats` */
export const inSats = (amount: number): string => `${sats(amount)} ${unit(Math.trunc(amount))}`
/** `1.5 sats` */
export const exactSats = (amountSats: number): string => `${exact(amountSats)} ${unit(amountSats)}`
/** With a sign: +68,219 or −20,064.5. Rounded first, so that a sum with a floating-point error below zero is +0. */
export const signed = (amountSats: number): string =>
  `${Math.round(amountSats * 1000) < 0 ? "−" : "+"}${exact(Math.abs(amountSats))}`
/** The currency of values for people who think in bitcoin. */
export const bitcoin = "btc"
/** Without a symbol if the currency is not known. Less than its smallest unit is shown as such, not as zero. */
export const fiatText = (amount: number, currency: string | null): string => {
  if (currency === bitcoin)
    return `${number({ minimumFractionDigits: 8, maximumFractionDigits: 11 }).format(amount)} BTC`
  const format = number(
    currency === null
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : { style: "currency", currency: currency.toUpperCase() }
  )
  const least = 10 ** -(format.resolvedOptions().maximumFractionDigits ?? 2)
  return amount > 0 && amount < least ? `< ${format.format(least)}` : format.format(amount)
}
/** With a sign or ≈ before it, unless it is only known to be less than the smallest unit. */
export const marked = (mark: string, fiat: string): string => (fiat.startsWith("<") ? fiat : mark + fiat)
/** For the axis of a chart. */
export const fiatShort = (amount: number, currency: string): string =>
  currency === bitcoin
    ? `${number({ notation: "compact", maximumSignificantDigits: 3 }).format(amount)} BTC`
    : number({
        style: "currency",
        currency: currency.toUpperCase(),
        notation: "compact",
        maximumSignificantDigits: 3
      }).format(amount)
export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
/** An id or a hash, by its ends. */
export const shortened = (text: string): string =>
  text.length > 18 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text
export const valueOf = (amountSats: number, perBitcoin: number): number =>
  (amountSats / 100_000_000) * perBitcoin

/** Returns the known part of a time zone's name. */
export const zoneOf = (text: string | undefined): string => {
  try {
    return text === undefined
      ? "UTC"
      : new Intl.DateTimeFormat(locale, { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return "UTC"
  }
}

/** Formats in one person's time zone and currency. */
export const make = ({ zone }: Pick<Preferences, "zone">, price: Price | undefined, nowMillis: number) => {
  const dayKey = (millis: number) =>
    clock(zone, { year: "numeric", month: "2-digit", day: "2-digit" })
      .format(millis)
      .replace(/(\d+)\/(\d+)\/(\d+)/, "$3-$1-$2")
  const today = dayKey(nowMillis)
  const isThisYear = (millis: number) => dayKey(millis).slice(0, 4) === today.slice(0, 4)
  const date = (millis: number) =>
    clock(zone, { month: "short", day: "numeric", ...(!isThisYear(millis) && { year: "numeric" }) }).format(
      millis
    )
  const time = (millis: number) => clock(zone, { hour: "2-digit", minute: "2-digit" }).format(millis)
  return {
    nowMillis,
    zone,
    price,
    /** `2026-11-24`, in the person's time zone. */
    dayKey,
    today,
    date,
    time,
    seconds: (millis: number) =>
      clock(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(millis),
    /** Monday, November 23. */
    day: (millis: number) =>
      clock(zone, {
        weekday: "long",
        month: "long",
        day: "numeric",
        ...(!isThisYear(millis) && { year: "numeric" })
      }).format(millis),
    weekday: (millis: number) =>
      clock(zone, { weekday: "short", month: "short", day: "numeric" }).format(millis),
    dayOfMonth: (millis: number) => clock(zone, { day: "numeric" }).format(millis),
    month: (millis: number) => clock("UTC", { month: "long", year: "numeric" }).format(millis),
    /** Today, 10:40; otherwise Nov 23, 18:20. */
    when: (millis: number) =>
      dayKey(millis) === today ? `Today, ${time(millis)}` : `${date(millis)}, ${time(millis)}`,
    /** The time to show after “since”: 10:40 if it is today, otherwise Nov 23, 18:20. */
    since: (millis: number) => (dayKey(millis) === today ? time(millis) : `${date(millis)}, ${time(millis)}`),
    /** The current value, if a price is known. */
    fiat: (amountSats: number) =>
      price === undefined
        ? undefined
        : fiatText(valueOf(Math.abs(amountSats), price.perBitcoin), price.currency)
  }
}
export type Format = ReturnType<typeof make>

const hourMillis = 3_600_000

/** Returns the day, such as 2026-11-24, that is this many days after another one. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * hourMillis).toISOString().slice(0, 10)

/** Returns how far a zone's clocks are ahead of UTC. */
const offsetOf = (millis: number, zone: string): number => {
  const digits = "2-digit"
  const all = clock(zone, {
    year: "numeric",
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    second: digits
  })
  const [month = 0, day = 0, year = 0, ...time] = all.format(millis).split(/\D+/).map(Number)
  return Date.UTC(year, month - 1, day, ...time) - millis
}

/**
 * Returns the first moment of a day such as 2026-11-24 in a time zone. The offsets before and within the day differ
 * if clocks change at midnight or later that day.
 */
export const startOfDay = (day: string, zone: string): number => {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const starts = [-15, 13].map((hours) => midnight - offsetOf(midnight + hours * hourMillis, zone))
  return Math.min(...starts.filter((start) => start + offsetOf(start, zone) >= midnight))
}

/** Returns how long ago or ahead, in words: 41 min, 3 h, 2 days. */
export const span = (millis: number): string => {
  const minutes = Math.max(1, Math.round(Math.abs(millis) / 60_000))
  if (minutes < 60) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  if (hours < 48) return `${hours} h`
  return `${Math.round(hours / 24)} days`
}
