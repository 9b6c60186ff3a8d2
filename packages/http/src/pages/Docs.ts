import type { Network } from "@satrail/bitcoin/Network"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import * as Asset from "../wire/Asset.ts"
import { isObject, type Json, objectIn } from "./Components.ts"
import * as Components from "./Components.ts"
import * as Errors from "../wire/Errors.ts"
import * as EventStream from "../events/EventStream.ts"
import * as Examples from "../wire/Examples.ts"
import * as Html from "../wire/Html.ts"
import { section as webhookSection } from "../features/webhooks/WebhookEndpoints.ts"
import * as WebhookDocs from "../features/webhooks/WebhookDocs.ts"

/** Two documents, each with its page: what customers ask, and what the operator asks, which a proxy closes with everything under `/operator`. */
export const paths = {
  openapi: "/openapi.json",
  /** The documentation, or, where a host serves none, a page that leads to it and to the reference. */
  docs: "/docs",
  reference: "/docs/api",
  /** What both pages run. Its name has the name of its content in it. */
  script: "/docs/api/:file",
  operatorOpenapi: "/operator/openapi.json",
  operatorDocs: "/operator/docs"
} as const

/** Whether a path is the operator's, or for supervisors and monitoring, and no customer's. */
const isOperators = (path: string): boolean => /^\/(?:operator\/|tls\/|healthz$|readyz(?:\/|$))/.test(path)

const operatorAbout = `Routes of the operator: companies, keys, plans, domains, reconciliation, metrics and health.

These routes need the operator's token, never an API key; certificates and health need none. Keep \`/operator\` from the outside.`

/** Every component that these paths refer to, directly or through another one. */
const referredTo = (paths: Json, schemas: Json): Json => {
  const found = new Set<string>()
  const look = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      look(schemas[name] ?? null)
    }
  }
  look(paths)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)))
}

export const contact = { name: "satrail", url: "https://github.com/satrail/satrail" }

/** The part of a document that some of its paths make. */
const part = (document: Json, isIn: (path: string) => boolean, info: Json): Json => {
  const paths = Object.fromEntries(Object.entries(objectIn(document, "paths")).filter(([path]) => isIn(path)))
  const operations = Object.values(paths).flatMap((path) => (isObject(path) ? Object.values(path).filter(isObject) : []))
  const all = (member: string) => operations.map((operation) => JSON.stringify(operation[member] ?? [])).join()
  const [tags, security] = [all("tags"), all("security")]
  const schemes = Object.entries(objectIn(document["components"], "securitySchemes"))
  return {
    ...document,
    info: { ...objectIn(document, "info"), contact, ...info },
    // Beside the document: wherever the service is mounted, and whatever its name is there.
    servers: [{ url: "/", description: "This service" }],
    paths,
    components: {
      ...objectIn(document, "components"),
      schemas: referredTo(paths, objectIn(document["components"], "schemas")),
      securitySchemes: Object.fromEntries(schemes.filter(([name]) => security.includes(`"${name}"`)))
    },
    tags: (Array.isArray(document["tags"]) ? document["tags"] : []).filter(
      (tag) => isObject(tag) && tags.includes(JSON.stringify(tag["name"]))
    )
  }
}

const exampleId = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"

// By name, though there is one of each: Scalar shows no other.
const example = (value: unknown, more: Json = {}): Json => ({ examples: { default: { value, ...more } } })

/** Of what is there as JSON and as a file or a page too, JSON is what the example shows. */
const withExample = (holder: unknown, value: unknown): Json => ({
  ...(isObject(holder) && holder),
  content: Object.fromEntries(
    Object.entries(objectIn(holder, "content")).map(([type, media]) => [
      type,
      { ...(isObject(media) && media), ...(type === "application/json" && example(value)) }
    ])
  )
})

/** What a schema says, and what is added to it by its checks. */
const factsOf = (schema: Json): Json =>
  Object.assign({}, ...(Array.isArray(schema["allOf"]) ? schema["allOf"].filter(isObject) : []).map(factsOf), schema)

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/**
 * What is optional has an example that Scalar sends only when enabled: a key would be the same for every request. Each says what it is: a reader of the
 * document looks for that beside its name, and not in its schema.
 */
