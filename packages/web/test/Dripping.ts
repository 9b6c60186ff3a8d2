import { Effect } from "effect"
import type http from "node:http"

/**
 * A server whose responses arrive byte by byte and never end. `isHeard` resolves once the client has read the
 * first bytes, however busy the machine is.
 */
export const make = () => {
  const begun = Promise.withResolvers<void>()
  const listener: http.RequestListener = (_, response) => {
    let bytes = 0
    // The client runs in this thread. Between two bytes, a turn of the event loop lets the client read the
    // previous ones.
    const drip = setInterval(() => {
      response.write("x")
      if (++bytes === 5) begun.resolve()
    }, 10)
    response.once("close", () => clearInterval(drip))
  }
  return { listener, isHeard: Effect.promise(() => begun.promise) }
}
