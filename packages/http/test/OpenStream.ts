import type { start } from "./Service.ts"

/** Returns a function that opens a stream of events, and reads it until the test ends it. */
export const opening =
  (service: Awaited<ReturnType<typeof start>>) =>
  async (key: string, query = "", headers: Readonly<Record<string, string>> = {}) => {
    const aborted = new AbortController()
    const response = await service.handler(
      new Request(`http://service/v1/events/stream${query}`, {
        headers: { authorization: `Bearer ${key}`, ...headers },
        signal: aborted.signal
      })
    )
    let text = ""
    let isOver = false
    const reading = (async () => {
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part
      isOver = true
    })().catch(() => {})
    const end = async () => {
      aborted.abort()
      await reading
    }
    return { response, text: () => text, isOver: () => isOver, end }
  }
