import { assert, it } from "@effect/vitest"
import { vi } from "vitest"

// The types of browser code include the DOM's, which contradict Node's in the other tests.
interface Hears {
  readonly changed: (version: string) => void
  readonly isOver: () => boolean
  readonly gone: () => void
  readonly lost: (isLost: boolean) => void
}
const file = new URL("../browser/checkout/follow.ts", import.meta.url).href
const { follow }: { readonly follow: (url: string, isStreamed: boolean, hears: Hears) => void } =
  await import(file)

/** Polls with this response until the page hears of its connection, and returns what it hears until then. */
const polled = async (status: number, type = "application/json"): Promise<ReadonlyArray<string>> => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(new Response(null, { status, headers: { "x-version": "1", "content-type": type } }))
  )
  const heard: Array<string> = []
  const hear = (what: string) => () => void heard.push(what)
  await new Promise<void>((resolve) => {
    follow("state", false, {
      changed: hear("changed"),
      gone: hear("gone"),
      // After the first poll.
      isOver: () => heard.length > 0,
      lost: (isLost) => {
        heard.push(isLost ? "lost" : "connected")
        // What follows in the same poll is heard first.
        queueMicrotask(resolve)
      }
    })
  })
  vi.unstubAllGlobals()
  return heard
}

it("page: the connection is lost if the service is unavailable, but not once an expired invoice was deleted", async () => {
  assert.deepStrictEqual(await polled(200), ["connected", "changed"])
  assert.deepStrictEqual(await polled(503), ["lost"])
  assert.deepStrictEqual(await polled(404), ["connected", "gone"])
})

it("page: the connection is lost, and the payment not gone, if a proxy finds no running service", async () => {
  assert.deepStrictEqual(await polled(404, "text/plain; charset=utf-8"), ["lost"])
})
