import { countedMillis, dashes, duration, type Moment, moment, soonMillis } from "../../src/checkout/Clock.ts"

/**
 * Time limit of a fetch. A phone that changes its network may never notice that a connection is gone. The service
 * responds within this time or not at all.
 */
export const fetchMillis = 30_000

/**
 * Fetches this page again as a document. The browser parses it, so no script runs and no string becomes
 * markup here.
 */
export const fetched = (): Promise<Document> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("GET", location.href)
    request.responseType = "document"
    request.timeout = fetchMillis
    // Also after an error, without a status.
    request.addEventListener("loadend", () => {
      const { status, responseXML } = request
      if (status === 200 && responseXML !== null) resolve(responseXML)
      else reject(new Error(String(status)))
    })
    request.send()
  })

const isMoment = (kind: string | undefined): kind is Moment => kind === "long" || kind === "time"

/** Shows a page's times in the reader's time zone. */
const localized = (root: ParentNode): void => {
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
    const kind = time.dataset["moment"]
    if (isMoment(kind))
      time.textContent = moment(Date.parse(time.dateTime), kind, document.documentElement.lang)
  }
}

/** The local clocks that count differently by this much were set, or stopped while the device slept. */
const driftMillis = 2000

/**
 * Counts down from the server's time. The local clock may be wrong, and the monotonic clock may stop while a device
 * sleeps, so the one that advanced more counts. Once they differ, only a new page has the time left: returns whether
 * it should be fetched.
 */
const counting = (root: ParentNode): (() => boolean) => {
  const timer = root.querySelector<HTMLElement>("[role=timer]")
  const digits = timer?.querySelector(".live bdi")
  if (!timer || !digits) return () => false
  const told = (name: string) => Number(timer.dataset[name])
  const until = told("until")
  const startMillis = Date.now()
  const start = performance.now()
  return () => {
    const [counted, dated] = [performance.now() - start, Date.now() - startMillis]
    const left = until - told("now") - Math.max(counted, dated)
    digits.textContent = duration(Math.min(left, countedMillis))
    timer.querySelector(".left")?.setAttribute("stroke-dasharray", dashes(left, until - told("from")))
    timer.classList.toggle("soon", left <= soonMillis)
    return Math.abs(counted - dated) > driftMillis
  }
}

/** Adds the behavior that needs a script to each page shown. Returns the function to run every second, as above. */
export const enliven = (root: ParentNode): (() => boolean) => {
  localized(root)
  if (window.webln !== undefined)
    for (const button of root.querySelectorAll<HTMLElement>("[data-webln]")) button.hidden = false
  return counting(root)
}

/**
 * Shows another version of the page. Open parts stay open, and the focus stays in place or moves to the
 * change.
 */
export const show = (next: Document): HTMLElement => {
  const [before, after] = [document.querySelector("main"), next.querySelector("main")]
  if (!before || !after) throw new Error("not a payment page")
  const { activeElement } = document
  const isInside = before.contains(activeElement)
  for (const { id } of before.querySelectorAll("details[open]"))
    after.querySelector(`details#${id}`)?.setAttribute("open", "")
  document.title = next.title
  before.replaceWith(after)
  if (isInside && activeElement) {
    const { tagName } = activeElement
    const label = activeElement.getAttribute("aria-label")
    const same = [...after.querySelectorAll<HTMLElement>(tagName)].find((one) =>
      label === null
        ? one.textContent === activeElement.textContent
        : one.getAttribute("aria-label") === label
    )
    ;(same ?? after.querySelector<HTMLElement>(".headline"))?.focus()
  }
  return after
}
