import { signal } from "@preact/signals"
import { urlOf } from "./api.ts"

// What happens, as it happens: server-sent events, read by fetch, since an EventSource cannot send the header that says whose page this is.

export interface Happened {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The newest events of this visit, the newest first. */
export const events = signal<ReadonlyArray<Happened>>([])
/** Moves whenever something happened: what is shown is then asked for again. */
export const tick = signal(0)
export const isConnected = signal(false)

const kept = 200
const busyMillis = 500
let isWaiting = false

/** Soon, and no more often than pages can be asked for again. */
const move = (): void => {
  if (isWaiting) return
  isWaiting = true
  const isFirst = performance.now() - moved > busyMillis
  setTimeout(
    () => {
      isWaiting = false
      moved = performance.now()
      tick.value++
    },
    isFirst ? 0 : busyMillis
  )
}
let moved = -Infinity
const retryMillis = 3000
let last: string | undefined

const isHappened = (value: unknown): value is Happened =>
  typeof value === "object" && value !== null && "id" in value && "type" in value && "data" in value && "timestamp" in value

const heard = (block: string): void => {
  const of = (name: string) =>
    block
      .split("\n")
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart())
      .join("\n")
  const data = of("data")
  if (data === "") return
  const event: unknown = JSON.parse(data)
  if (!isHappened(event)) return
  last = of("id") || last
  events.value = [event, ...events.value].slice(0, kept)
  move()
}

const read = async (signal: AbortSignal): Promise<void> => {
  const response = await fetch(urlOf("/v1/events/stream"), {
    signal,
    cache: "no-store",
    headers: { accept: "text/event-stream", "x-satrail-console": "1", ...(last !== undefined && { "last-event-id": last }) }
  })
  if (!response.ok || response.body === null) throw new Error(`events: ${response.status}`)
  isConnected.value = true
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const blocks = text.split("\n\n")
    text = blocks.pop() ?? ""
    for (const block of blocks) heard(block)
  }
}

/** Follows what happens until it is stopped. While no stream is open, the pages ask again from time to time instead. */
export const follow = (): (() => void) => {
  const controller = new AbortController()
  const run = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await read(controller.signal).catch(() => undefined)
      isConnected.value = false
      if (controller.signal.aborted) return
      await new Promise((resolve) => {
        setTimeout(resolve, retryMillis)
      })
      tick.value++
    }
  }
  void run()
  return () => {
    controller.abort()
    events.value = []
    last = undefined
  }
}
