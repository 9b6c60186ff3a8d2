import { filled, type Words } from "../../src/checkout/Words.ts"

/** What is on a card (Web NFC, which Chrome on Android has). */
interface Reading {
  readonly message: { readonly records: ReadonlyArray<{ readonly recordType: string; readonly data?: BufferSource }> }
}

interface Reader {
  readonly addEventListener: (type: "reading", listener: (reading: Reading) => void) => void
  readonly scan: (options: { readonly signal: AbortSignal }) => Promise<void>
}

declare global {
  interface Window {
    readonly NDEFReader?: new () => Reader
  }
}

/** Whether a card can be read here: in no frame, where browsers let nobody. */
export const canRead = (): boolean => window.NDEFReader !== undefined && window.parent === window

/** The first link of the first card that is held to the device. */
const linkOf = (make: new () => Reader): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new make()
    const stop = new AbortController()
    reader.addEventListener("reading", ({ message }) => {
      for (const { recordType, data } of message.records) {
        if (recordType !== "url" || data === undefined) continue
        stop.abort()
        resolve(new TextDecoder().decode(data))
      }
    })
    reader.scan({ signal: stop.signal }).catch(reject)
  })

/** What the service says of the card's server. Where no answer came, it may have been asked all the same. */
const asked = async (url: string, link: string, say: Words): Promise<string> => {
  const body = JSON.stringify({ link })
  try {
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
    if (!answer.ok) return answer.status < 500 ? say.cardFailed : say.cardUnknown
    const { outcome, reason }: { readonly outcome: string; readonly reason: string | null } = await answer.json()
    if (outcome === "refused") return filled(say.cardRefused, reason ?? "")
    return outcome === "asked" ? say.cardAsked : say.cardUnknown
  } catch {
    return say.cardUnknown
  }
}

let isReading = false

/** Has the next card that is held to the device pay, and says what comes of it. */
export const charge = async (url: string, say: Words, told: (text: string) => void): Promise<void> => {
  if (window.NDEFReader === undefined || isReading) return
  isReading = true
  told(say.cardHold)
  try {
    const link = await linkOf(window.NDEFReader)
    told(await asked(url, link, say))
  } catch {
    // No permission, or nothing that reads.
    told(say.cardFailed)
  }
  isReading = false
}
