import { createHash } from "node:crypto"
import * as Asset from "./Asset.ts"

/** Readable from 320 px on, in light and in dark. */
const style = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:40rem;padding:1.5rem 1rem;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}
h2{font-size:1.1rem;margin:1.5rem 0 .25rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.25rem}
code{font:.9em/1.4 ui-monospace,monospace}
strong{border-left:.25rem solid #f7931a;padding-left:.5rem;display:block}`

const policyOf = (style: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** The style of all pages and `more`, and the policy of a page that has it. */
export const styled = (more: string) => ({ style: `${style}${more}`, contentSecurityPolicy: policyOf(`${style}${more}`) })

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "&quot;")

/** A page of words and links, as all of ours are that run no script. `body` is HTML, `title` is not; `root` leads to where the icon is. */
export const page = (parts: {
  readonly title: string
  readonly body: string
  readonly style: string
  readonly lang?: string
  readonly dir?: "ltr" | "rtl"
  readonly root?: string
}): string => {
  const { title, body, style, lang = "en", dir = "ltr", root = "" } = parts
  return `<!doctype html>
<html lang="${lang}"${dir === "ltr" ? "" : ` dir="${dir}"`}>
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="${root}favicon.ico">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`
}

/** The same, where it is the same for everybody. */
export const asset = (title: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  Asset.make(page({ title, body, style }), "text/html; charset=utf-8", {
    headers: { "content-security-policy": policyOf(style), "referrer-policy": "no-referrer", ...headers }
  })
