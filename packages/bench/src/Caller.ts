import { Effect, Schema } from "effect"
import { Agent, request } from "node:http"
import { BenchFailed } from "./Program.ts"

/** Asks a service of this machine, and reads its answer, which must be a good one. */
export type Ask = <A>(method: string, route: string, answer: Schema.Codec<A, unknown>, body?: object) => Effect.Effect<A, BenchFailed>

const maxSockets = 50
/** How soon it is looked again. */
const minMillis = 20

const failed = ({ message }: { readonly message: string }) => new BenchFailed({ message })

/** A caller with these headers, over connections that stay: its own, unless it shares others'. */
export const make = (port: number, headers: Readonly<Record<string, string>>, agent = new Agent({ keepAlive: true, maxSockets })): Ask => {
  const text = (method: string, route: string, body?: object): Effect.Effect<string, BenchFailed> =>
    Effect.callback<string, BenchFailed>((resume) => {
      // A server closes a connection that was idle for long, also at the moment at which it is used again: then it has not seen the request.
      const broken = (error: Error & { readonly code?: string }) =>
        resume(asking.reusedSocket && error.code === "ECONNRESET" ? text(method, route, body) : Effect.fail(failed(error)))
      const sent = { ...headers, ...(body !== undefined && { "content-type": "application/json" }) }
      const asking = request({ agent, host: "127.0.0.1", port, method, path: route, headers: sent }, (response) => {
        let answered = ""
        response.setEncoding("utf8").on("data", (text: string) => (answered += text))
        response.once("end", () => {
          const isWell = response.statusCode === 200 || response.statusCode === 201
          resume(isWell ? Effect.succeed(answered) : Effect.fail(failed({ message: `${route}: ${answered}` })))
        })
      })
      asking.once("error", broken).end(body === undefined ? undefined : JSON.stringify(body))
    })
  return (method, route, answer, body) =>
    Effect.flatMap(text(method, route, body), (answered) =>
      Effect.mapError(Schema.decodeUnknownEffect(Schema.fromJsonString(answer))(answered), failed)
    )
}

/** Until nothing is left of so much, and looks seldom as long as much is: looking takes the time that is measured. At least once in so many milliseconds. */
export const until = <E>(all: number, look: Effect.Effect<number, E>, mostMillis = 500): Effect.Effect<void, E> =>
  Effect.flatMap(look, (left) =>
    left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(Math.max(minMillis, (mostMillis * left) / all)), until(all, look, mostMillis))
  )
