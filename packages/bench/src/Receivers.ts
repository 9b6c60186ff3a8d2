import { Effect, Schema, type Scope } from "effect"
import * as Program from "./Program.ts"

/** So many receivers of webhooks. The last one answers after `slowMillis`, where that is more than nothing, and is not counted. */
export const Begin = Schema.Struct({ count: Schema.Int, slowMillis: Schema.Int })
export const Ask = Schema.Struct({ ask: Schema.Literal("received") })

const Ports = Schema.Struct({ ports: Schema.Array(Schema.Int) })
const Received = Schema.Struct({ lateMillis: Schema.Array(Schema.Finite) })

/** Receivers in a process of their own. */
export interface Receivers {
  readonly ports: ReadonlyArray<number>
  /** What arrived since this was asked last: how long after its commit, each. */
  readonly received: Effect.Effect<ReadonlyArray<number>, Program.BenchFailed>
}

export const start = Effect.fnUntraced(function* (begin: typeof Begin.Type): Effect.fn.Return<Receivers, Program.BenchFailed, Scope.Scope> {
  const program = yield* Program.fork("receiverProgram")
  program.child.send(begin)
  const { ports } = yield* Program.message(program, Ports)
  const ask: typeof Ask.Type = { ask: "received" }
  const received = Effect.suspend(() => {
    program.child.send(ask)
    return Effect.map(Program.message(program, Received), ({ lateMillis }) => lateMillis)
  })
  return { ports, received }
})

const Created = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Struct({ id: Schema.String }) }))

const ask = (method: string, port: number, path: string, key: string, body?: object) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${answer.status} ${text}`)
      return text
    },
    catch: (cause) => new Program.BenchFailed({ message: `${method} ${path}: ${String(cause)}` })
  })

const path = "/v1/webhook-endpoints"

/** An endpoint of the company with this key, at a receiver; its id. */
export const endpoint = (port: number, key: string, receiver: number): Effect.Effect<string, Program.BenchFailed> =>
  Effect.map(ask("POST", port, path, key, { url: `http://127.0.0.1:${receiver}/` }), (text) => Created(JSON.parse(text)).data.id)

/** Whatever waits for it is sent no more. */
export const remove = (port: number, key: string, id: string): Effect.Effect<unknown, Program.BenchFailed> =>
  ask("DELETE", port, `${path}/${id}`, key)
