import { Effect } from "effect"
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
  /** Content compressed with Brotli, a tenth smaller than with gzip. Undefined unless `isDense` was set. */
  readonly brotli: Uint8Array | undefined
  readonly contentType: string
  /** Weak (RFC 9110, section 8.8.1), because the compressed and uncompressed forms share it. */
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns a hash of the content that is short enough for a path. */
export const hashOf = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("base64url").slice(0, 22)

/**
 * Set `forever` for paths that contain a hash of the content; clients check other assets for changes on each use. Set
 * `isDense` only for popular files of several kilobytes, because Brotli takes a tenth of a second for 100 kB.
 */
export const make = Effect.fnUntraced(function* (
  content: string | Uint8Array,
  contentType: string,
  options: { readonly forever?: boolean; readonly isDense?: boolean; readonly headers?: Readonly<Record<string, string>> } = {}
) {
  return {
    compressed: yield* Effect.promise(() => gzip(content)),
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
 * Returns whether a list such as `br;q=1.0, gzip;q=0.8, *;q=0` (RFC 9110, section 12.5.3) accepts a content
 * coding.
 */
export const takes = (coding: "br" | "gzip", accepted = ""): boolean =>
  accepted.split(",").some((one) => {
    const [name = "", quality = ""] = one.split(";").map((part) => part.trim().toLowerCase())
    return name === coding && !/^q=0(?:\.0*)?$/.test(quality)
  })

/** Responds with the asset, or with 304 if `status` is 200 and the client already has it (RFC 9110, section 13.1.2). */
export const answer = Effect.fnUntraced(function* ({ compressed, brotli, contentType, etag, headers }: Asset, status = 200) {
  const asked = (yield* HttpServerRequest.HttpServerRequest).headers
  const all = { ...headers, etag }
  const known = (asked["if-none-match"] ?? "").split(",").map((one) => one.trim())
  if (status === 200 && (known.includes(etag) || known.includes(etag.slice(2)) || known.includes("*")))
    return HttpServerResponse.empty({ status: 304, headers: all })
  if (brotli !== undefined && takes("br", asked["accept-encoding"]))
    return HttpServerResponse.uint8Array(brotli, { status, contentType, headers: { ...all, "content-encoding": "br" } })
  if (takes("gzip", asked["accept-encoding"]))
    return HttpServerResponse.uint8Array(compressed, { status, contentType, headers: { ...all, "content-encoding": "gzip" } })
  const plain = yield* Effect.promise(() => gunzip(compressed))
  return HttpServerResponse.uint8Array(plain, { status, contentType, headers: all })
})
