import { boundPort } from "@satrail/testing/boundPort"
import { Effect, type Scope } from "effect"
import dgram from "node:dgram"
import type http from "node:http"
import net from "node:net"

const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, RRSIG: 46 } as const

/** A record in a response: its owner, type and data. The owner and any name in the data are not compressed. */
export interface Record {
  readonly owner: string
  readonly type: keyof typeof types
  readonly data: Buffer
}

export const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")])),
    Buffer.from([0])
  ])

/** A TXT record with these strings. */
export const txt = (owner: string, ...strings: ReadonlyArray<string>): Record => ({
  owner,
  type: "TXT",
  data: Buffer.concat(strings.map((text) => Buffer.from([text.length, ...Buffer.from(text, "latin1")])))
})

/** An IPv4 address record. */
export const a = (owner: string, address: string): Record => ({
  owner,
  type: "A",
  data: Buffer.from(address.split(".").map(Number))
})

/** An IPv6 address record of the address that ends with this number, and has no other digits. */
export const aaaa = (owner: string, last: number): Record => ({
  owner,
  type: "AAAA",
  data: Buffer.from([...Buffer.alloc(15), last])
})

export const cname = (owner: string, target: string): Record => ({
  owner,
  type: "CNAME",
  data: nameBytes(target)
})
export const signature = (owner: string): Record => ({ owner, type: "RRSIG", data: Buffer.alloc(90, 7) })

/** The fields in which a resolver's response differs from a successful, validated one. */
export interface Said {
  readonly records?: ReadonlyArray<Record>
  /** The response code. */
  readonly code?: number
  /** Whether the AD bit is set. */
  readonly isAuthentic?: boolean
  readonly isTruncated?: boolean
}

/** Encodes the complete response to `question` (RFC 1035, section 4). */
export const answer = (
  question: Uint8Array,
  { records = [], code = 0, isAuthentic = true, isTruncated = false }: Said = {}
): Buffer => {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180 | code | (isAuthentic ? 0x20 : 0) | (isTruncated ? 0x200 : 0), 2)
  header.writeUInt16BE(records.length, 6)
  const answers = records.map(({ owner, type, data }) => {
    const head = Buffer.from([0, types[type], 0, 1, 0, 0, 0, 1, 0, 0])
    head.writeUInt16BE(data.length, 8)
    return Buffer.concat([nameBytes(owner), head, data])
  })
  return Buffer.concat([header, question.subarray(12), ...answers])
}

/** Returns the name in the question, in the question's spelling. */
export const asked = (question: Uint8Array): string => {
  const labels: Array<string> = []
  for (let at = 12; question[at] !== 0; at += (question[at] ?? 0) + 1)
    labels.push(Buffer.from(question).toString("latin1", at + 1, at + 1 + (question[at] ?? 0)))
  return labels.join(".")
}

const bound = Effect.acquireRelease(
  Effect.callback<dgram.Socket>((resume) => {
    const socket = dgram.createSocket("udp4")
    socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
  }),
  (socket) => Effect.sync(() => socket.close())
)

/**
 * Serves DNS over UDP and returns `address:port`. `zone` returns the response for a name in lower case and a
 * type, or undefined to send none.
 */
export const overUdp = (
  zone: (name: string, type: Record["type"] | undefined) => Said | undefined
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(bound, (socket) => {
    socket.on("message", (message, from) => {
      const end = message.indexOf(0, 12) + 5
      const question = Buffer.from(message.subarray(0, end)) // without the records after it, such as EDNS
      question.fill(0, 6, 12)
      const type = question.readUInt16BE(end - 4)
      const said = zone(
        asked(question).toLowerCase(),
        (Object.keys(types) as Array<Record["type"]>).find((one) => types[one] === type)
      )
      if (said !== undefined) socket.send(answer(question, said), from.port, from.address)
    })
    return `127.0.0.1:${socket.address().port}`
  })

/**
 * Serves DNS over HTTPS (RFC 8484, GET). `zone` returns the response for a name, or undefined if the name does
 * not exist.
 */
export const overHttps =
  (zone: (name: string) => Said | undefined): http.RequestListener =>
  (request, response) => {
    const { searchParams } = new URL(request.url ?? "", "https://resolver.example")
    const question = Buffer.from(searchParams.get("dns") ?? "", "base64url")
    response
      .setHeader("content-type", "application/dns-message")
      .end(answer(question, zone(asked(question).toLowerCase()) ?? { code: 3 }))
  }

/**
 * Serves DNS over TCP (RFC 7766) and returns the port. `answer` returns the bytes to write for a question, or
 * undefined to close the connection.
 */
export const overTcp = (
  answer: (question: Uint8Array) => Uint8Array | undefined
): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const server = net.createServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.once("data", (bytes: Buffer) => {
          const written = answer(bytes.subarray(2))
          if (written === undefined) socket.destroy()
          else socket.write(written)
        })
      })
      return server.listen(0, "127.0.0.1")
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.flatMap((server) => Effect.promise(() => boundPort(server))))

/** Prefixes a message with its length. */
export const framed = (message: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message])
