import type { Random } from "@satrail/testing/Random"
import { cuts, type Draft, type Header, wireOf } from "./Draft.ts"

// Requests that no HTTP client would send: violations of the HTTP/1.1 syntax, and bytes that are not a request
// at all.

const text = (bytes: Buffer) => bytes.toString("latin1")
const bytes = (text: string) => Buffer.from(text, "latin1")

/** Chunks the request's body. `chunk` writes the chunk headers. */
const inChunks = (draft: Draft, headers: ReadonlyArray<Header>, chunk: (body: Buffer) => string): Buffer =>
  bytes(
    text(wireOf({ ...draft, headers: [...draft.headers, ...headers], body: undefined })) +
      chunk(draft.body ?? Buffer.from("{}"))
  )

const chunk = (body: Buffer, size = body.length.toString(16)) => `${size}\r\n${text(body)}\r\n`
const chunked: Header = ["transfer-encoding", "chunked"]

const withHeaders = (draft: Draft, ...more: ReadonlyArray<Header>): Buffer =>
  wireOf({ ...draft, headers: [...draft.headers, ...more] })

const startLine = (draft: Draft, line: string): Buffer =>
  bytes(text(wireOf(draft)).replace(/^[^\r]*/, () => line))

const headerLines: ReadonlyArray<string> = [
  "no colon",
  "x : y",
  ": y",
  "x: a\0b",
  "x: a\rb",
  "x: y\r\n folded",
  " x: y",
  "x\xff: y",
  "x: \xff\xfe",
  `x: ${"y".repeat(20_000)}`,
  `${"x".repeat(20_000)}: y`,
  Array.from({ length: 3000 }, (_, at) => `x${at}: y`).join("\r\n"),
  "content-length: 0",
  "content-length: -1",
  "content-length: 1, 1",
  "content-length: 99999999999999999999",
  "content-length: 0x1",
  "content-length: +1",
  "content-length: 70000",
  "transfer-encoding: gzip, chunked",
  "transfer-encoding: chunked, identity",
  "transfer-encoding: x",
  "transfer-encoding:\x0bchunked",
  "host: a\r\nhost: b",
  "host: a b/c?d",
  "expect: 200-ok",
  "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x",
  "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: x",
  "connection: x-content-type-options, authorization",
  "te: trailers\r\ntrailer: authorization"
]

type Mangling = (random: Random, draft: Draft) => Buffer

const manglings: ReadonlyArray<Mangling> = [
  (_, { method, target, ...draft }) =>
    startLine({ method, target, ...draft }, `${method} http://pay.example.com${target} HTTP/1.1`),
  (random, { method, target, ...draft }) => {
    const whole = { method, target, ...draft }
    const other = random.pick([
      `${method} pay.example.com:80 HTTP/1.1`,
      `${method} * HTTP/1.1`,
      `${method} https://user:password@other.example/${target} HTTP/1.1`,
      `${method} ://${target} HTTP/1.1`,
      `${method}  ${target} HTTP/1.1`,
      `${method} ${target} x HTTP/1.1`,
      `${method} ${target}`,
      `${method} ${target} HTTP/1.0`,
      `${method} ${target} HTTP/0.9`,
      `${method} ${target} HTTP/2.0`,
      `${method} ${target} HTTP/9.9`,
      `${method} ${target} http/1.1`,
      `${method} ${target} HTTPS/1.1`,
      `${method} ${target}#x HTTP/1.1`,
      `${method} ${target}\0 HTTP/1.1`,
      `${method} ${target}\xff HTTP/1.1`,
      `${method} ${target}${"x".repeat(20_000)} HTTP/1.1`,
      `${method}${"X".repeat(100)} ${target} HTTP/1.1`,
      ` ${method} ${target} HTTP/1.1`,
      `\r\n\r\n${method} ${target} HTTP/1.1`,
      "PRI * HTTP/2.0",
      "hello",
      ""
    ])
    return startLine(whole, other)
  },
  (random, draft) => bytes(text(wireOf(draft)).replace("\r\n", () => `\r\n${random.pick(headerLines)}\r\n`)),
  (random, draft) =>
    bytes(text(wireOf(draft)).replaceAll("\r\n", random.pick(["\n", "\r", "\r\r\n", "\n\r"]))),
  (random, draft) => {
    const whole = wireOf(draft)
    return whole.subarray(0, random.below(whole.length))
  },
  (random, draft) => {
    const whole = wireOf(draft)
    for (let n = 1 + random.below(4); n > 0; n--) whole[random.below(whole.length)] = random.below(256)
    return whole
  },
  (random, draft) =>
    random.pick([
      inChunks(draft, [chunked], (body) => `${chunk(body)}0\r\n\r\n`),
      inChunks(draft, [chunked], (body) => `${chunk(body)}0\r\nx: y\r\nauthorization: Bearer z\r\n\r\n`),
      inChunks(
        draft,
        [chunked],
        (body) => Array.from(text(body), (byte) => chunk(bytes(byte))).join("") + "0\r\n\r\n"
      ),
      inChunks(draft, [chunked], (body) => chunk(body)),
      inChunks(draft, [chunked], (body) => `${chunk(body, "zz")}0\r\n\r\n`),
      inChunks(draft, [chunked], (body) => `${chunk(body, "-1")}0\r\n\r\n`),
      inChunks(draft, [chunked], (body) => `${chunk(body, "ffffffffffffffff")}0\r\n\r\n`),
      inChunks(
        draft,
        [chunked],
        (body) => `${chunk(body, `${body.length.toString(16)};${"x".repeat(20_000)}`)}0\r\n\r\n`
      ),
      inChunks(
        draft,
        [chunked],
        (body) => `${chunk(Buffer.concat([body, Buffer.alloc(70_000, " ")]))}0\r\n\r\n`
      ),
      inChunks(draft, [chunked, chunked], (body) => `${chunk(body)}0\r\n\r\n`),
      inChunks(draft, [chunked, ["content-length", "4"]], (body) => `${chunk(body)}0\r\n\r\n`)
    ]),
  // Whatever follows a request counts as the next request.
  (random, draft) =>
    Buffer.concat([
      wireOf({ ...draft, headers: draft.headers.filter(([name]) => name !== "connection") }),
      random.pick([
        wireOf(draft),
        bytes("GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"),
        bytes("hello\r\n\r\n"),
        Buffer.alloc(100)
      ])
    ]),
  (random, draft) => withHeaders(draft, ["expect", random.pick(["100-continue", "100-Continue, x"])]),
  (random) =>
    random.pick([
      bytes("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
      bytes(Array.from({ length: 200 }, () => String.fromCharCode(random.below(256))).join("")),
      Buffer.from("\r\n"),
      Buffer.alloc(20_000, "A")
    ])
]

/** Bytes to send instead of the request. */
export const mangled = (random: Random, draft: Draft): Buffer => random.pick(manglings)(random, draft)

/** Shorter versions of the bytes. */
export function* smaller(whole: Buffer): Generator<Buffer> {
  for (const fewer of cuts(text(whole))) yield bytes(fewer)
}
