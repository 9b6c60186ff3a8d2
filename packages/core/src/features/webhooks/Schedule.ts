const [seconds, minutes, hours] = [1000, 60_000, 3_600_000]

/**
 * The pauses between the attempts of a delivery: twelve attempts in 75 hours. A failed event holds back the later events of its record, so the first pauses are
 * short: an endpoint that fails twice, as one that restarts, gets them within 25 seconds.
 */
export const pausesMillis = [
  5 * seconds,
  15 * seconds,
  1 * minutes,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours
] as const

export const maxAttempts = pausesMillis.length + 1

/** Each pause is this much longer or shorter, at random: what failed together does not come back together. */
export const jitter = 0.2

/** The longest that a server may put us off with `Retry-After`. */
export const maxRetryAfterMillis = 24 * hours

/** How long an attempt may take, and how long until its connection stands. */
export const attemptMillis = 15_000
export const connectMillis = 5_000

/** Where nothing has succeeded for so long, an endpoint is disabled. */
export const maxFailingMillis = 5 * 24 * hours

/** The pause that an answer asks for: seconds, or an HTTP date (RFC 9110, section 10.2.3); undefined where it asks for none. */
export const askedPauseMillis = (status: number, retryAfter: string | null, nowMillis: number): number | undefined => {
  if ((status !== 429 && status !== 503) || retryAfter === null) return undefined
  const millis = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMillis
  return Number.isNaN(millis) ? undefined : Math.min(maxRetryAfterMillis, Math.max(1000, millis))
}

/** The pause after so many attempts; undefined where there is no further one. `random` is from 0 to 1. */
export const pauseMillis = (attempts: number, random: number): number | undefined => {
  const pause = pausesMillis[attempts - 1]
  return pause === undefined ? undefined : Math.round(pause * (1 - jitter + 2 * jitter * random))
}
