import { afterEach, assert, beforeEach, it } from "@effect/vitest"
import { vi } from "vitest"

const file = new URL("../browser/console/renewal.ts", import.meta.url).href
const { renewing }: { readonly renewing: (refresh: () => Promise<void>) => () => Promise<void> } =
  await import(file)

const page = Object.assign(new EventTarget(), { hidden: false })
const show = (hidden: boolean) => {
  page.hidden = hidden
  page.dispatchEvent(new Event("visibilitychange"))
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal("document", page)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A page that takes 400 ms to fetch, or fails after as long. */
const fetching = () => {
  const seen = { now: 0, most: 0, all: 0 }
  const refresh = async () => {
    seen.most = Math.max(seen.most, ++seen.now)
    const isFailed = ++seen.all % 2 === 0
    await new Promise((resolve) => {
      setTimeout(resolve, 400)
    })
    seen.now--
    if (isFailed) throw new Error("503")
  }
  return { seen, renew: renewing(refresh) }
}

it("console: a page is refreshed once per burst of events, and never twice at the same time", async () => {
  const { seen, renew } = fetching()
  for (let event = 0; event < 200; event++) {
    void renew()
    await vi.advanceTimersByTimeAsync(50)
  }
  assert.deepStrictEqual(
    [seen.most, seen.all],
    [1, 2],
    "in 10 seconds, of which each refresh takes 0.7 + 0.4 + 3.6"
  )
  await vi.advanceTimersByTimeAsync(60_000)
  assert.strictEqual(seen.all, 3, "the last event is the last refresh")
})

it("console: a hidden page is refreshed once when it is shown again", async () => {
  const { seen, renew } = fetching()
  show(true)
  for (let minute = 0; minute < 10; minute++) {
    void renew()
    await vi.advanceTimersByTimeAsync(60_000)
  }
  assert.strictEqual(seen.all, 0)
  show(false)
  await vi.advanceTimersByTimeAsync(0)
  assert.strictEqual(seen.all, 1)
  await vi.advanceTimersByTimeAsync(60_000)
  assert.strictEqual(seen.all, 1)
})
