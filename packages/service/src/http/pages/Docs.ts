import type { Network } from "@satrail/bitcoin/Network"
import { h, page } from "@satrail/ui/Html"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import * as Asset from "@satrail/http/wire/Asset"
import * as Components from "@satrail/http/pages/Components"
import * as EventBody from "../events/EventBody.ts"
import * as EventStream from "../events/EventStream.ts"
import * as Examples from "@satrail/http/wire/Examples"
import * as Html from "@satrail/http/wire/Html"
import * as Routing from "@satrail/http/wire/Routing"
import { isObject, type Json, listIn, mapOperations, mapValues, objectIn } from "@satrail/http/wire/Json"
import type { Feature } from "@satrail/http/api/Feature"
import { all } from "../../features/http.ts"

/**
 * Paths of the two documents and their pages: one for customers, and one for the operator. A proxy that blocks
 * `/operator` also blocks the operator's document and page.
 */
export const paths = {
  openapi: "/openapi.json",
  /** The documentation. A host without a copy serves a page with links instead. */
  docs: "/docs",
  reference: "/docs/api",
  /** Script of both pages, named by its content. */
  script: "/docs/api/:file",
  operatorOpenapi: "/operator/openapi.json",
  operatorDocs: "/operator/docs"
} as const

/** Returns whether a path is for the operator, supervisors or monitoring. */
const isOperators = (path: string): boolean => /^\/(?:operator\/|tls\/|healthz$|readyz(?:\/|$))/.test(path)

const operatorAbout = `Routes of the operator: companies, keys, plans, domains, reconciliation, metrics and health.

They require the operator's token, never an API key; certificates and health require no token. Do not expose \`/operator\` to the public internet.`

export const contact = { name: "satrail", url: "https://github.com/satrail/satrail" }

