import { Effect } from "effect"
import { boundPort } from "@satrail/testing/boundPort"
import { createServer, type Socket } from "node:net"

/**
 * The role an impostor plays. `silent` accepts connections and never responds, like a machine whose programs
 * hang.
 */
export interface Part {
  is: "primary" | "standby" | "read-only" | "silent"
  /** null: the server reports no timeline. `unsaid`: the server stops responding when asked for its timeline. */
  timeline: number | null | "unsaid"
  /** The server doesn't receive the client's termination message, as if the network had just failed. */
  isDeaf: boolean
}

// https://www.postgresql.org/docs/current/protocol-message-formats.html
const message = (type: string, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const int16 = (value: number) => {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}
const int32 = (value: number) => {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}
const text = (value: string) => Buffer.from(`${value}\0`)
const status = (name: string, value: string) => message("S", text(name), text(value))
const ready = message("Z", Buffer.from("I"))

const oids = { text: 25, bool: 16, int4: 23 } as const
type Column = readonly [name: string, type: keyof typeof oids, value: string]

const rowOf = (columns: ReadonlyArray<Column>): Buffer =>
  Buffer.concat([
    message(
      "T",
      int16(columns.length),
      ...columns.map(([name, type]) =>
        Buffer.concat([text(name), int32(0), int16(0), int32(oids[type]), int16(-1), int32(-1), int16(0)])
      )
    ),
    message(
      "D",
      int16(columns.length),
      ...columns.map(([, , value]) => Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]))
    ),
    message("C", text("SELECT 1")),
    ready
  ])

const bool = (is: boolean) => (is ? "t" : "f")

const answer = (asked: string, { is, timeline }: Part, at: string): Buffer => {
  if (asked.includes("as standby"))
    return rowOf([
      ["standby", "bool", bool(is === "standby")],
      ["readOnly", "bool", bool(is !== "primary")]
    ])
  if (asked.includes("as timeline") && timeline === "unsaid") return Buffer.alloc(0)
  if (asked.includes("as timeline") && timeline === null)
    return Buffer.concat([message("E", text("SERROR"), text("C0A000"), text("Mnone"), text("")), ready])
  if (asked.includes("as timeline")) return rowOf([["timeline", "int4", String(timeline)]])
  if (asked.includes("as pid")) return rowOf([["pid", "int4", "1"]])
  return rowOf([["who", "text", at]])
}

const greeting = ({ is }: Part): Buffer =>
  Buffer.concat([
    message("R", int32(0)),
    status("in_hot_standby", is === "standby" ? "on" : "off"),
    status("default_transaction_read_only", is === "read-only" ? "on" : "off"),
    message("K", int32(1), int32(1)),
    ready
  ])

/**
 * A local server that speaks PostgreSQL's protocol and plays its current role. The server returns its own
 * address for any query.
 */
export const make = (first: Partial<Part> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const part: Part = { is: "primary", timeline: 1, isDeaf: false, ...first }
      const sockets = new Set<Socket>()
      let connections = 0
      let at = ""
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        connections++
        socket.on("end", () => {
          if (!part.isDeaf) socket.end()
        })
        sockets.add(socket.on("error", () => {}).once("close", () => sockets.delete(socket)))
        let waiting = Buffer.alloc(0)
        let isGreeted = false
        socket.on("data", (bytes) => {
          if (part.is === "silent") return
          waiting = Buffer.concat([waiting, bytes])
          for (;;) {
            const head = isGreeted ? 1 : 0
            if (waiting.length < head + 4 || waiting.length < head + waiting.readInt32BE(head)) return
            const whole = waiting.subarray(0, head + waiting.readInt32BE(head))
            waiting = waiting.subarray(whole.length)
            if (!isGreeted) {
              isGreeted = true
              socket.write(greeting(part))
            } else if (whole.toString("latin1", 0, 1) === "Q")
              socket.write(answer(whole.toString("utf8", 5), part, at))
          }
        })
      }).listen(0, "127.0.0.1")
      at = `127.0.0.1:${await boundPort(server)}`
      const stop = () => {
        for (const socket of sockets) socket.destroy()
        server.close()
      }
      /** Closes all connections. */
      const drop = () => sockets.forEach((socket) => socket.destroy())
      return { part, at, connections: () => connections, drop, stop }
    }),
    ({ stop }) => Effect.sync(stop)
  )
