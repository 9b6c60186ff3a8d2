import { isOver as isFinal } from "../../src/checkout/State.ts"
import { fetchMillis } from "./page.ts"

interface Hears {
  /** The state changed to this version. */
  readonly changed: (version: string) => void
  readonly isOver: () => boolean
  /** The payment no longer exists: an invoice of a Lightning address is deleted a minute after it expired. */
  readonly gone: () => void
  readonly lost: (isLost: boolean) => void
}

const pollMillis = 3000

/** Follows a state through an event stream, or by polling if streams are unavailable. */
export const follow = (url: string, isStreamed: boolean, { changed, isOver, gone, lost }: Hears): void => {
  if (isOver()) return

  let isGone = false
  const poll = async (): Promise<void> => {
    const limit = new AbortController()
    const limiting = setTimeout(() => limit.abort(), fetchMillis)
    try {
      const response = await fetch(url, {
        headers: { accept: "application/json" },
        cache: "no-store",
        signal: limit.signal
      })
      // A proxy without a running service may answer 404, too.
      isGone =
        response.status === 404 &&
        response.headers.get("content-type")?.startsWith("application/json") === true
      if (!response.ok && !isGone) throw new Error(String(response.status))
      lost(false)
      if (isGone) gone()
      else changed(response.headers.get("x-version") ?? "")
    } catch {
      lost(true)
    }
    clearTimeout(limiting)
    if (!isGone && !isOver()) setTimeout(() => void poll(), pollMillis)
  }

  if (!isStreamed) return void poll()
  const stream = new EventSource(url)
  stream.addEventListener("open", () => lost(false))
  stream.addEventListener("state", ({ data, lastEventId }: MessageEvent<string>) => {
    // The server ends the stream too, which would look like a lost connection.
    if (isFinal(JSON.parse(data))) stream.close()
    lost(false)
    changed(lastEventId)
  })
  stream.addEventListener("error", () => {
    // The stream reconnects by itself unless it was refused, for example because there are too many streams.
    if (stream.readyState === EventSource.CLOSED) void poll()
    else lost(true)
  })
}