/** Returns the part of a document with the selected paths. */
const part = (document: Json, isIn: (path: string) => boolean, info: Json): Json => {
  const paths = Object.fromEntries(Object.entries(objectIn(document, "paths")).filter(([path]) => isIn(path)))
  const all = (member: string) =>
    Components.operationsOf({ paths })
      .map((operation) => JSON.stringify(operation[member] ?? []))
      .join()
  const [tags, security] = [all("tags"), all("security")]
  const within = (kind: string, isKept: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(objectIn(document["components"], kind)).filter(([name]) => isKept(name))
    )
  const schemas = Components.reachable(paths, objectIn(document["components"], "schemas"))
  const usual = Map.groupBy(
    Components.operationsOf({ paths })
      .map((operation) => listIn(operation, "security"))
      .filter(({ length }) => length > 0),
    (one) => JSON.stringify(one)
  )
  const [common = []] = [...usual.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
  const inherited = (operation: Json): Json => {
    const { security = [], ...rest } = operation
    return JSON.stringify(security) === JSON.stringify(common) ? rest : { ...rest, security }
  }
  return {
    ...document,
    info: { ...objectIn(document, "info"), contact, ...info },
    // Relative to the document, so it is valid for any host name.
    servers: [{ url: "/", description: "This service" }],
    // Applies to each operation without its own.
    security: common,
    ...mapOperations({ paths }, inherited),
    components: {
      ...objectIn(document, "components"),
      schemas: within("schemas", (name) => schemas.has(name)),
      securitySchemes: within("securitySchemes", (name) => security.includes(`"${name}"`))
    },
    tags: listIn(document, "tags").filter(
      (tag) => isObject(tag) && tags.includes(JSON.stringify(tag["name"]))
    )
  }
}

const exampleId = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"

// The example has a name, although it is the only one, because Scalar shows only named examples.
const example = (value: unknown, more: Json = {}): Json => ({ examples: { default: { value, ...more } } })

/** Adds an example to a body. If a body is also available as a file or page, the example shows JSON. */
const withExample = (holder: unknown, value: unknown): Json => ({
  ...(isObject(holder) && holder),
  content: mapValues(objectIn(holder, "content"), (media, type) => ({
    ...(isObject(media) && media),
    ...(type === "application/json" && example(value))
  }))
})

/** Merges a schema with the additions of its checks. */
const factsOf = (schema: Json): Json =>
  Object.assign({}, ...listIn(schema, "allOf").filter(isObject).map(factsOf), schema)

/**
 * Adds an example to a parameter. An optional parameter is disabled in Scalar until the reader enables it,
 * because otherwise all requests would use the same idempotency key. The description is next to the name, where
 * readers look for it, instead of in the schema.
 */
const parameterOf = (given: Json, params: Readonly<Record<string, string>>): Json => {
  const { in: place, name, required } = given
  const facts = factsOf(objectIn(given, "schema"))
  const { description, maximum, format } = facts
  const values = listIn(facts, "enum")
  const said = description ?? (values.length > 0 ? `One of ${values.join(", ")}` : "Record id")
  const parameter = { description: said, ...given }
  const value = place === "path" ? params[String(name)] : undefined
  if (value !== undefined) return { ...parameter, ...example(value) }
  if (required === true) return parameter
  const [first] = [...listIn(facts, "examples"), ...values]
  return {
    ...parameter,
    ...example(first ?? maximum ?? (format === "uuid" ? exampleId : ""), { "x-disabled": true })
  }
}

/** Adds examples of request and response to an operation. */
const exemplified = (operation: Json, found: Examples.Shown | undefined): Json => {
  const parameters = listIn(operation, "parameters").filter(isObject)
  const shown = { ...operation, parameters: parameters.map((one) => parameterOf(one, found?.params ?? {})) }
  if (found === undefined) return shown
  const { body, message, data } = found
  return {
    ...shown,
    ...(body !== undefined && { requestBody: withExample(operation["requestBody"], body) }),
    responses: mapValues(objectIn(operation, "responses"), (response, status) =>
      Number(status) < 300 ? withExample(response, { status: Number(status), message, data }) : response
    )
  }
}

/**
 * Returns the groups that have such paths, and the examples of their endpoints, by method and path as in the
 * document: `GET /v1/vouchers/{id}`.
 */
const reflected = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  network: Network,
  isIn: (path: string) => boolean
) => {
  const world = Examples.worldOf(network)
  const examples = new Map<string, Examples.Shown>()
  const groups = new Set<HttpApiGroup.Top>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint: { method, path, annotations } }) => {
      if (isIn(path)) groups.add(group)
      const shown = Context.getOrUndefined(annotations, Examples.Example)
      if (shown !== undefined) examples.set(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`, shown(world))
    }
  })
  return { groups, examples }
}

/** Adds to the documents the endpoints that are served outside the API but accept an API key. */
export const documented = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>) =>
  api.add(EventStream.group)

/** For whom a document is. */
type For = "customer" | "operator"

/** Makes a document in steps, before repeated parts become components. */
function* wholeFor<Groups extends HttpApiGroup.Constraint>(
  whom: For,
  given: HttpApi.HttpApi<"satrail", Groups>,
  network: Network
): Generator<void, Json> {
  const isIn = (path: string) => isOperators(path) === (whom === "operator")
  const api = documented(given)
  const { groups, examples } = reflected(api, network, isIn)
  yield
  const [first, ...others] = groups
  const none = HttpApi.make("satrail").annotateMerge(api.annotations)
  const framework = {
    ...(first === undefined ? OpenApi.fromApi(none) : OpenApi.fromApi(none.add(first, ...others)))
  }
  yield
  const document = mapOperations(framework, (operation, path, method) =>
    exemplified(operation, examples.get(`${method.toUpperCase()} ${path}`))
  )
  if (whom === "operator")
    return part(document, isIn, { title: "satrail: operator API", description: operatorAbout })
  const asked = part(document, isIn, {})
  const features: ReadonlyArray<Feature> = all
  const events = EventBody.kinds.map((kind) => ({
    kind,
    types: EventBody.typesOf(kind),
    identifier: EventBody.identifierOf(kind)
  }))
  const added = features.flatMap(({ openapi }) => (openapi === undefined ? [] : [openapi(events)]))
  const components: Json = Object.assign({}, asked["components"], ...added.map((one) => one.components))
  return Object.assign({ ...asked, components }, ...added.map(({ members }) => members))
}

/** Makes a document as served, in which repeated parts are components, in steps. */
function* documentFor<Groups extends HttpApiGroup.Constraint>(
  whom: For,
  api: HttpApi.HttpApi<"satrail", Groups>,
  network: Network = "mainnet"
): Generator<void, Json> {
  const whole = yield* wholeFor(whom, api, network)
  yield
  return yield* Components.shared(whole)
}

const atOnce = <A>(steps: Iterator<void, A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Makes a document as served. Runs other requests between the steps, which together take a third of a second. */
export const document = <Groups extends HttpApiGroup.Constraint>(
  whom: For,
  api: HttpApi.HttpApi<"satrail", Groups>,
  network?: Network
): Effect.Effect<Json> =>
  Effect.gen(function* () {
    const steps = documentFor(whom, api, network)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      yield* Effect.yieldNow
    }
  })

interface About {
  readonly network?: Network | undefined
}

/**
 * Returns the documents for customers and for the operator, before repeated parts become components. Examples
 * use `network`.
 */
export const whole = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  { network = "mainnet" }: About = {}
) => ({
  customer: atOnce(wholeFor("customer", api, network)),
  operator: atOnce(wholeFor("operator", api, network))
})

/** Returns the documents as served, in which repeated parts are components. */
export const documents = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  { network }: About = {}
) => ({
  customer: atOnce(documentFor("customer", api, network)),
  operator: atOnce(documentFor("operator", api, network))
})

// Turn off Scalar's fonts, developer tools, hosted client and telemetry, and hide the link to its maker. The
// page must not depend on any other host.
const scalar = {
  _integration: "html",
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  // On a phone, code wraps, and the page is not wider than the window.
  customCss:
    'a[href^="https://www.scalar.com"] { display: none } @media (max-width: 480px) { html, body { overflow-x: clip } .operation-path, .scalar-codeblock-pre, .scalar-codeblock-pre * { white-space: pre-wrap !important; overflow-wrap: anywhere } }'
} as const

/** Allows one script of this service, requests to this service, and styles that the script sets. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src data:",
  "style-src 'unsafe-inline'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** Links are relative, so they work under any base path. Both pages are one folder deep. */
const pageOf = (title: string, script: string, document: string, scheme: string, token?: string) =>
  page({
    title,
    icon: "../favicon.ico",
    body: h(
      "body",
      {
        "data-openapi": document,
        "data-scheme": scheme,
        ...(token !== undefined && { "data-token": token })
      },
      h("div", { id: "reference" }),
      h("script", { src: `../docs/api/${script}` })
    )
  })

/** Body of `/docs` in a host's server that has no copy of the documentation. */
const withoutSite = [
  h("h1", null, "Documentation"),
  h(
    "ul",
    null,
    h("li", null, h("a", { href: "docs/api" }, "API reference"), ": every endpoint, with examples to run"),
    h("li", null, h("a", { href: "openapi.json" }, "OpenAPI document"), ": for client generators"),
    h(
      "li",
      null,
      h("a", { href: `${contact.url}/tree/HEAD/docs` }, "Guides, errors, limits"),
      ": in the repository"
    )
  )
]

export const layerWithoutSite = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(
      "GET",
      paths.docs,
      Asset.answer(yield* Html.asset("satrail: documentation", withoutSite))
    )
  })
)

/** Returns Scalar's script, which effect exposes only inside a page. */
const bundled = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>) =>
  Effect.gen(function* () {
    const router = yield* HttpRouter.make
    yield* Layer.build(
      Layer.provide(HttpApiScalar.layer(api, { path: "/" }), Layer.succeed(HttpRouter.HttpRouter, router))
    )
    const { body } = yield* Effect.provideService(
      router.asHttpEffect(),
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/"))
    )
    const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
    const [begin, end] = [
      html.indexOf("<script>") + "<script>".length,
      html.lastIndexOf("</script>", html.lastIndexOf("<script>"))
    ]
    if (begin < "<script>".length || end <= begin)
      return yield* Effect.die("the structure of effect's HttpApiScalar page has changed")
    return html.slice(begin, end)
  }).pipe(Effect.scoped, Effect.orDie)

const run = `
const { openapi, scheme, token } = document.body.dataset
window.Scalar.createApiReference(document.getElementById("reference"), {
  ...${JSON.stringify(scalar)},
  url: openapi,
  authentication: {
    preferredSecurityScheme: scheme,
    ...(token && { securitySchemes: { [scheme]: { token } } })
  }
})
`

/**
 * Serves documents and pages. They are made on the first request, because they and the script take 13 MB, which
 * most processes never need.
 */
export const layer = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  network?: Network,
  sandboxKey?: () => string | undefined
) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const script = yield* Asset.once(
        Effect.gen(function* () {
          const text = `${yield* bundled(api)}${run}`
          const name = `reference-${Asset.hashOf(text)}.js`
          return { name, asset: yield* Asset.make(text, "text/javascript; charset=utf-8", { forever: true }) }
        })
      )
      const json = (whom: For) =>
        Effect.flatMap(document(whom, api, network), (made) =>
          Asset.make(JSON.stringify(made), "application/json")
        )
      const html = Effect.fnUntraced(function* (
        title: string,
        document: string,
        scheme: string,
        token?: string
      ) {
        const { name } = yield* script
        return yield* Asset.make(pageOf(title, name, document, scheme, token), "text/html; charset=utf-8", {
          headers: {
            "content-security-policy": contentSecurityPolicy,
            "referrer-policy": "no-referrer",
            ...(token !== undefined && { "cache-control": "no-store" })
          }
        })
      })
      const serve = Effect.fnUntraced(function* (path: `/${string}`, make: Effect.Effect<Asset.Asset>) {
        const made = yield* Asset.once(make)
        yield* router.add("GET", path, Effect.flatMap(made, Asset.answer))
      })
      yield* serve(paths.openapi, json("customer"))
      yield* serve(paths.operatorOpenapi, json("operator"))
      const reference = (token?: string) => html("satrail", "../openapi.json", "apiKey", token)
      if (sandboxKey === undefined) yield* serve(paths.reference, reference())
      else
        // Made for each request, because a reset of the sandbox replaces the key.
        yield* router.add(
          "GET",
          paths.reference,
          Effect.flatMap(
            Effect.suspend(() => reference(sandboxKey())),
            Asset.answer
          )
        )
      yield* serve(paths.operatorDocs, html("satrail: operator API", "openapi.json", "operatorToken"))
      yield* router.add(
        "GET",
        paths.script,
        Effect.fnUntraced(function* (request) {
          const { file } = yield* HttpRouter.params
          const { name, asset } = yield* script
          return yield* file === name ? Asset.answer(asset) : Routing.noRoute(request)
        })
      )
    })
  )
