import { NodeUnavailable } from "@satrail/core/LightningReceiver"
import { Data, Effect, Metric, Redacted, Schema, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Https from "./Https.ts"
import { wordsOf } from "./Words.ts"

/** Where lnd's REST interface is, and what opens it. */
export interface Options {
  /** Such as https://127.0.0.1:8080. */
  readonly url: string
  /** lnd's `tls.cert`. Needed unless a known authority signed its certificate, or the connection is not encrypted (`no-rest-tls`, on the loopback only). */
  readonly certificateFile?: string | undefined
  /** In hex. One that may do what it is for, and nothing else. */
  readonly macaroon: Redacted.Redacted
  /** How long one answer is waited for; 10 s when absent. A bound on our patience: what was asked may happen all the same. */
  readonly deadlineMillis?: number
}

/** lnd itself said no: a gRPC status code and its words. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly words: string }> {}

/** The gRPC status codes that tell something. Others come from whatever is between us and lnd, too. */
export const code = { unknown: 2, invalidArgument: 3, notFound: 5, failedPrecondition: 9 } as const

const Status = Schema.Struct({ code: Schema.Int, message: Schema.String })
/** A stream that ends in an error before its first message says so one level down. */
const Problem = Schema.Union([Status, Schema.Struct({ error: Status })])

const unavailable = (operation: string) => (problem: unknown) =>
  problem instanceof Refused ? problem : new NodeUnavailable({ operation, cause: wordsOf(problem) })

type Failure = NodeUnavailable | Refused

/** 1 as long as lnd answers, 0 from when it does not. */
export const up = Metric.withAttributes(
  Metric.gauge("satrail_node_up", { description: "Whether the node answered when it was last asked: 1 or 0" }),
  {
    node: "lnd"
  }
)
/** How often it did not. */
export const outages = Metric.withAttributes(
  Metric.counter("satrail_node_outages_total", { description: "Questions that the node did not answer", incremental: true }),
  { node: "lnd" }
)

const answered = Metric.update(up, 1)
/** A refusal is an answer too. */
const failed = (failure: Failure) =>
  failure._tag === "Refused" ? answered : Effect.andThen(Metric.update(up, 0), Metric.update(outages, 1))

/** Asks lnd. The only ones here that do. */
export interface LndRest {
  /** One question and its answer. */
  readonly ask: <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    answer: Schema.Codec<A, I>
  ) => Effect.Effect<A, Failure>
  /** A question with any number of answers, one after the other, for as long as lnd has some. Has no deadline. */
  readonly listen: <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    answer: Schema.Codec<A, I>
  ) => Stream.Stream<A, Failure>
  readonly deadlineMillis: number
}

export const make = ({ url, certificateFile, macaroon, deadlineMillis = 10_000 }: Options): LndRest => {
  const client = Https.make({ certificateFile })
  const prepare = (request: HttpClientRequest.HttpClientRequest) =>
    request.pipe(
      HttpClientRequest.prependUrl(url.replace(/\/$/, "")),
      HttpClientRequest.setHeader("grpc-metadata-macaroon", Redacted.value(macaroon))
    )

  /** What is no error of lnd's in its own form was said by somebody else. */
  const refusal = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<never, unknown> =>
    Effect.flatMap(response.text, (text) =>
      Effect.matchEffect(Schema.decodeUnknownEffect(Schema.fromJsonString(Problem))(text), {
        onFailure: () => Effect.fail(`status ${response.status}, which lnd does not say like that`),
        onSuccess: (problem) => {
          const { code, message } = "error" in problem ? problem.error : problem
          return Effect.fail(new Refused({ code, words: message }))
        }
      })
    )

  return {
    deadlineMillis,
    ask: (operation, request, answer) =>
      client.execute(prepare(request)).pipe(
        Effect.flatMap((response) =>
          response.status === 200
            ? Effect.flatMap(response.text, Schema.decodeUnknownEffect(Schema.fromJsonString(answer)))
            : refusal(response)
        ),
        Effect.timeoutOrElse({ duration: deadlineMillis, orElse: () => Effect.fail(`no answer within ${deadlineMillis} ms`) }),
        Effect.mapError(unavailable(operation)),
        Effect.tap(() => answered),
        Effect.tapError(failed)
      ),
    listen: (operation, request, answer) => {
      const Line = Schema.fromJsonString(Schema.Union([Schema.Struct({ result: answer }), Schema.Struct({ error: Status })]))
      return Stream.unwrap(
        Effect.flatMap(client.execute(prepare(request)), (response) =>
          response.status === 200 ? Effect.succeed(response.stream) : refusal(response)
        )
      ).pipe(
        Stream.decodeText,
        Stream.splitLines,
        Stream.filter((line) => line !== ""),
        Stream.mapEffect((line) => Schema.decodeUnknownEffect(Line)(line)),
        Stream.mapEffect((line) =>
          "error" in line ? Effect.fail(new Refused({ code: line.error.code, words: line.error.message })) : Effect.succeed(line.result)
        ),
        Stream.mapError(unavailable(operation)),
        Stream.tap(() => answered),
        Stream.tapError(failed)
      )
    }
  }
}

export const get = HttpClientRequest.get
export const post = (path: string, body: object): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), body)
