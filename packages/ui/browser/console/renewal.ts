export const pause = (millis: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, millis)
  })

/** Calls a function once, when the page is hidden or shown next. */
export const turned = (act: () => void): void =>
  document.addEventListener("visibilitychange", act, { once: true })

/** Resolves as soon as the page is visible. */
export const seen = (): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (document.hidden) turned(look)
      else resolve()
    }
    look()
  })

const burstMillis = 700
/** A page that takes the server long is refreshed less often: it rests nine times as long, at most ten seconds. */
const restOf = (tookMillis: number): number => Math.min(9 * tookMillis, 10_000)

/** Returns a function that refreshes a visible page soon, once per burst of calls, and never twice at the same time. */
export const renewing = (refresh: () => Promise<void>): (() => Promise<void>) => {
  let isStale = false
  let isRenewing = false
  return async () => {
    isStale = true
    if (isRenewing) return
    isRenewing = true
    while (isStale) {
      await pause(burstMillis)
      await seen()
      isStale = false
      const begun = performance.now()
      await refresh().catch(() => undefined)
      await pause(restOf(performance.now() - begun))
    }
    isRenewing = false
  }
}
