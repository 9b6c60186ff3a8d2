import type * as Document from "@satrail/ui/checkout/Document"
import { HttpServerResponse } from "effect/http"
import type * as Errors from "../wire/Errors.ts"
import * as Ui from "./Ui.ts"

// Shared by all pages on which people pay.

/** Nothing but the files of this service: no inline script or style, nothing from elsewhere, and no markup made from strings. */
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

/** What a page one folder deep loads. */
export const files = (color: string | null = null, depth = "../"): Document.Files => ({
  style: `${depth}${Ui.path("checkout.css")}`,
  script: `${depth}${Ui.path("checkout.js")}`,
  icon: `${depth}favicon.ico`,
  color: color === null ? null : `${depth}${Ui.colorPath(color)}`
})

export const answer = (html: string, status = 200, frame: string | null = null) =>
  HttpServerResponse.text(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": policy(frame),
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-robots-tag": "noindex"
    }
  })

export const json = (failure: Errors.Failure) => HttpServerResponse.jsonUnsafe(failure, { status: failure.status })
