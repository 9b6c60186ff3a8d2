import { Effect, Exit, Fiber } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import zlib from "node:zlib"

// CompressionStream would load Node's web streams and its HTTP client at startup: 7 MiB, and a tenth of the time.
const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)
const brotliCompress = promisify(zlib.brotliCompress)

/** A response that is the same for everyone. It is stored compressed, because most clients receive it that way. */
export interface Asset {
  readonly compressed: Uint8Array
  /** Returns the content uncompressed. */
  readonly plain: () => Promise<Uint8Array>
  /** Length of the uncompressed content in bytes. */
  readonly plainBytes: number
  /** Content compressed with Brotli, a tenth smaller than with gzip. Undefined unless `isDense` was set. */
  readonly brotli: Uint8Array | undefined
  readonly contentType: string
  /** Weak (RFC 9110, section 8.8.1), because the compressed and uncompressed forms share it. */
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns a hash of the content that is short enough for a path. */
export const hashOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 22)

/**
 * Returns a function that decompresses content. All responses that are being sent share one copy, because a
 * client that reads slowly keeps its copy, and a script has megabytes.
 */
const shared = (compressed: Uint8Array): Asset["plain"] => {
  let last: WeakRef<Uint8Array> | undefined
  let next: Promise<Uint8Array> | undefined
  const decompress = async () => {
    try {
      const plain = await gunzip(compressed)
      last = new WeakRef(plain)
      return plain
    } finally {
      next = undefined
    }
  }
  return async () => last?.deref() ?? (next ??= decompress())
}

/**
 * Set `forever` for paths that contain a hash of the content; clients check other assets for changes on each use. Set
 * `isDense` only for popular files of several kilobytes, because Brotli takes a tenth of a second for 100 kB.
 */
export const make = Effect.fnUntraced(function* (
  content: string | Uint8Array,
  contentType: string,
  options: {
    readonly forever?: boolean
    readonly isDense?: boolean
    readonly headers?: Readonly<Record<string, string>>
  } = {}
) {
  const compressed = yield* Effect.promise(() => gzip(content))
  return {
    compressed,
    plain: shared(compressed),
    plainBytes: Buffer.byteLength(content),
    brotli: options.isDense === true ? yield* Effect.promise(() => brotliCompress(content)) : undefined,
    contentType,
    etag: `W/"${hashOf(content)}"`,
    headers: {
      vary: "Accept-Encoding",
      "cache-control": options.forever === true ? "public, max-age=31536000, immutable" : "no-cache",
      ...options.headers
    }
  } satisfies Asset
})

/**
 * Makes a value on the first request, or again after a failure. Forked, so that it is made only once even if each client
 * that requests it leaves before it is ready.
 */
export const once = Effect.fnUntraced(function* <A, E>(make: Effect.Effect<A, E>) {
  const [made, forget] = yield* Effect.cachedInvalidateWithTTL(
    Effect.forkIn(make, yield* Effect.scope),
    Infinity
  )
  return Effect.flatMap(Effect.flatMap(made, Fiber.await), (exit) =>
    Exit.isSuccess(exit) ? exit : Effect.andThen(forget, exit)
  )
})

/**
 * Returns whether a list such as `br;q=1.0, gzip;q=0.8, *;q=0` (RFC 9110, section 12.5.3) accepts a content
 * coding.
 */
export const takes = (coding: "br" | "gzip", accepted = ""): boolean =>
  accepted.split(",").some((one) => {
    const [name = "", quality = ""] = one.split(";").map((part) => part.trim().toLowerCase())
    return name === coding && !/^q=0(?:\.0*)?$/.test(quality)
  })

/** Responds with the asset, or with 304 if the client already has it (RFC 9110, section 13.1.2). */
export const answer = Effect.fnUntraced(function* ({
  compressed,
  plain,
  plainBytes,
  brotli,
  contentType,
  etag,
  headers
}: Asset) {
  const { method, headers: asked } = yield* HttpServerRequest.HttpServerRequest
  const all = { ...headers, etag }
  const known = (asked["if-none-match"] ?? "").split(",").map((one) => one.trim())
  if (known.includes(etag) || known.includes(etag.slice(2)) || known.includes("*"))
    return HttpServerResponse.empty({ status: 304, headers: all })
  if (brotli !== undefined && takes("br", asked["accept-encoding"]))
    return HttpServerResponse.uint8Array(brotli, {
      contentType,
      headers: { ...all, "content-encoding": "br" }
    })
  if (takes("gzip", asked["accept-encoding"]))
    return HttpServerResponse.uint8Array(compressed, {
      contentType,
      headers: { ...all, "content-encoding": "gzip" }
    })
  if (method === "HEAD")
    return HttpServerResponse.empty({
      status: 200,
      headers: { ...all, "content-type": contentType, "content-length": String(plainBytes) }
    })
  return HttpServerResponse.uint8Array(yield* Effect.promise(plain), { contentType, headers: all })
})
