import { Result } from "effect"

// Reads timestamps of RFC 3339, section 5.6. Nothing is guessed: a time without a time zone is refused.

/** An instant in whole milliseconds since 1970, rounded down, and whether digits below a millisecond were dropped. */
export interface Instant {
  readonly millis: number
  readonly isRounded: boolean
}

const grammar = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const withoutZone = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/
/** In a query, a `+` that is not encoded is read as a space. */
const withoutPlus = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)? \d\d:\d\d$/

const dayMillis = 86_400_000
const [first, last] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")]

/** Returns the start of a day in UTC, such as 2026-01-31. Undefined if there is no such day: `Date.parse` reads 30 February as a day in March. */
export const startOfDay = (day: string): number | undefined => {
  const millis = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  return Number.isNaN(millis) || !new Date(millis).toISOString().startsWith(day) ? undefined : millis
}

/** Returns whether an instant ends a month in UTC. A leap second is inserted only there (RFC 3339, appendix D). */
const endsMonth = (millis: number): boolean => millis % dayMillis === 0 && new Date(millis).getUTCDate() === 1

const reasonOf = (text: string): string => {
  if (withoutPlus.test(text)) return "it has a space where its offset begins (encode + as %2B in a query)"
  return withoutZone.test(text) ? "its time and time zone are missing (Z, or an offset such as +02:00)" : ""
}

/**
 * Parses a timestamp: any number of decimals, `Z` or an offset, either letter case, and a space in place of the T. A
 * leap second is the start of the next second, because time is counted without leap seconds. The error says what is
 * wrong, or is empty if the text is no timestamp at all.
 */
export const parse = (text: string): Result.Result<Instant, string> => {
  const [
    whole,
    day = "",
    hour = "",
    minute = "",
    second = "",
    fraction = "",
    sign,
    offsetHour = "0",
    offsetMinute = "0"
  ] = grammar.exec(text) ?? []
  if (whole === undefined) return Result.fail(reasonOf(text))
  const start = startOfDay(day)
  if (start === undefined) return Result.fail(`there is no ${day}`)
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60)
    return Result.fail(`there is no ${hour}:${minute}:${second}`)
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59)
    return Result.fail(`there is no offset ${sign}${offsetHour}:${offsetMinute}`)
  const ahead = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1)
  const seconds = start / 1000 + (Number(hour) * 60 + Number(minute) - ahead) * 60 + Number(second)
  if (second === "60" && !endsMonth(seconds * 1000))
    return Result.fail("only the last minute of a month in UTC can have a second 60, a leap second")
  const millis = seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"))
  if (millis < first || millis > last) return Result.fail("it must be in the years 0000 to 9999 in UTC")
  return Result.succeed({ millis, isRounded: /[1-9]/.test(fraction.slice(3)) })
}
