import type * as Document from "@satrail/ui/checkout/Document"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { gzipSync } from "node:zlib"
import * as Asset from "../wire/Asset.ts"
import type * as Errors from "../wire/Errors.ts"
import * as Ui from "./Ui.ts"

// Parts shared by all payment pages. The consoles use the same policy.

/**
 * Content security policy of payment pages and consoles: only files of this service, no inline scripts or styles, and no
 * markup from strings.
 */
export const policy = (frame: string | null): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frame ?? "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")

/** Files loaded by a page one folder deep. */
export const files = (color: string | null = null, depth = "../"): Document.Files => ({
  styles: Ui.styles("checkout").map((file) => depth + file),
  script: `${depth}${Ui.path("checkout.js")}`,
  icon: `${depth}favicon.ico`,
  color: color === null ? null : `${depth}${Ui.colorPath(color)}`
})

/**
 * Responds with a page, compressed if the browser accepts it, because most of a page is a QR code of several
 * kilobytes.
 */
export const answer = (
  { headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  html: string,
  status = 200,
  frame: string | null = null
) => {
  const isGzip = Asset.takes("gzip", headers["accept-encoding"])
  return HttpServerResponse.uint8Array(isGzip ? gzipSync(html) : Buffer.from(html), {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": policy(frame),
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-robots-tag": "noindex",
      vary: "Accept-Encoding",
      ...(isGzip && { "content-encoding": "gzip" })
    }
  })
}

export const json = (failure: Errors.Failure) =>
  HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
