import { Context, Effect } from "effect"
import { HttpServer } from "effect/http"

/** Sends the port to the parent process, and then waits for SIGTERM. */
export const untilAsked = (listening: Context.Context<HttpServer.HttpServer>): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    process.once("SIGTERM", () => resume(Effect.void))
    const { address } = Context.get(listening, HttpServer.HttpServer)
    process.send?.({ port: "port" in address ? address.port : 0 })
  })
