import { Effect, type Scope } from "effect"
import type { Server } from "node:http"

/** Listens on a free loopback port until the scope closes. Returns the URL. */
export const on = (server: Server): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const at = server.address()
        resume(Effect.succeed(`http://127.0.0.1:${typeof at === "object" ? at?.port : ""}`))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
