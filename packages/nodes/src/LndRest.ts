import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Data, Effect, Redacted, Schema, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Https from "./Https.ts"
import * as LndOutage from "./LndOutage.ts"
import * as NodeState from "./NodeState.ts"
import { wordsOf } from "./Words.ts"

/** Where lnd's REST interface is, and what opens it. */
export interface Options {
  /** Such as https://127.0.0.1:8080. */
  readonly url: string
  /** lnd's `tls.cert`. Needed unless a known authority signed its certificate, or the connection is not encrypted (`no-rest-tls`, on the loopback only). */
  readonly certificateFile?: string | undefined
  /** In hex. One that may do what it is for, and nothing else. */
  readonly macaroon: Redacted.Redacted
  /** Timeout of one call; 10 s when absent. It ends the wait only: the call may take effect all the same. */
  readonly deadlineMillis?: number
  /** What the operator calls these settings, for the remedies in the log; their names here when absent. */
  readonly names?: LndOutage.Names
  /** Shared by those who ask the same lnd with different macaroons, so that what is wrong with it is logged once. */
  readonly state?: NodeState.NodeState
}

/** A refusal of lnd's of this call: a gRPC status code and its message. What is about lnd itself is `NodeUnavailable`. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly words: string }> {}

export const code = { unknown: 2, invalidArgument: 3, notFound: 5, failedPrecondition: 9 } as const

/** Of a record that lnd looked for and has not. A gateway in front of a node that is still starting says 404 in the same form and other words. */
export const isAbsent = (refused: Refused): boolean =>
  refused.code === code.notFound && /unable to locate invoice|no existing invoices|payment isn't initiated/.test(refused.words)

/** Where nothing is asked that lnd might refuse: a refusal is an outage. */
export const unavailable = (operation: string) => (refused: Refused) =>
  Effect.fail(new NodeUnavailable({ operation, cause: refused.words }))

const Status = Schema.Struct({ code: Schema.Int, message: Schema.String })
/** A stream that ends in an error before its first message says so one level down. */
const Problem = Schema.Union([Status, Schema.Struct({ error: Status })])

type Failure = NodeUnavailable | Refused

const ownNames: LndOutage.Names = { url: "url", certificateFile: "certificateFile", macaroon: "macaroon" }

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
  /** Fails where the node that was found is not the one that was expected. */
  readonly recognise: (found: string, expected: string) => Effect.Effect<void, NodeUnavailable>
  /** The outage of a call that has been waited for long enough. */
  readonly noAnswer: (operation: string) => Effect.Effect<never, NodeUnavailable>
  readonly deadlineMillis: number
  /** How often an outage of it has ended: after each it may have begun anew. */
  readonly returns: () => number
}

export const make = (options: Options): LndRest => {
  const { url, certificateFile, macaroon, deadlineMillis = 10_000, names = ownNames, state = NodeState.make("lnd") } = options
  const place = { url, certificateFile, names }
  const noAnswer = `no answer within ${deadlineMillis} ms`
  const macaroonName = names.macaroon
  const partsOf = (operation: string) => ["lnd", macaroonName, `${macaroonName} ${operation}`] as const
  const works = (operation: string) => state.works(partsOf(operation))

  /** A refusal that is an answer is the caller's; everything else is an outage, in words. */
  const failure =
    (operation: string) =>
    (problem: unknown): Effect.Effect<never, Failure> => {
      const refused = problem instanceof Refused ? problem : undefined
      const cause = refused?.words ?? wordsOf(problem)
      const said = refused && LndOutage.ofRefusal(operation, refused, place)
      if (refused !== undefined && said === undefined) return Effect.andThen(works(operation), Effect.fail(refused))
      const outage = said ?? LndOutage.ofSilence(cause, place)
      const { reason, remedy, about, isTurnedAway } = outage
      const [whole, macaroon, call] = partsOf(operation)
      const Unavailable = isTurnedAway === true || Https.isNotWritten(problem) ? NodeState.NotLookedAt : NodeUnavailable
      return Effect.andThen(
        state.fails(about === undefined ? whole : about === "macaroon" ? macaroon : call, { reason, remedy }),
        Effect.fail(new Unavailable({ operation, cause, reason, remedy }))
      )
    }

  const client = Https.make({ certificateFile })
  const prepare = (request: HttpClientRequest.HttpClientRequest) =>
    request.pipe(
      HttpClientRequest.prependUrl(url.replace(/\/$/, "")),
      HttpClientRequest.setHeader("grpc-metadata-macaroon", Redacted.value(macaroon))
    )

  /** An error that is not in lnd's own form came from another server. */
  const refusal = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<never, unknown> =>
    Effect.flatMap(response.text, (text) =>
      Effect.matchEffect(Schema.decodeUnknownEffect(Schema.fromJsonString(Problem))(text), {
        onFailure: () => Effect.fail(`status ${response.status} in a form that is not lnd's`),
        onSuccess: (problem) => {
          const { code, message } = "error" in problem ? problem.error : problem
          return Effect.fail(new Refused({ code, words: message }))
        }
      })
    )

  return {
    deadlineMillis,
    returns: state.returns,
    ask: (operation, request, answer) =>
      client.execute(prepare(request)).pipe(
        Effect.flatMap((response) =>
          response.status === 200
            ? Effect.flatMap(response.text, Schema.decodeUnknownEffect(Schema.fromJsonString(answer)))
            : refusal(response)
        ),
        Effect.timeoutOrElse({ duration: deadlineMillis, orElse: () => Effect.fail(noAnswer) }),
        Effect.tap(() => works(operation)),
        Effect.catch(failure(operation))
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
        Stream.tap(() => works(operation)),
        Stream.catch((problem) => Stream.fromEffect(failure(operation)(problem)))
      )
    },
    noAnswer: (operation) => Effect.catchTag(failure(operation)(noAnswer), "Refused", Effect.die),
    recognise: (found, expected) => {
      if (found === expected) return state.works(["identity"])
      const { reason, remedy } = LndOutage.ofStranger(found, expected, place)
      const cause = `it is another node: ${found}, and was ${expected}`
      return Effect.andThen(
        state.fails("identity", { reason, remedy }),
        Effect.fail(new NodeUnavailable({ operation: "identity", cause, reason, remedy }))
      )
    }
  }
}

export const get = HttpClientRequest.get
export const post = (path: string, body: object): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(path), body)
