// What a shop loads to have a checkout over its own page. It knows nothing of the payment but what the checkout's page tells the origin that its company named.

/** What the page of a checkout tells whoever frames it. */
interface Message {
  readonly satrail: "paid" | "closed"
}

interface Options {
  /** Enough was credited. The modal stays, with the receipt, until the payer closes it. */
  readonly onPaid?: () => void
  readonly onClosed?: () => void
}

const isMessage = (data: unknown): data is Message =>
  typeof data === "object" && data !== null && "satrail" in data && (data.satrail === "paid" || data.satrail === "closed")

/** Opens the checkout at `url` over the page. Returns what closes it. A checkout that does not name this page's origin is not shown by the browser. */
const open = (url: string, { onPaid, onClosed }: Options = {}): (() => void) => {
  const { origin } = new URL(url, location.href)
  const dialog = document.createElement("dialog")
  const frame = document.createElement("iframe")
  // By the style's own interface: a page that forbids inline styles allows it.
  Object.assign(dialog.style, {
    border: "0",
    borderRadius: "12px",
    padding: "0",
    width: "min(30rem, 100vw)",
    maxWidth: "100vw",
    height: "min(52rem, 100dvh)",
    maxHeight: "100dvh",
    overflow: "hidden"
  })
  Object.assign(frame.style, { border: "0", width: "100%", height: "100%", display: "block" })
  frame.src = url
  frame.title = "Bitcoin"
  frame.allow = "clipboard-write"
  dialog.append(frame)

  const hear = ({ source, origin: from, data }: MessageEvent<unknown>) => {
    if (source !== frame.contentWindow || from !== origin || !isMessage(data)) return
    if (data.satrail === "paid") onPaid?.()
    else dialog.close()
  }
  addEventListener("message", hear)
  dialog.addEventListener("close", () => {
    removeEventListener("message", hear)
    dialog.remove()
    onClosed?.()
  })
  document.body.append(dialog)
  dialog.showModal()
  return () => dialog.close()
}

declare global {
  interface Window {
    satrail?: { readonly open: typeof open }
  }
}

window.satrail = { open }
