import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as Asset from "../wire/Asset.ts"
import * as ConsoleSession from "../features/sessions/ConsoleSession.ts"
import * as Extension from "../edge/Extension.ts"
import * as Ui from "../edge/Ui.ts"

export const path = "/console"

/** Our own files and nothing else, no markup made from strings, and no frame around it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

/** The same for everybody: who is signed in, its script asks. */
const html = () => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>satrail</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" type="image/svg+xml" href="favicon.ico">
<link rel="stylesheet" href="${Ui.path("console.css")}">
<script src="${Ui.path("console.js")}" defer></script>
</head>
<body>
<div id="console"><noscript>The console needs JavaScript. The API and the command line do not.</noscript></div>
</body>
</html>
`

const page = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const made = yield* Effect.cached(
      Effect.uninterruptible(
        Effect.suspend(() =>
          Asset.make(html(), "text/html; charset=utf-8", {
            headers: {
              "content-security-policy": contentSecurityPolicy,
              "referrer-policy": "no-referrer",
              "cross-origin-opener-policy": "same-origin",
              "x-frame-options": "DENY"
            }
          })
        )
      )
    )
    yield* router.add(
      "GET",
      path,
      Effect.flatMap(made, (asset) => Asset.answer(asset))
    )
  })
)

/** The console: where people sign in. It asks for what there is over the API, as every other client. */
export const extension = Extension.make(Layer.merge(page, ConsoleSession.routes))
