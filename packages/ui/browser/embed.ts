// A shop loads this script to show a checkout over its page. It receives only the messages that the checkout
// page sends to its allowed origin.

/** Message of the checkout page to the page that embeds it. */
type Message =
  | { readonly satrail: "ready" | "paid" | "closed" }
  | { readonly satrail: "size"; readonly height: number }

interface Options {
  /** Enough was credited. The dialog stays, with the receipt, until the payer closes it. */
  readonly onPaid?: () => void
  readonly onClosed?: () => void
}

const kinds: ReadonlyArray<unknown> = ["ready", "paid", "closed", "size"]
const isMessage = (data: unknown): data is Message =>
  typeof data === "object" && data !== null && "satrail" in data && kinds.includes(data.satrail)

const phone = "(max-width: 40rem)"

/** Opens the checkout at `url` over the page. Returns a function that closes it. A browser does not show a checkout that does not name this page's origin. */
const open = (url: string, { onPaid, onClosed }: Options = {}): (() => void) => {
  const address = new URL(url, location.href)
  address.searchParams.set("frame", "")
  const dialog = document.createElement("dialog")
  const frame = document.createElement("iframe")
  const exit = document.createElement("button")
  const isPhone = matchMedia(phone)
  // Set styles through the DOM, which a policy against inline styles allows.
  const place = {
    position: "fixed",
    inset: "0",
    width: "100%",
    height: "100%",
    maxWidth: "none",
    maxHeight: "none",
    margin: "0"
  }
  Object.assign(dialog.style, place, {
    border: "0",
    padding: "0",
    overflow: "hidden",
    background: "rgb(26 25 22 / 52%)"
  })
  Object.assign(frame.style, {
    position: "absolute",
    inset: "0",
    margin: "auto",
    border: "0",
    colorScheme: "auto"
  })
  Object.assign(exit.style, {
    position: "absolute",
    zIndex: "1",
    top: "8px",
    insetInlineEnd: "8px",
    width: "44px",
    height: "44px",
    border: "0",
    borderRadius: "22px",
    background: "#fff",
    color: "#1a1916",
    font: "24px/1 sans-serif",
    cursor: "pointer"
  })
  exit.textContent = "×"
  exit.setAttribute("aria-label", "Close")
  frame.src = address.href
  frame.title = "Bitcoin"
  frame.allow = "clipboard-write"
  dialog.setAttribute("aria-label", "Bitcoin")
  // The first element receives the focus. In the frame, keys would be lost until its page is loaded.
  dialog.append(exit, frame)

  let height = 824
  const fit = () =>
    Object.assign(
      frame.style,
      isPhone.matches
        ? { width: "100%", height: "100%", borderRadius: "0", boxShadow: "none" }
        : {
            width: "min(26rem, 100%)",
            height: `min(${height}px, 100% - 3rem)`,
            borderRadius: "20px",
            boxShadow: "0 2px 6px rgb(26 25 22 / 10%), 0 24px 64px rgb(26 25 22 / 22%)"
          }
    )
  fit()

  const close = () => dialog.close()
  const hear = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source !== frame.contentWindow || origin !== address.origin || !isMessage(data)) return
    if (data.satrail === "paid") onPaid?.()
    else if (data.satrail === "closed") close()
    else if (data.satrail === "size") {
      height = data.height
      fit()
    }
    // From here on the page shows its own close button and closes on Escape.
    else {
      frame.focus()
      exit.hidden = true
    }
  }
  addEventListener("message", hear)
  isPhone.addEventListener("change", fit)
  // On the exit, or outside: clicks in the frame stay there.
  dialog.addEventListener("click", close)
  dialog.addEventListener("close", () => {
    removeEventListener("message", hear)
    isPhone.removeEventListener("change", fit)
    dialog.remove()
    onClosed?.()
  })
  document.body.append(dialog)
  // The browser keeps the focus inside, closes it on Escape, and returns the focus afterwards.
  dialog.showModal()
  return close
}

declare global {
  interface Window {
    satrail?: { readonly open: typeof open }
  }
}

window.satrail = { open }
