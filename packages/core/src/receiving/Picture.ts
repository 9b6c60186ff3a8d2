import { sha256 } from "@noble/hashes/sha2.js"
import { base64 } from "@scure/base"
import { Result, Schema } from "effect"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"

/** What may be shown. No SVG, which is a document with scripts. */
export const ContentType = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
export type ContentType = typeof ContentType.Type

/** A picture, and what its own header says of it. */
export const Picture = Schema.Struct({
  contentType: ContentType,
  /** In pixels. */
  width: Schema.Int,
  height: Schema.Int,
  /** SHA-256 of its bytes, in lower-case hex. */
  hash: Schema.String,
  /** Its bytes, in base64. */
  data: Schema.String
})
export interface Picture extends Schema.Schema.Type<typeof Picture> {}

/** The most that one has: in base64 it fits into a request's body. A few bytes can say that they are any number of pixels, and whoever shows them needs room for all. */
export const limits = { bytes: 48_000, pixels: 1024 } as const

type Size = Pick<Picture, "width" | "height">

const text = (bytes: DataView, at: number, length: number): string =>
  at + length > bytes.byteLength ? "" : String.fromCharCode(...Array.from({ length }, (_, index) => bytes.getUint8(at + index)))

const moves = "It moves: one that stands still is taken"

/** A reader of a format gives the size, or says what is wrong. It throws a RangeError where the bytes end too early. */
type Reader = (bytes: DataView) => Size | string

/** PNG, third edition: a header, then chunks up to the end, which is the file's. */
const png: Reader = (bytes) => {
  if (text(bytes, 12, 4) !== "IHDR") return "A PNG begins with its header"
  for (let at = 8; ;) {
    const type = text(bytes, at + 4, 4)
    if (type === "acTL") return moves
    at += bytes.getUint32(at) + 12
    if (type === "IEND" && at === bytes.byteLength) break
    if (type === "IEND" || at > bytes.byteLength) return "A PNG ends with its last chunk"
  }
  return { width: bytes.getUint32(16), height: bytes.getUint32(20) }
}

/** ITU T.81: segments, of which the one that begins a frame has its size. */
const jpeg: Reader = (bytes) => {
  for (let at = 2; ; at += bytes.getUint16(at + 2) + 2) {
    const marker = bytes.getUint8(at + 1)
    // Of the markers from 0xc0 to 0xcf all begin a frame but the tables' and that of an extension.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (bytes.getUint8(at) !== 0xff || marker < 0xc0 || marker === 0xd9 || marker === 0xda)
      return "A JPEG has segments, and a frame in one of them"
    if (isFrame) return { width: bytes.getUint16(at + 7), height: bytes.getUint16(at + 5) }
  }
}

/** RFC 9649: one chunk says how large it is, in one of three ways. */
const webp: Reader = (bytes) => {
  if (bytes.getUint32(4, true) + 8 !== bytes.byteLength) return "A WebP is as long as its header says"
  switch (text(bytes, 12, 4)) {
    case "VP8X":
      if ((bytes.getUint8(20) & 2) !== 0) return moves
      return { width: (bytes.getUint32(24, true) & 0xffffff) + 1, height: (bytes.getUint32(26, true) >>> 8) + 1 }
    case "VP8L": {
      const size = bytes.getUint32(21, true)
      return { width: (size & 0x3fff) + 1, height: ((size >>> 14) & 0x3fff) + 1 }
    }
    case "VP8 ":
      return { width: bytes.getUint16(26, true) & 0x3fff, height: bytes.getUint16(28, true) & 0x3fff }
    default:
      return "A WebP begins with its picture"
  }
}

/** By their first bytes, and nothing else. */
const readerOf = (bytes: DataView): readonly [ContentType, Reader] | undefined => {
  if (text(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return ["image/png", png]
  if (text(bytes, 0, 3) === "\xff\xd8\xff") return ["image/jpeg", jpeg]
  if (text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 4) === "WEBP") return ["image/webp", webp]
  return undefined
}

const sizeOf = (bytes: DataView, read: Reader): Size | string => {
  try {
    const size = read(bytes)
    if (typeof size === "string") return size
    const { width, height } = size
    const most = limits.pixels
    if (width >= 1 && width <= most && height >= 1 && height <= most) return size
    return `It is ${width} by ${height} pixels: from 1 to ${most} each way are taken`
  } catch (cause) {
    if (cause instanceof RangeError) return "It ends too early"
    throw cause
  }
}

const invalid = (path: string, message: string) => Result.fail(new Invalid({ path, message }))

const decoded = (data: string): Uint8Array | undefined => {
  try {
    return base64.decode(data)
  } catch {
    return undefined
  }
}

/** A picture from its bytes in base64. What it is, its first bytes say, and what somebody says of it has to agree. */
export const read = (contentType: ContentType, data: string): Result.Result<Picture, Invalid> => {
  const tooLarge = `At most ${limits.bytes} bytes, which are ${Math.ceil(limits.bytes / 3) * 4} characters of base64`
  if (data.length > Math.ceil(limits.bytes / 3) * 4) return invalid("data", tooLarge)
  const content = decoded(data)
  if (content === undefined) return invalid("data", "The picture's bytes in base64 (RFC 4648, section 4), and nothing else")
  const bytes = new DataView(content.buffer, content.byteOffset, content.byteLength)
  const found = readerOf(bytes)
  if (found === undefined) return invalid("data", "A PNG, JPEG or WebP picture, which its first bytes say; no SVG")
  const [type, reader] = found
  if (type !== contentType) return invalid("content_type", `${type}, which the picture's first bytes say that it is`)
  const size = sizeOf(bytes, reader)
  if (typeof size === "string") return invalid("data", size)
  return Result.succeed({ contentType: type, ...size, hash: Id.toHex(sha256(content)), data })
}
