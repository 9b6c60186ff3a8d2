const [seconds, minutes, hours] = [1000, 60_000, 3_600_000]

/**
 * Pauses between the attempts of a delivery. They allow twelve attempts in 75 hours. A failed event holds back
 * later events of its record, so the first pauses are short. An endpoint that fails twice, for example during a
 * restart, receives its events within 25 seconds.
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

/**
 * Each pause is lengthened or shortened at random by up to this fraction, so that deliveries that failed
 * together are not retried together.
 */
export const jitter = 0.2

/** Maximum pause that a server may request with `Retry-After`. A request for less than the schedule's pause has no effect. */
export const maxRetryAfterMillis = 24 * hours

/** An endpoint is disabled if its attempts have failed for this long without a success. */
export const maxFailingMillis = 5 * 24 * hours

/**
 * Minimum number of failed attempts of one event before the endpoint is disabled. If no event occurred for days, the
 * next one's first attempts may fail only because the receiver is restarting.
 */
export const minFailedAttempts = 3

/**
 * Returns the pause that a response requests, given in seconds or as an HTTP date (RFC 9110, section 10.2.3),
 * or undefined if it requests none.
 */
export const askedPauseMillis = (
  status: number,
  retryAfter: string | null,
  nowMillis: number
): number | undefined => {
  if ((status !== 429 && status !== 503) || retryAfter === null) return undefined
  const millis = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMillis
  return Number.isNaN(millis) ? undefined : Math.min(maxRetryAfterMillis, Math.max(1000, millis))
}

/**
 * Returns the pause after this many attempts, or undefined if no further attempt is made. `random` is between 0
 * and 1.
 */
export const pauseMillis = (attempts: number, random: number): number | undefined => {
  const pause = pausesMillis[attempts - 1]
  return pause === undefined ? undefined : Math.round(pause * (1 - jitter + 2 * jitter * random))
}
