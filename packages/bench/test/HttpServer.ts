import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"

/** Starts a server in this process until the scope closes. Returns its port. */
export const server = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const made = createServer(listener)
      made.listen(0, "127.0.0.1", () => {
        const address = made.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, close: () => made.close().closeAllConnections() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))
