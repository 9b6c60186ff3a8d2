import { connect } from "node:net"
import type { Answer } from "./Judge.ts"

interface Read {
  readonly answer: Answer
  readonly rest: Buffer
}

const chunked = (bytes: Buffer): { readonly body: Buffer; readonly rest: Buffer } => {
  const parts: Array<Buffer> = []
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at)
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16)
    if (end < 0 || Number.isNaN(size)) throw new Error("a chunk that cannot be read")
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(end + 4) }
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 4 + size
  }
}

/** Returns the first response in these bytes, or undefined if it is incomplete. */
const first = (bytes: Buffer, method: string): Read | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [line = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(line)?.[1])
  const headers = new Map(
    lines.map((one) => [one.slice(0, one.indexOf(":")).toLowerCase(), one.slice(one.indexOf(":") + 1).trim()])
  )
  const after = bytes.subarray(end + 4)
  if (status < 200) return first(after, method)
  const length = method === "HEAD" ? 0 : Number(headers.get("content-length") ?? Number.NaN)
  const { body, rest } =
    headers.get("transfer-encoding") === "chunked" && method !== "HEAD"
      ? chunked(after)
      : Number.isNaN(length)
        ? { body: after, rest: Buffer.alloc(0) }
        : { body: after.subarray(0, length), rest: after.subarray(length) }
  return { answer: { status, type: headers.get("content-type") ?? "", text: body.toString("utf8") }, rest }
}

/**
 * Silence is measured in this many steps. If this process, which also runs the server, stalls, the stall counts
 * as only one step.
 */
const quietSteps = 10

/**
 * Sends bytes over a new connection and reads every response until it closes. `method` belongs to the first
 * request. After `quietMillis` of silence, our side of the connection is closed.
 */
export const ask = (
  port: number,
  bytes: Buffer,
  method: string,
  quietMillis = 10_000
): Promise<ReadonlyArray<Answer>> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    let silent = 0
    const listening = setInterval(() => {
      if (++silent === quietSteps) socket.end()
    }, quietMillis / quietSteps)
    socket.on("data", (part) => {
      silent = 0
      parts.push(part)
    })
    // The server may cut the connection when it rejects a request that is still being sent. Responses read
    // before the cut are valid.
    socket.on("error", () => {})
    socket.on("close", () => {
      clearInterval(listening)
      try {
        const answers: Array<Answer> = []
        let read = first(Buffer.concat(parts), method)
        while (read !== undefined) {
          answers.push(read.answer)
          read = first(read.rest, "GET")
        }
        resolve(answers)
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    socket.write(bytes)
  })
