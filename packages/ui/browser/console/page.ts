import { copied } from "../copied.ts"
import { fetched } from "../checkout/page.ts"
import { pause, renewing, seen, turned } from "./renewal.ts"
import { ask, complain, listen, own, urlOf } from "./passkey.ts"

// Enhances the console's pages. They work without this script, except for passkeys.

const root = document.documentElement
root.classList.add("scripted")

const zone = (): void => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  document.cookie = `satrail_zone=${encodeURIComponent(timeZone)}; Path=/; Max-Age=31536000; SameSite=Lax`
}

/** Signs in with a printed link, which is in the fragment so that no server logs it, and works once. */
const signIn = (link: string): Promise<void> => {
  history.replaceState(null, "", location.pathname)
  return ask("POST", "/console/session", { link }).then(() => location.reload(), complain)
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null
  if (button) void navigator.clipboard.writeText(button.dataset["copy"] ?? "").then(() => copied(button))
})

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select")
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.querySelector<HTMLInputElement>("#q")
  if (search === null) return
  event.preventDefault()
  search.focus()
})

/** Shows that a form is being sent. Sending it again is allowed, because the network may have lost it. */
document.addEventListener("submit", ({ submitter, target }) => {
  // Other forms change nothing, and the page stays if the response is a download.
  if (!(target instanceof HTMLFormElement) || target.method !== "post") return
  const said = document.querySelector<HTMLElement>("#said")
  submitter?.setAttribute("aria-busy", "true")
  if (said !== null) said.textContent = said.dataset["sending"] ?? ""
})
// The browser may keep the page, and show it again after a click on Back.
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy")
  document.querySelector("#said")?.replaceChildren()
})

/** Describes an element. Buttons, and the headings of parts that open, differ only by their text. */
const markOf = (one: Element): string => {
  const attributes = [...one.attributes]
    .filter(({ name }) => name !== "data-copied")
    .map(({ name, value }) => `${name}=${value}`)
  return [one.tagName, ...attributes, one.matches("button, summary") ? one.textContent : ""].join(" ")
}

/** Whether a replacement of the page would lose what the user types or selects. */
const isUsed = (main: Element, focused: Element | null): boolean =>
  document.getSelection()?.isCollapsed === false ||
  [...main.querySelectorAll("input")].some((field) => field === focused || field.value !== field.defaultValue)

/** Replaces a page with its newest version. Open parts stay open, and the focus stays where it is, or moves to the page if its element is gone. */
const refresh = async (): Promise<void> => {
  const after = (await fetched()).querySelector("main")
  const before = document.querySelector("main")
  const { activeElement: focused } = document
  if (after === null || before === null || isUsed(before, focused)) return
  const isInside = focused !== null && before.contains(focused)
  const same = isInside
    ? [after, ...after.querySelectorAll<HTMLElement>("*")].filter((one) => markOf(one) === markOf(focused))
    : []
  if (same.length > 1) return
  const parts = after.querySelectorAll("details")
  for (const [at, { open }] of before.querySelectorAll("details").entries())
    parts[at]?.toggleAttribute("open", open)
  before.replaceWith(after)
  if (isInside) (same[0] ?? after).focus({ preventScroll: true })
}

const renew = renewing(refresh)

const retryMillis = 3000
const longestPauseMillis = 60_000

/** Refreshes the page after events of the company. */
const read = async (body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    if (value.includes("data:")) void renew()
  }
}

/**
 * Follows the company's events while the page is visible, because a browser opens few connections to a server. After a time
 * without a connection, the page is refreshed, because it may have missed some.
 */
const follow = async (): Promise<void> => {
  let pauseMillis = retryMillis
  // A tab opened in the background may be shown long after its page was made.
  for (let isNew = !document.hidden; ; isNew = false) {
    await seen()
    const hiding = new AbortController()
    const { signal } = hiding
    turned(() => hiding.abort())
    const request = fetch(urlOf("/v1/events/stream"), {
      headers: { ...own, accept: "text/event-stream" },
      signal
    })
    const { ok, status, body } = await request.catch(() => Response.error())
    if (signal.aborted) continue
    // The styles show a message unless it is 200.
    document.body.dataset["stream"] = String(status)
    // Nothing can be read until the person signs in again.
    if (status === 401) return
    if (ok && body !== null) {
      if (!isNew) void renew()
      pauseMillis = retryMillis
      await read(body).catch(() => undefined)
    }
    if (signal.aborted) continue
    await pause(pauseMillis)
    pauseMillis = Math.min(2 * pauseMillis, longestPauseMillis)
  }
}

zone()
listen()
const [, link] = /^#link=([\w-]+)$/.exec(location.hash) ?? []
if (link !== undefined) void signIn(link)
// A company's pages follow its events; the operator's are shown again at an interval.
const { live } = document.body.dataset
if (live === "") void follow()
else if (live !== undefined) setInterval(() => void renew(), Number(live))
