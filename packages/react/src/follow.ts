import { type CheckoutState, isFinal } from "./State.ts"

export interface Hears {
  readonly changed: (state: CheckoutState) => void
  /** The checkout does not exist. */
  readonly missing: () => void
  readonly lost: (isLost: boolean) => void
}

const pollMillis = 3000

/** Time limit of a poll. A phone that changes its network may never notice that a connection is gone. */
const limitMillis = 30_000

/**
 * Follows a checkout's state through an event stream, or by polling if streams are unavailable, until the state
 * is final. Returns a function that stops following.
 */
export const follow = (page: string, { changed, missing, lost }: Hears): (() => void) => {
  const url = `${page}/state`
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const heard = (state: CheckoutState): void => {
    if (isOver) return
    lost(false)
    changed(state)
    // Close the stream here. If the server closed it, that would look like a lost connection.
    if (isFinal(state)) end()
  }
  const poll = async (): Promise<void> => {
    const limit = new AbortController()
    const limiting = setTimeout(() => limit.abort(), limitMillis)
    try {
      const response = await fetch(url, {
        headers: { accept: "application/json" },
        cache: "no-store",
        signal: limit.signal
      })
      if (response.status === 404 && !isOver) {
        end()
        missing()
      } else if (response.ok) heard(await response.json())
      else lost(!isOver)
    } catch {
      if (!isOver) lost(true)
    }
    clearTimeout(limiting)
    if (!isOver) timer = setTimeout(() => void poll(), pollMillis)
  }

  const stream = new EventSource(url)
  const end = (): void => {
    isOver = true
    stream.close()
    clearTimeout(timer)
  }
  stream.addEventListener("open", () => lost(false))
  stream.addEventListener("state", ({ data }: MessageEvent<string>) => heard(JSON.parse(data)))
  stream.addEventListener("error", () => {
    if (isOver) return
    // The stream reconnects by itself unless it was rejected, for example because there are too many streams or
    // the checkout does not exist.
    if (stream.readyState === EventSource.CLOSED) void poll()
    else lost(true)
  })
  return end
}
