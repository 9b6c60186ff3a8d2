import { Effect } from "effect"
import type http from "node:http"

/**
 * A server that responds byte by byte without end. `isHeard` resolves once the client has read the beginning,
 * however busy the machine is.
 */
export const make = () => {
  let heard = () => {}
  const begun = new Promise<void>((resolve) => {
    heard = resolve
  })
  const listener: http.RequestListener = (_, response) => {
    let bytes = 0
    // The client runs in this thread. A turn of the event loop between two bytes lets it read the previous
    // ones.
    const drip = setInterval(() => {
      response.write("x")
      if (++bytes === 5) heard()
    }, 10)
    response.once("close", () => clearInterval(drip))
  }
  return { listener, isHeard: Effect.promise(() => begun) }
}
