import { type Content, h, page as rendered, raw } from "@satrail/ui/Html"
import { createHash } from "node:crypto"
import * as Asset from "./Asset.ts"
import * as UiFiles from "./UiFiles.ts"

export { type Content, h, raw }

// Pages of text and tables, without scripts.

const policyOf = (style: string): string =>
  [
    "default-src 'none'",
    `style-src ${style}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

export const contentSecurityPolicy = policyOf("'self'")

interface Parts {
  readonly title: string
  readonly body: Content
  /** Class of the page's body, which selects a style. Default: none. */
  readonly kind?: "site" | "statement"
  /** Path from the page to the site's root. */
  readonly root?: string
  /** A script of @satrail/ui. Default: none. */
  readonly script?: string
}

const bodyOf = ({ kind, body }: Parts) => h("body", kind === undefined ? null : { class: kind }, body)

/** Renders a page that loads the shared style sheets. */
export const page = (parts: Parts): string => {
  const { title, root = "", script } = parts
  const head = [
    ...UiFiles.styles("pages").map((path) => h("link", { rel: "stylesheet", href: root + path })),
    ...(script === undefined ? [] : [h("script", { src: root + UiFiles.path(script), defer: true })])
  ]
  return rendered({ title, icon: `${root}favicon.ico`, head, body: bodyOf(parts) })
}

/** Returns a page and its content security policy. The styles are inline, so that the page can be saved as one file. */
export const kept = (parts: Parts): { readonly html: string; readonly contentSecurityPolicy: string } => {
  const style = UiFiles.textOf("tokens.css") + UiFiles.textOf("pages.css")
  const { title, root = "" } = parts
  return {
    html: rendered({ title, icon: `${root}favicon.ico`, head: raw("style", style), body: bodyOf(parts) }),
    contentSecurityPolicy: policyOf(`'sha256-${createHash("sha256").update(style).digest("base64")}'`)
  }
}

/** Makes a page that is the same for everyone. */
export const asset = (title: string, body: Content, headers: Readonly<Record<string, string>> = {}) =>
  Asset.make(page({ title, body }), "text/html; charset=utf-8", {
    headers: {
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      ...headers
    }
  })
