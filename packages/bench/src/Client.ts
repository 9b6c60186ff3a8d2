import { Effect, Schema } from "effect"
import { BenchFailed, failed } from "./Program.ts"

/**
 * Returns a function that sends requests with an API key to a service on this machine. It fails if the status
 * is not 2xx.
 */
export const make =
  (port: number, apiKey: string) =>
  <A>(method: string, route: string, data: Schema.Codec<A, unknown>, body?: object): Effect.Effect<A, BenchFailed> =>
    Effect.tryPromise({
      try: async () => {
        const headers = { authorization: `Bearer ${apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) }
        const sent = body === undefined ? {} : { body: JSON.stringify(body) }
        const response = await fetch(`http://127.0.0.1:${port}${route}`, { method, headers, ...sent })
        const text = await response.text()
        if (!response.ok) throw new Error(`${response.status} ${text}`)
        return text === "" ? "{}" : text
      },
      catch: (cause) => new BenchFailed({ message: `${method} ${route}: ${String(cause)}` })
    }).pipe(
      Effect.flatMap((text) => failed(Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ data })))(text))),
      Effect.map((answer) => answer.data)
    )

export type Client = ReturnType<typeof make>

const Balance = Schema.Struct({ balance: Schema.Finite, held_sats: Schema.optionalKey(Schema.Finite) })

/** Returns the balance of the company whose key the client uses. */
export const balance = (client: Client) => client("GET", "/v1/transactions/balance", Balance)

const minMillis = 20

/**
 * Polls until `left` is zero or less. Polls less often while most of `all` is left, because polling takes
 * processor time from the measured program.
 */
export const until = <E>(all: number, left: Effect.Effect<number, E>, maxMillis = 500): Effect.Effect<void, E> =>
  Effect.flatMap(left, (now) =>
    now <= 0 ? Effect.void : Effect.andThen(Effect.sleep(Math.max(minMillis, (maxMillis * now) / all)), until(all, left, maxMillis))
  )
