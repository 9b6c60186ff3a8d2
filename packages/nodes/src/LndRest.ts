import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Data, Effect, Redacted, Schema, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Https from "./Https.ts"
import * as LndOutage from "./LndOutage.ts"
import * as NodeState from "./NodeState.ts"
import { wordsOf } from "./Words.ts"

/** The address of lnd's REST interface, and its credentials. */
export interface Options {
  /** For example https://127.0.0.1:8080. */
  readonly url: string
  /**
   * lnd's `tls.cert`. Required unless a public authority signed lnd's certificate, or the connection is not
   * encrypted (`no-rest-tls`, allowed only on the loopback interface).
   */
  readonly certificateFile?: string | undefined
  /** The macaroon in hex. It should allow the required calls and nothing else. */
  readonly macaroon: Redacted.Redacted
  /** Timeout of one call; 10 s by default. A call that timed out may still take effect. */
  readonly deadlineMillis?: number
  /** The operator's names for these settings, used in logged remedies. Defaults to the names of these options. */
  readonly names?: LndOutage.Names
  /** Shared by all clients of one lnd, whatever their macaroons, so that a problem is logged once. */
  readonly state?: NodeState.NodeState
}

/**
 * lnd refused this call, with a gRPC status code and a message. Problems with lnd itself are `NodeUnavailable`.
 */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly words: string }> {}

export const code = { unknown: 2, invalidArgument: 3, notFound: 5, failedPrecondition: 9 } as const

/**
 * Returns whether lnd has no such record. A gateway in front of a starting node also returns 404 in this form,
 * but with a different message.
 */
export const isAbsent = (refused: Refused): boolean =>
  refused.code === code.notFound &&
  /unable to locate invoice|no existing invoices|payment isn't initiated/.test(refused.words)

/** Treats an error response as an outage, for calls that lnd has no reason to refuse. */
export const unavailable = (operation: string) => (refused: Refused) =>
  Effect.fail(new NodeUnavailable({ operation, cause: refused.words }))

const Status = Schema.Struct({ code: Schema.Int, message: Schema.String })
/** A stream that fails before its first message nests the error one level deeper. */
const Problem = Schema.Union([Status, Schema.Struct({ error: Status })])

type Failure = NodeUnavailable | Refused

const ownNames: LndOutage.Names = { url: "url", certificateFile: "certificateFile", macaroon: "macaroon" }

/** The only client of lnd. */
export interface LndRest {
  /**
   * Sends one request and returns its response. Repeats a request whose reused connection lnd has closed, so
   * every request must be safe to repeat. Each reused connection fails only once.
   */
  readonly ask: <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    answer: Schema.Codec<A, I>
  ) => Effect.Effect<A, Failure>
  /** Sends a request and streams its responses until lnd ends them. Has no timeout. */
  readonly listen: <A, I>(
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
    answer: Schema.Codec<A, I>
  ) => Stream.Stream<A, Failure>
  /** Fails if the node is not the expected one. */
  readonly recognise: (found: string, expected: string) => Effect.Effect<void, NodeUnavailable>
  /** Fails with the outage that a timed-out call reports. */
  readonly noAnswer: (operation: string) => Effect.Effect<never, NodeUnavailable>
  readonly deadlineMillis: number
  /** Returns the number of outages that have ended. lnd may have restarted during each of them. */
  readonly returns: () => number
}

export const make = (options: Options): LndRest => {
  const {
    url,
    certificateFile,
    macaroon,
    deadlineMillis = 10_000,
    names = ownNames,
    state = NodeState.make("lnd")
  } = options
  const place = { url, certificateFile, names }
  const noAnswer = `no response within ${deadlineMillis} ms`
  const macaroonName = names.macaroon
  const partsOf = (operation: string) => ["lnd", macaroonName, `${macaroonName} ${operation}`] as const
  const works = (operation: string) => state.works(partsOf(operation))

  /** Passes a refusal of the request on to the caller, and turns any other error into a described outage. */
  const failure =
    (operation: string) =>
    (problem: unknown): Effect.Effect<never, Failure> => {
      const refused = problem instanceof Refused ? problem : undefined
      const cause = refused?.words ?? wordsOf(problem)
      const said = refused && LndOutage.ofRefusal(operation, refused, place)
      if (refused !== undefined && said === undefined)
        return Effect.andThen(works(operation), Effect.fail(refused))
      const outage = said ?? LndOutage.ofSilence(operation, cause, place)
      const { reason, remedy, about, isTurnedAway } = outage
      const [whole, macaroon, call] = partsOf(operation)
      const Unavailable =
        isTurnedAway === true || Https.isNotWritten(problem) ? NodeState.NotLookedAt : NodeUnavailable
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

  /** Fails with lnd's error. An error that isn't in lnd's format came from another server. */
  const refusal = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<never, unknown> =>
    Effect.flatMap(response.text, (text) =>
      Effect.matchEffect(Schema.decodeUnknownEffect(Schema.fromJsonString(Problem))(text), {
        onFailure: () => Effect.fail(`status ${response.status} not in lnd's format`),
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
        Effect.retry({ while: Https.wasClosed }),
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
      const Line = Schema.fromJsonString(
        Schema.Union([Schema.Struct({ result: answer }), Schema.Struct({ error: Status })])
      )
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
          "error" in line
            ? Effect.fail(new Refused({ code: line.error.code, words: line.error.message }))
            : Effect.succeed(line.result)
        ),
        // lnd checks the macaroon when the stream begins, so a later message only shows that lnd responds.
        Stream.zipWithIndex,
        Stream.mapEffect(([message, index]) =>
          Effect.as(index === 0 ? works(operation) : state.works(["lnd"]), message)
        ),
        Stream.catch((problem) => Stream.fromEffect(failure(operation)(problem)))
      )
    },
    noAnswer: (operation) => Effect.catchTag(failure(operation)(noAnswer), "Refused", Effect.die),
    recognise: (found, expected) => {
      if (found === expected) return state.works(["identity"])
      const { reason, remedy } = LndOutage.ofStranger(found, expected, place)
      const cause = `a different node responds: ${found} instead of ${expected}`
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
