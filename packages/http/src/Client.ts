import type { Position } from "@satrail/core/ledger/Page"
import { Effect, Predicate, type Redacted, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { type HttpApi, HttpApiClient, type HttpApiEndpoint, type HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Api } from "./Api.ts"
import { Issue } from "./wire/Envelope.ts"
import * as Pages from "./wire/Page.ts"

/**
 * Error of a request that was rejected or could not reach the service. `code` and `status` come from the
 * response (`insufficient_balance`, 422). Without a response, `status` is 0 and `code` is `unreachable`; the
 * request may have taken effect. If the response is not an envelope, `code` is `unreadable`.
 */
export class ApiError extends Schema.TaggedError<ApiError>()("ApiError", {
  status: Schema.Int,
  code: Schema.String,
  message: Schema.String,
  issues: Schema.Array(Issue),
  /** Identifies the request in the operator's log; absent if the service did not respond. */
  requestId: Schema.optionalKey(Schema.String)
}) {}

/** A page of a list. `next` is the cursor of the next page, undefined on the last page. */
export interface Page<A, Cursor = Position> {
  readonly data: A
  readonly next: Cursor | undefined
}

/** The data in an endpoint's envelope. */
type Data<S, Cursor> =
  S extends HttpApiSchema.WithHeaders<infer Inner, infer _Headers>
    ? Page<Data<Inner, never>, Cursor>
    : S extends { readonly Type: { readonly data: infer D } }
      ? D
      : never

/** The cursor of an endpoint's pages. */
type CursorOf<E> = Ask<E> extends { readonly query?: { readonly cursor?: infer Cursor } } ? Cursor : never

type Part<Name extends string, S extends Schema.Top> = [S] extends [never]
  ? unknown
  : {} extends S["Type"]
    ? { readonly [N in Name]?: S["Type"] }
    : { readonly [N in Name]: S["Type"] }

/**
 * An endpoint's input: the `params`, `query` and `payload` it reads, and `idempotencyKey` if it creates
 * something.
 */
type Ask<E> =
  E extends HttpApiEndpoint.HttpApiEndpoint<
    infer _Id,
    infer _Method,
    infer _Path,
    infer Params,
    infer Query,
    infer Payload,
    infer Headers,
    infer _S,
    infer _E,
    infer _M,
    infer _MS
  >
    ? Part<"params", Params> &
        Part<"query", Query> &
        Part<"payload", Payload> &
        ([Headers] extends [never] ? unknown : { readonly idempotencyKey?: string })
    : never

type Call<E extends HttpApiEndpoint.Constraint> = (
  ...ask: {} extends Ask<E> ? readonly [ask?: Ask<E>] : readonly [ask: Ask<E>]
) => Effect.Effect<Data<E["~Success"], CursorOf<E>>, ApiError>

type GroupsOf<A> = A extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never
type Groups = GroupsOf<typeof Api>

/** One method per endpoint, by group: `client.read.balance()`. */
export type Client = {
  readonly [Id in HttpApiGroup.Identifier<Groups>]: {
    readonly [E in HttpApiGroup.EndpointsWithIdentifier<Groups, Id> as E["identifier"]]: Call<E>
  }
}

const Failure = Schema.Struct({
  status: Schema.Int,
  message: Schema.String,
  error: Schema.Struct({
    code: Schema.String,
    issues: Schema.optionalKey(Schema.Array(Issue)),
    request_id: Schema.optionalKey(Schema.String)
  })
})

const unreadable = (status: number) =>
  new ApiError({ status, code: "unreadable", message: "The response did not come from a satrail server", issues: [] })

/** Decodes the error in any endpoint's response. */
const refusal = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<never, ApiError> =>
  Effect.matchEffect(HttpClientResponse.schemaBodyJson(Failure)(response), {
    onSuccess: ({ status, message, error: { code, issues = [], request_id: requestId } }) =>
      Effect.fail(new ApiError({ status, code, message, issues, ...(requestId !== undefined && { requestId }) })),
    onFailure: () => Effect.fail(unreadable(response.status))
  })

const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  const answered = HttpClientError.isHttpClientError(error) && "response" in error.reason ? error.reason.response.status : undefined
  if (answered !== undefined) return unreadable(answered)
  return HttpClientError.isHttpClientError(error)
    ? new ApiError({ status: 0, code: "unreachable", message: `The service could not be reached: ${error.message}`, issues: [] })
    : new ApiError({
        status: 0,
        code: "unreadable",
        message: `The request or response does not match the API: ${String(error)}`,
        issues: []
      })
}

const member = (value: unknown, name: string): unknown => (Predicate.hasProperty(value, name) ? value[name] : undefined)

const dataOf = (value: unknown): unknown => {
  if (!Predicate.hasProperty(value, HttpApiSchema.WithHeadersValueTypeId)) return member(value, "data")
  const link = member(member(value, "headers"), "link")
  return { data: member(member(value, "body"), "data"), next: Pages.next(typeof link === "string" ? link : undefined) }
}

/**
 * Makes a client for the service at `baseUrl`, with a company's API key or the operator's token. It does not
 * retry requests; retrying is up to the caller.
 */
export const make = (options: {
  readonly baseUrl: string | URL
  readonly apiKey: Redacted.Redacted
}): Effect.Effect<Client, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const httpClient = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest(HttpClientRequest.bearerToken(options.apiKey)),
      HttpClient.transformResponse(Effect.flatMap((response) => (response.status < 400 ? Effect.succeed(response) : refusal(response))))
    )
    const client = yield* HttpApiClient.makeWith(Api, { httpClient, baseUrl: options.baseUrl })

    const called =
      (call: (request: object) => Effect.Effect<unknown, unknown>) =>
      ({ idempotencyKey, ...ask }: { readonly idempotencyKey?: string } = {}) =>
        Effect.mapBoth(
          call({ query: {}, payload: null, ...ask, headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey } }),
          { onSuccess: dataOf, onFailure: toApiError }
        )
    // oxlint-disable-next-line typescript/consistent-type-assertions -- each method takes a different request, but all are called the same way
    const groups = client as unknown as Readonly<
      Record<string, Readonly<Record<string, (request: object) => Effect.Effect<unknown, unknown>>>>
    >
    const clients = Object.entries(groups).map(
      ([group, calls]) => [group, Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, called(call)]))] as const
    )
    // oxlint-disable-next-line typescript/consistent-type-assertions -- built from the API name by name, like the type
    return Object.fromEntries(clients) as unknown as Client
  })