const parameterOf = (given: Json, params: Readonly<Record<string, string>>): Json => {
  const { in: place, name, required } = given
  const { description, examples, enum: values, maximum, format } = factsOf(objectIn(given, "schema"))
  const said = description ?? (Array.isArray(values) ? `One of ${values.join(", ")}` : "The id, as it was answered")
  const parameter = { description: said, ...given }
  const value = place === "path" ? params[String(name)] : undefined
  if (value !== undefined) return { ...parameter, ...example(value) }
  if (required === true) return parameter
  const [first] = [...listOf(examples), ...listOf(values)]
  return { ...parameter, ...example(first ?? maximum ?? (format === "uuid" ? exampleId : ""), { "x-disabled": true }) }
}

/** What an operation is sent and answers, as it would be. */
const exemplified = (operation: Json, found: Examples.Shown | undefined): Json => {
  const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"].filter(isObject) : []
  const shown = { ...operation, parameters: parameters.map((one) => parameterOf(one, found?.params ?? {})) }
  if (found === undefined) return shown
  const { body, message, data } = found
  return {
    ...shown,
    ...(body !== undefined && { requestBody: withExample(operation["requestBody"], body) }),
    responses: Object.fromEntries(
      Object.entries(objectIn(operation, "responses")).map(([status, response]) => [
        status,
        Number(status) < 300 ? withExample(response, { status: Number(status), message, data }) : response
      ])
    )
  }
}

/** The examples of an API's endpoints, by method and path as the document has them: `GET /v1/vouchers/{id}`. */
const examplesOf = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>, network: Network) => {
  const world = Examples.worldOf(network)
  const found = new Map<string, Examples.Shown>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path, annotations } }) => {
      const shown = Context.getOrUndefined(annotations, Examples.Example)
      if (shown !== undefined) found.set(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`, shown(world))
    }
  })
  return found
}

const withExamples = (document: Json, table: ReadonlyMap<string, Examples.Shown>): Json => {
  const paths = Object.entries(objectIn(document, "paths")).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(isObject(methods) ? methods : {}).map(([method, operation]) => {
        return [method, isObject(operation) ? exemplified(operation, table.get(`${method.toUpperCase()} ${path}`)) : operation]
      })
    )
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

/** With what is served beside the API, and answers an API key. */
export const documented = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>) => api.add(EventStream.group)

/** What customers ask, and what the operator asks, each operation written out. Examples are of `network`. */
export const whole = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  { network = "mainnet" }: { readonly network?: Network | undefined } = {}
) => {
  const document = withExamples({ ...OpenApi.fromApi(documented(api)) }, examplesOf(api, network))
  const webhooks = WebhookDocs.webhooks(Context.getOrElse(webhookSection.group.annotations, OpenApi.Title, () => ""))
  const asked = part(document, (path) => !isOperators(path), {})
  const { parameters, responses } = WebhookDocs
  const customer: Json = { ...asked, components: { ...objectIn(asked, "components"), parameters, responses }, webhooks }
  const operator = part(document, isOperators, { title: "satrail: the operator's routes", description: operatorAbout })
  return { customer, operator }
}

/** The same, as they are served: everything that is said twice is a component. */
export const documents = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  about: { readonly network?: Network | undefined } = {}
) => {
  const { customer, operator } = whole(api, about)
  return { customer: Components.shared(customer), operator: Components.shared(operator) }
}

// Fonts, tools, a hosted client and a link to their maker are all somewhere else: the page is to work where nothing else is reached.
const scalar = {
  _integration: "html",
  withDefaultFonts: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  customCss: 'a[href^="https://www.scalar.com"] { display: none }'
} as const

/** The page runs one script of this service, and asks this service alone. What it shows is styled by that script. */
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

/** Paths are beside the page's own, wherever the service is mounted: both pages are one folder deep. */
const pageOf = (title: string, script: string, document: string, scheme: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${title}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" type="image/svg+xml" href="../favicon.ico">
  </head>
  <body data-openapi="${document}" data-scheme="${scheme}">
    <div id="reference"></div>
    <script src="../docs/api/${script}"></script>
  </body>
</html>
`

/** `/docs` in a host's own server, which has no copy of the documentation. */
const withoutSite = `<h1>Documentation</h1>
<ul>
<li><a href="docs/api">API reference</a>: every endpoint, with examples to run</li>
<li><a href="openapi.json">OpenAPI document</a>: for generators of clients</li>
<li><a href="${contact.url}/tree/HEAD/docs">Guides, errors, limits</a>: in the repository</li>
</ul>`

export const layerWithoutSite = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", paths.docs, Asset.answer(yield* Html.asset("satrail: documentation", withoutSite)))
  })
)

