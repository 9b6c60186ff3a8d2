// The page of a payment, once its script runs: it is told what changes, counts down, and copies. Without it the page is complete already.
import { signal } from "@preact/signals"
import { h, render } from "preact"
import type { Live, Tab } from "../../src/checkout/Live.ts"
import { isOver, type Page, type State } from "../../src/checkout/State.ts"
import { View } from "../../src/checkout/View.ts"
import type { Words } from "../../src/checkout/Words.ts"
import { follow } from "./follow.ts"

interface Data {
  readonly page: Page
  readonly state: State
  readonly say: Words
}

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

/** By the server's clock, which moves as ours does: ours may be wrong, and may be set. */
const clockOf = (nowMillis: number) => {
  const offset = nowMillis - performance.now()
  return () => performance.now() + offset
}

const run = (root: HTMLElement, { page, say, state: first }: Data): void => {
  const title = document.title
  const state = signal(first)
  let clock = clockOf(first.nowMillis)
  const now = signal(clock())
  const tab = signal<Tab>("all")
  const copied = signal<string | null>(null)
  const isLost = signal(false)
  const hasWallet = signal(window.webln !== undefined)

  const framed = window.parent === window ? null : page.embedOrigin
  const tell = (what: "paid" | "closed") => {
    if (framed !== null) window.parent.postMessage({ satrail: what }, framed)
  }

  const heard = (next: State) => {
    const wasPaid = state.value.status === "paid"
    clock = clockOf(next.nowMillis)
    now.value = clock()
    // A process of another version may leave out what this page knows of.
    state.value = { ...state.value, ...next }
    if (next.status !== "paid") return
    document.title = `✓ ${say.paid} · ${title}`
    if (!wasPaid) tell("paid")
  }
  heard(first)
  if (first.status === "paid") tell("paid")

  const showCopied = (text: string) => {
    copied.value = text
    setTimeout(() => {
      if (copied.value === text) copied.value = null
    }, 3000)
  }
  const copy = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      showCopied(text)
    } catch {
      // The clipboard is closed to this page, which it is without https: the text is selected instead.
      for (const code of root.querySelectorAll("code")) if (code.textContent === text) getSelection()?.selectAllChildren(code)
    }
  }

  const webln = (invoice: string) => {
    // What the wallet did shows here when the payment arrives, and not before.
    const pay = async (wallet: WebLn) => {
      await wallet.enable()
      await wallet.sendPayment(invoice)
    }
    if (window.webln) void pay(window.webln).catch(() => (hasWallet.value = false))
  }

  const sandbox = (way: "lightning" | "chain") => {
    if (page.sandboxUrl !== null) void fetch(`${page.sandboxUrl}?way=${way}`, { method: "POST" }).catch(() => (isLost.value = true))
  }

  const App = () => {
    const live: Live = {
      leftMillis: state.value.expiresAtMillis - now.value,
      tab: tab.value,
      choose: (one) => (tab.value = one),
      copied: copied.value,
      copy: (text) => void copy(text),
      isLost: isLost.value,
      webln: hasWallet.value ? webln : null,
      sandbox: page.sandboxUrl === null ? null : sandbox,
      print: () => window.print(),
      close: framed === null ? null : () => tell("closed")
    }
    return h(View, { page, state: state.value, say, live })
  }
  root.replaceChildren()
  render(h(App, null), root)

  setInterval(() => (now.value = clock()), 1000)
  follow(page, {
    heard,
    isOver: () => isOver(state.value),
    lost: (is) => (isLost.value = is)
  })
}

const root = document.getElementById("checkout")
if (root?.dataset["page"] !== undefined) run(root, JSON.parse(root.dataset["page"]))
