// The payment page is complete without this script, which updates it, counts down, and copies.
import { copied } from "../copied.ts"
import { follow } from "./follow.ts"
import { enliven, fetched, show } from "./page.ts"

/** A browser's own wallet (https://webln.guide). */
interface WebLn {
  readonly enable: () => Promise<unknown>
  readonly sendPayment: (invoice: string) => Promise<unknown>
}

declare global {
  interface Window {
    readonly webln?: WebLn
  }
}

const { state: stateUrl, streamed, frame, reload } = document.body.dataset
const retryMillis = 1000
/** How often to reload a page that is older than the announced state. */
const retries = 5

const status = (id: string): HTMLElement => document.getElementById(id) ?? document.body
const main = (): HTMLElement => document.querySelector("main") ?? document.body

/** Notifies the page that frames this one. */
const tell = (
  message:
    | { readonly satrail: "ready" | "paid" | "closed" }
    | { readonly satrail: "size"; readonly height: number }
) => {
  if (frame !== undefined && window.parent !== window) window.parent.postMessage(message, frame)
}

let tick = enliven(document)

const lost = (isLost: boolean): void => {
  const text = isLost ? (status("lost").dataset["lost"] ?? "") : ""
  if (status("lost").textContent !== text) status("lost").textContent = text
}

/** Screen readers announce changes only in an element that already existed. */
const say = (text: string): void => {
  status("said").textContent = text
}

const isPaid = () => main().dataset["status"] === "paid"

const renew = async (): Promise<void> => {
  const wasPaid = isPaid()
  const shown = show(await fetched())
  tick = enliven(shown)
  isLate = false
  say(shown.querySelector("h1")?.textContent ?? "")
  if (isPaid() && !wasPaid) tell({ satrail: "paid" })
}

/** Fetches and shows the page. Returns whether that succeeded. */
const renewed = async (): Promise<boolean> => {
  const isShown = await renew().then(
    () => true,
    () => false
  )
  lost(!isShown)
  return isShown
}

let wanted = main().dataset["version"]
let isLate = false
let isRenewing = false

const isCurrent = () => main().dataset["version"] === wanted && !isLate

/**
 * Fetches the page until it shows the last announced version. A newer page was fetched a moment before its
 * own event. A page that cannot be fetched is tried again however often, because no event follows the last one.
 */
const update = async (): Promise<void> => {
  if (isRenewing) return
  isRenewing = true
  for (let fetches = 0; fetches < retries && !isCurrent();) {
    if (await renewed()) fetches++
    if (isCurrent()) break
    await new Promise((resolve) => {
      setTimeout(resolve, retryMillis)
    })
  }
  isRenewing = false
}

setInterval(() => {
  isLate = tick()
  if (isLate) void update()
}, 1000)

const copy = async (button: HTMLElement): Promise<void> => {
  const code = button.closest(".code")?.querySelector("code")
  if (!code) return
  try {
    await navigator.clipboard.writeText(code.textContent ?? "")
    copied(button)
  } catch {
    // Without https a page cannot write to the clipboard, so the code is selected instead.
    getSelection()?.selectAllChildren(code)
  }
}

const pay = async (invoice: string): Promise<void> => {
  // The page shows the payment when it arrives, not before.
  try {
    await window.webln?.enable()
    await window.webln?.sendPayment(invoice)
  } catch {
    // The payer can try again, because an invoice can be paid only once.
  }
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("button") : null
  if (!button) return
  if (button.dataset["copy"] !== undefined) void copy(button)
  else if (button.dataset["webln"] !== undefined) void pay(button.dataset["webln"])
  else if (button.dataset["print"] !== undefined) window.print()
  else if (button.dataset["close"] !== undefined) tell({ satrail: "closed" })
})

// The sandbox's buttons would reload the page, which is followed anyway.
document.addEventListener("submit", (event) => {
  const { target, submitter } = event
  if (
    !(target instanceof HTMLFormElement) ||
    target.dataset["quiet"] === undefined ||
    !(submitter instanceof HTMLButtonElement)
  )
    return
  event.preventDefault()
  void fetch(submitter.formAction, { method: "POST", headers: { accept: "application/json" } }).catch(() =>
    lost(true)
  )
})

document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") tell({ satrail: "closed" })
})

tell({ satrail: "ready" })
new ResizeObserver(() => tell({ satrail: "size", height: document.body.offsetHeight })).observe(document.body)
if (isPaid()) tell({ satrail: "paid" })
if (reload !== undefined) setTimeout(() => location.reload(), 10 * retryMillis)
if (stateUrl !== undefined)
  follow(stateUrl, streamed !== undefined, {
    changed: (version) => {
      wanted = version
      void update()
    },
    isOver: () => main().dataset["over"] === "true",
    gone: () => {
      // A page that says that the payment expired offers another one. A phone may wake up with a page that still asks.
      if (main().dataset["status"] === "open") location.reload()
    },
    lost
  })