/** Scalar's script, as effect has it, which gives it away in a page only. */
const bundled = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>) =>
  Effect.gen(function* () {
    const router = yield* HttpRouter.make
    yield* Layer.build(Layer.provide(HttpApiScalar.layer(api, { path: "/" }), Layer.succeed(HttpRouter.HttpRouter, router)))
    const { body } = yield* Effect.provideService(
      router.asHttpEffect(),
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/"))
    )
    const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
    const [begin, end] = [html.indexOf("<script>") + "<script>".length, html.lastIndexOf("</script>", html.lastIndexOf("<script>"))]
    if (begin < "<script>".length || end <= begin)
      return yield* Effect.die("the page of effect's HttpApiScalar has another shape than it had")
    return html.slice(begin, end)
  }).pipe(Effect.scoped, Effect.orDie)

const run = `
window.Scalar.createApiReference(document.getElementById("reference"), {
  ...${JSON.stringify(scalar)},
  url: document.body.dataset.openapi,
  authentication: { preferredSecurityScheme: document.body.dataset.scheme }
})
`

/** Documents and pages. They are made on the first request: with the script it takes 13 MB, which most processes never need. */
export const layer = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>, network?: Network) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const once = <A, E>(make: Effect.Effect<A, E>) => Effect.cached(Effect.uninterruptible(make))
      const described = yield* once(Effect.sync(() => documents(api, { network })))
      const script = yield* once(
        Effect.gen(function* () {
          const text = `${yield* bundled(api)}${run}`
          const name = `reference-${Asset.hashOf(text)}.js`
          return { name, asset: yield* Asset.make(text, "text/javascript; charset=utf-8", { forever: true }) }
        })
      )
      const json = Effect.fnUntraced(function* (which: "customer" | "operator") {
        const document = yield* described
        return yield* Asset.make(JSON.stringify(document[which]), "application/json")
      })
      const html = Effect.fnUntraced(function* (title: string, document: string, scheme: string) {
        const { name } = yield* script
        return yield* Asset.make(pageOf(title, name, document, scheme), "text/html; charset=utf-8", {
          headers: { "content-security-policy": contentSecurityPolicy, "referrer-policy": "no-referrer" }
        })
      })
      const serve = Effect.fnUntraced(function* (path: `/${string}`, make: Effect.Effect<Asset.Asset>) {
        const made = yield* once(make)
        yield* router.add(
          "GET",
          path,
          Effect.flatMap(made, (asset) => Asset.answer(asset))
        )
      })
      yield* serve(paths.openapi, json("customer"))
      yield* serve(paths.operatorOpenapi, json("operator"))
      yield* serve(paths.reference, html("satrail", "../openapi.json", "apiKey"))
      yield* serve(paths.operatorDocs, html("satrail: the operator's routes", "openapi.json", "operatorToken"))
      yield* router.add(
        "GET",
        paths.script,
        Effect.gen(function* () {
          const { file } = yield* HttpRouter.params
          const { name, asset } = yield* script
          if (file === name) return yield* Asset.answer(asset)
          return HttpServerResponse.jsonUnsafe(Errors.failure("not_found", "There is no such route"), { status: 404 })
        })
      )
    })
  )
