import { Context, Effect } from "effect"
import { HttpServer } from "effect/http"

/** Sends the parent process the listening port, and exits on request. */
export const untilAsked = (listening: Context.Context<HttpServer.HttpServer>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.once("SIGTERM", () => resume(Effect.void))
    const { address } = Context.get(listening, HttpServer.HttpServer)
    process.send?.({ port: "port" in address ? address.port : 0 })
  })
