import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Context, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, readerOf } from "./Authentication.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "./Section.ts"

/** Base path under which the operator reads a company's `/v1` routes. */
export const root = "/operator/companies/:companyId"

const errors = Errors.of("not_found", "store_unavailable")

const params = { companyId: Scalars.Id }

type ParamsOf<Params> = [Params] extends [never]
  ? Schema.Struct<typeof params>
  : Params extends Schema.Struct<infer Fields>
    ? Schema.Struct<Fields & typeof params>
    : Params extends { readonly Type: infer Type }
      ? Schema.Codec<Type & { readonly companyId: string }, Readonly<Record<string, string>>>
      : never

/** The same endpoint under `root`. */
type Mounted<Endpoint> =
  Endpoint extends HttpApiEndpoint.HttpApiEndpoint<
    infer Name,
    "GET",
    `/v1${infer Path}`,
    infer Params,
    infer Query,
    infer Payload,
    infer Headers,
    infer Success,
    infer Error,
    infer _Middleware,
    infer _Services
  >
    ? HttpApiEndpoint.HttpApiEndpoint<
        `company${Capitalize<Name>}`,
        "GET",
        `${typeof root}${Path}`,
        ParamsOf<Params>,
        Query,
        Payload,
        Headers,
        Success,
        Error | (typeof errors)[number]
      >
    : never

type Request = { readonly params: { readonly companyId: string } }

/** Rewrites the next-page link so that it is under `root`. */
const linked = (answer: unknown, companyId: string): unknown => {
  const link = HttpServerResponse.isHttpServerResponse(answer) ? answer.headers["link"] : undefined
  return link === undefined || !HttpServerResponse.isHttpServerResponse(answer)
    ? answer
    : HttpServerResponse.setHeader(
        answer,
        "link",
        link.replace("</v1/", `</operator/companies/${companyId}/`)
      )
}

/** The endpoint's path parameters other than the company's id. */
const ownParams = ({ params }: Section.Plain) =>
  params?.ast._tag === "Objects"
    ? Object.fromEntries(
        params.ast.propertySignatures.map(({ name, type }) => [name, Schema.make<Schema.Codec<string>>(type)])
      )
    : {}

/**
 * Mounts a `/v1` GET endpoint for the operator. The mounted endpoint reads the records of the company in its
 * path. Its query and response are unchanged.
 */
export const read = <Endpoint extends Section.Plain, E, R>(operation: Section.Operation<Endpoint, E, R>) => {
  const given: Section.Plain = operation.endpoint
  const summary = Context.getOrUndefined(given.annotations, OpenApi.Summary) ?? given.identifier
  const example = Context.getOrUndefined(given.annotations, Example)
  const endpoint = HttpApiEndpoint.make("GET")(
    `company${given.identifier.charAt(0).toUpperCase()}${given.identifier.slice(1)}`,
    `${root}${given.path.slice("/v1".length)}`,
    {
      params: { ...params, ...ownParams(given) },
      ...(given.query !== undefined && { query: given.query }),
      success: [...given.success],
      error: [...new Set([...Errors.among(given.error), ...errors])]
    }
  )
    .annotate(OpenApi.Summary, `${summary} of a company`)
    .annotate(
      OpenApi.Description,
      `Same as \`GET ${given.path.replaceAll(/:(\w+)/g, "{$1}")}\`, for the company in the path.`
    )
  const shown =
    example === undefined
      ? endpoint
      : endpoint.annotate(Example, (world) => {
          const own = example(world)
          return { ...own, params: { ...own.params, companyId: world.companyId } }
        })
  const services = Effect.all([Companies, operation.handler])
  const handle = ([companies, handler]: Effect.Success<typeof services>) =>
    Effect.fnUntraced(function* (request: Request) {
      const company = yield* Errors.answered(companies.get(CompanyId.make(request.params.companyId)))
      // oxlint-disable-next-line typescript/consistent-type-assertions -- a request to the mounted endpoint has everything that the given endpoint reads
      const answer = (handler as unknown as (request: Request) => Effect.Effect<unknown, never, Caller>)(
        request
      )
      return linked(yield* Effect.provideService(answer, Caller, readerOf(company)), company.id)
    })
  // oxlint-disable-next-line typescript/consistent-type-assertions -- built part by part from the given operation, like its type
  return Section.operator(shown, services, handle) as unknown as Section.Operation<
    Section.Operator<Mounted<Endpoint>>,
    Effect.Error<typeof services>,
    Effect.Services<typeof services>
  >
}
