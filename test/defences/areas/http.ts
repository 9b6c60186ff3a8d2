import { type Canary } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "preimage-before-settlement",
    bug: "an invoice shows its preimage before it is settled",
    file: "packages/http/src/resources/Invoices.ts",
    in: "view",
    find: `(row) => (row.status === "settled" ? (row.preimage ?? "") : "")`,
    replace: `(row) => row.preimage ?? ""`,
    test: "packages/http/test/wire.test.ts",
    titles: "wire: an invoice is shown as settled only"
  },
  {
    name: "body-without-limit",
    rows: [54],
    bug: "a request body of any size is read",
    file: "packages/http/src/edge/Edge.ts",
    in: "policyOf",
    find: "options.maxBodyBytes ?? maxBodyBytes",
    replace: "1000 * (options.maxBodyBytes ?? maxBodyBytes)",
    test: "packages/http/test/endpoints.test.ts",
    titles: "C54:"
  },
  {
    name: "page-from-anywhere",
    rows: [55],
    bug: "the documentation page may load resources from any origin",
    file: "packages/service/src/http/pages/Docs.ts",
    in: "contentSecurityPolicy",
    find: `"default-src 'none'",`,
    replace: `"default-src *",`,
    test: "packages/service/test/http/openapi.test.ts",
    titles: "C55:"
  },
  {
    name: "key-in-the-log",
    rows: [56],
    bug: "a crashing request is logged with its API key",
    file: "packages/http/src/edge/Edge.ts",
    in: "failed",
    find: `path: request.url.split("?")[0] }, cause)`,
    replace: `path: request.url.split("?")[0], key: request.headers["authorization"] }, cause)`,
    test: "packages/service/test/http/errors.test.ts",
    titles: "C56:"
  },
  {
    name: "logged-path",
    rows: [56],
    bug: "the request log contains paths, and with them the secrets of vouchers",
    file: "packages/http/src/edge/Exchange.ts",
    in: "recorder",
    find: "      route,\n      status,\n      ms:",
    replace: "      route: asked.url,\n      status,\n      ms:",
    test: "packages/http/test/requestLog.test.ts",
    titles: "C56:"
  },
  {
    name: "formula-in-an-export",
    bug: "text in an export runs as a formula in a spreadsheet",
    file: "packages/ui/src/Cell.ts",
    in: "formula",
    find: `/^[=+\\-@|＝＋－＠\\t\\r\\n]/`,
    replace: `/^[=+\\-@|\\t\\r\\n]/`,
    test: "packages/http/test/exports.test.ts",
    titles: "does not run any text as a formula"
  },
  {
    name: "half-a-file",
    bug: "a truncated export looks complete",
    file: "packages/http/src/edge/Edge.ts",
    in: "streamed",
    find: `isFile(response) ? Effect.andThen(Deferred.await(over), cutShort) : Deferred.await(over)`,
    replace: `isFile(response) ? Deferred.await(over) : Deferred.await(over)`,
    test: "packages/http/test/extension.test.ts",
    titles: "stream: a file download that takes too long"
  },
  {
    name: "operator-scope-unchecked",
    bug: "every operator token can call every route",
    file: "packages/http/src/api/Authentication.ts",
    in: "layerOperator",
    find: `if (!scopes.some((scope) => Operators.allows(caller, scope)))`,
    replace: `if (scopes.length === 0)`,
    test: "packages/http/test/operators.test.ts",
    titles: "operator token:"
  },
  {
    name: "stop-loosens",
    bug: "a token with the `stop` scope can remove a limit",
    file: "packages/http/src/api/Authentication.ts",
    in: "changer",
    find: `mayLoosen: Operators.allows(caller, "loosen")`,
    replace: `mayLoosen: true`,
    test: "packages/http/test/loosening.slow.test.ts",
    titles: "operator scopes:"
  },
  {
    name: "pages-let-elements-through",
    bug: "a page does not escape its title",
    file: "packages/ui/src/Html.ts",
    in: "page",
    find: `h("title", null, title)`,
    replace: `raw("title", title)`,
    test: "packages/http/test/corpus.test.ts",
    titles: "corpus:"
  },
  {
    name: "key-from-anywhere",
    bug: "a key restricted to some IP addresses can send from any",
    file: "packages/http/src/api/Authentication.ts",
    in: "isSending",
    find: `scopes.every((scope) => scope === "send" || scope === "approve")`,
    replace: `scopes.every((scope) => scope !== "send")`,
    test: "packages/http/test/allowedFrom.test.ts",
    titles: "allowed from: a key that is restricted only for sending"
  },
  {
    name: "caller-says-where",
    bug: "the caller's X-Forwarded-For header is trusted",
    file: "packages/http/src/wire/Address.ts",
    in: "forwardedIn",
    find: "header.slice(start + 1, end)",
    replace: "header.slice(0, header.indexOf(`,`))",
    test: "packages/http/test/allowedFrom.test.ts",
    titles: "allowed from: a key used from another address"
  },
  {
    name: "flood-of-one-key",
    bug: "requests with a key are counted but never limited",
    file: "packages/http/src/edge/RequestRates.ts",
    in: "counting",
    find: "noting(refused === undefined ? taken :",
    replace: "noting(refused === undefined || refused !== undefined ? taken :",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates:"
  },
  {
    name: "flood-refused-at-once",
    bug: "a rejected client that retries immediately is rejected again without a delay",
    file: "packages/http/src/edge/RequestRates.ts",
    in: "counting",
    find: "isPrompt(name, nowMillis) ? refused : later(refused)",
    replace: "isPrompt(name, nowMillis) ? refused : refused",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: a client that retries"
  },
  {
    name: "second-at-once",
    bug: "all requests with a key within a second start immediately and delay requests with other keys",
    file: "packages/http/src/edge/RequestRates.ts",
    in: "counting",
    find: "const wait = refused === undefined ? waitMillis(rooms) : 0",
    replace: "const wait = refused === undefined ? 0 : waitMillis(rooms)",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: all requests allowed per second may arrive in one burst"
  },
  {
    name: "one-lane-for-all",
    bug: "all of a company's requests start immediately and delay other companies' requests",
    file: "packages/http/src/edge/Lanes.ts",
    in: "make",
    find: "lane.inWork < places && lane.waiting.size === 0",
    replace: "lane.inWork >= 0",
    test: "packages/http/test/lanes.test.ts",
    titles: "lanes:"
  },
  {
    name: "stranger-guesses-on",
    bug: "a client can guess keys without a rate limit",
    file: "packages/http/src/edge/RequestRates.ts",
    in: "make",
    find: `failed.error.code === "unauthorized"`,
    replace: `failed.error.code !== "unauthorized"`,
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: on every route, requests without a valid key"
  }
]
