import { Effect } from "effect"
import type http from "node:http"

/** A server that answers byte by byte and comes to no end. `isHeard` ends when who asked has read the beginning, however busy the machine is. */
export const make = () => {
  let heard = () => {}
  const begun = new Promise<void>((resolve) => {
    heard = resolve
  })
  const listener: http.RequestListener = (_, response) => {
    let bytes = 0
    // A turn of this thread between any two of them, in which who asked, who is of this process, reads what is there.
    const drip = setInterval(() => {
      response.write("x")
      if (++bytes === 5) heard()
    }, 10)
    response.once("close", () => clearInterval(drip))
  }
  return { listener, isHeard: Effect.promise(() => begun) }
}
