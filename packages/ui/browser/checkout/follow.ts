import type { Page, State } from "../../src/checkout/State.ts"

interface Hears {
  readonly heard: (state: State) => void
  /** Nothing more is to come. */
  readonly isOver: () => boolean
  readonly lost: (isLost: boolean) => void
}

const pollMillis = 3000

/** Has a page hear what changes: by a stream, and where there is none, by asking again and again. */
export const follow = ({ stateUrl: url, isStreamed }: Page, { heard, isOver, lost }: Hears): void => {
  if (isOver()) return

  const poll = async (): Promise<void> => {
    try {
      const answer = await fetch(url, { headers: { accept: "application/json" }, cache: "no-store" })
      if (!answer.ok) throw new Error(String(answer.status))
      heard(await answer.json())
      lost(false)
    } catch {
      lost(true)
    }
    if (!isOver()) setTimeout(() => void poll(), pollMillis)
  }

  if (!isStreamed) return void poll()
  const stream = new EventSource(url)
  stream.addEventListener("open", () => lost(false))
  stream.addEventListener("state", ({ data }: MessageEvent<string>) => {
    heard(JSON.parse(data))
    lost(false)
    if (isOver()) stream.close()
  })
  stream.addEventListener("error", () => {
    // It comes back by itself, unless it was refused: there are as many streams as may be.
    if (stream.readyState === EventSource.CLOSED) void poll()
    else lost(true)
  })
}
