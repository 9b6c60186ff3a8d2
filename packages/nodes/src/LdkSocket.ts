import type { Network } from "@satrail/bitcoin/Network"
import type { Progress } from "@satrail/core/nodes/Behind"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Option, Schema } from "effect"
import { connect } from "node:net"
import * as NodeState from "./NodeState.ts"
import { wordsOf } from "./Words.ts"

// The protocol of satrail's LDK node, which is a separate process (packages/nodes/ldk): JSON lines over a Unix
// socket, with one connection per request.

/**
 * The progress of a node's store: its newest run, and a count that only increases. A store that lacks progress
 * seen earlier can only be a restored backup.
 */
export interface Mark {
  readonly run: string
  readonly count: string
}

/**
 * Stores the last seen progress of a node. It is kept apart from the node, so that restoring a backup of the
 * node doesn't restore an old mark.
 */
export interface Marks {
  readonly read: Effect.Effect<Mark | undefined, unknown>
  readonly write: (mark: Mark) => Effect.Effect<void, unknown>
}

export interface Options {
  /** The path of the node's socket. */
  readonly socket: string
  /** The expected node, as returned by `Ldk.identity`. */
  readonly identity: { readonly nodeId: string; readonly network: Network }
  readonly marks: Marks
  /** Response timeout; 20 s by default. */
  readonly deadlineMillis?: number
  readonly state?: NodeState.NodeState
}

/** The node processed the request and refused it. `code` is one of the codes in serve.go. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  code: Schema.String,
  words: Schema.String
}) {}

/** Reasons shown to operators. They contain no secrets. */
export const reasons = {
  absent: "the LDK node cannot be reached",
  silent: "the LDK node does not respond",
  stale: "the store of the LDK node is older than its last known state",
  stranger: "a different node is running in place of the LDK node",
  down: "the LDK node is not running",
  unseen: "the last known state of the LDK node cannot be read"
} as const

const maxAnswerCharacters = 8 * 1024 * 1024

const Answer = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ id: Schema.Int, error: Schema.Struct({ code: Schema.String, message: Schema.String }) }),
    Schema.Struct({ id: Schema.Int, result: Schema.Unknown })
  ])
)

export const Here = Schema.Struct({
  node: Schema.String,
  network: Schema.Literals(["mainnet", "testnet", "signet", "regtest"]),
  version: Schema.String,
  run: Schema.String,
  count: Schema.String,
  started: Schema.Boolean,
  // Absent before the start, and in responses of an earlier sidecar version.
  block: Schema.optionalKey(Schema.Struct({ height: Schema.Int, isRecent: Schema.Boolean }))
})

/** Returns how far a running node has read the chain; none if it does not report it. */
export const progressOf = ({ block }: typeof Here.Type): Option.Option<Progress> =>
  Option.map(Option.fromNullishOr(block), ({ height, isRecent }) => ({ height, isSynced: isRecent }))

interface Request {
  readonly method: string
  readonly params: object
  readonly run?: string
}

const outage = (operation: string, cause: unknown, reason: string, remedy?: string) =>
  new NodeUnavailable({ operation, cause: wordsOf(cause), reason, ...(remedy !== undefined && { remedy }) })

/**
 * Sends one request and returns its response. Nothing is written before the socket is open. Once it is open,
 * the node may have read the request.
 */
const line = (
  socket: string,
  { method, params, run = "" }: Request
): Effect.Effect<string, NodeUnavailable | NodeState.NotLookedAt> =>
  Effect.callback((resume) => {
    const connection = connect(socket).setEncoding("utf8")
    let isOpen = false
    let text = ""
    const broken = (cause: unknown) =>
      resume(
        Effect.fail(
          isOpen
            ? outage(method, cause, reasons.silent)
            : new NodeState.NotLookedAt({
                operation: method,
                cause: wordsOf(cause),
                reason: reasons.absent,
                remedy: `Start it (satrail-ldk), or check its log. It does not respond at ${socket}.`
              })
        )
      )
    connection.once("connect", () => {
      isOpen = true
      connection.write(`${JSON.stringify({ id: 1, run, method, params })}\n`)
    })
    connection.once("error", broken)
    connection.once("close", () => broken("the connection ended without a response"))
    connection.on("data", (data: string) => {
      text += data
      if (text.endsWith("\n")) resume(Effect.succeed(text))
      else if (text.length > maxAnswerCharacters) broken("the response is too long")
      else return
      connection.destroy()
    })
    return Effect.sync(() => connection.destroy())
  })

/** Sends one request to whatever node is at the socket. */
export const exchange = <A>(
  socket: string,
  request: Request,
  result: Schema.Codec<A, unknown>,
  deadlineMillis: number
): Effect.Effect<A, NodeUnavailable | Refused> =>
  Effect.gen(function* () {
    const { method } = request
    const text = yield* Effect.timeoutOrElse(line(socket, request), {
      duration: deadlineMillis,
      orElse: () => Effect.fail(outage(method, `no response within ${deadlineMillis} ms`, reasons.silent))
    })
    const unread = (cause: unknown) => outage(method, cause, reasons.silent)
    const answer = yield* Effect.mapError(Schema.decodeEffect(Answer)(text), unread)
    if ("error" in answer) return yield* new Refused({ code: answer.error.code, words: answer.error.message })
    return yield* Effect.mapError(Schema.decodeUnknownEffect(result)(answer.result), unread)
  })

export interface LdkSocket {
  /**
   * Sends a request to the expected node, in a run that was confirmed to be as recent as the last seen
   * progress. `waitMillis` is how long the node itself may wait before it responds.
   */
  readonly ask: <A>(
    method: string,
    params: object,
    result: Schema.Codec<A, unknown>,
    waitMillis?: number
  ) => Effect.Effect<A, NodeUnavailable | Refused>
  /** Starts the node if its store is at least as recent as the last seen progress. */
  readonly begin: Effect.Effect<typeof Here.Type, NodeUnavailable>
  /** Stores the node's progress. */
  readonly see: Effect.Effect<void, NodeUnavailable>
}

/** Turns a refusal into an outage, for requests that the node can always fulfill. */
export const unavailable = (operation: string) => (refused: Refused) =>
  Effect.fail(new NodeUnavailable({ operation, cause: `${refused.code}: ${refused.words}` }))

export const make = ({
  socket,
  identity,
  marks,
  deadlineMillis = 20_000,
  state = NodeState.quiet
}: Options): LdkSocket => {
  let confirmed: string | undefined
  let written: string | undefined

  const told = <A, E extends { readonly _tag: string }>(answer: Effect.Effect<A, E>) =>
    answer.pipe(
      Effect.tap(() => state.works(["ldk"])),
      Effect.tapError((error) =>
        error instanceof NodeUnavailable && error.reason !== undefined
          ? state.fails("ldk", { ...error, reason: error.reason })
          : Effect.void
      )
    )

  const kept = ({ run, count }: typeof Here.Type) => {
    const mark = `${run}:${count}`
    if (mark === written) return Effect.void
    return marks.write({ run, count }).pipe(
      Effect.mapError((cause) => outage("see", cause, reasons.unseen)),
      Effect.tap(() => {
        written = mark
        return Effect.void
      })
    )
  }

  const starting = (refused: Refused) =>
    refused.code === "stale"
      ? outage("start", refused.words, reasons.stale, `${refused.words}.`)
      : outage("start", refused.words, reasons.down, `The node reported: ${refused.words}.`)

  const begin = Effect.gen(function* () {
    const seen = yield* Effect.mapError(marks.read, (cause) => outage("start", cause, reasons.unseen))
    const params = seen === undefined ? {} : { seen }
    const here = yield* exchange(socket, { method: "start", params }, Here, deadlineMillis).pipe(
      Effect.catchTag("Refused", (refused) => Effect.fail(starting(refused)))
    )
    if (here.node !== identity.nodeId || here.network !== identity.network) {
      return yield* outage(
        "start",
        `it is ${here.node} on ${here.network}, but ${identity.nodeId} on ${identity.network} was expected`,
        reasons.stranger
      )
    }
    yield* kept(here)
    confirmed = here.run
    return here
  })

  const run = Effect.suspend(() =>
    confirmed === undefined ? Effect.map(begin, ({ run }) => run) : Effect.succeed(confirmed)
  )
  /** Marks errors that occur before a request is written: the request itself had no effect. */
  const ready = Effect.mapError(
    run,
    ({ operation, cause, reason, remedy }) =>
      new NodeState.NotLookedAt({
        operation,
        cause,
        ...(reason !== undefined && { reason }),
        ...(remedy !== undefined && { remedy })
      })
  )

  return {
    begin: told(begin),
    see: told(
      Effect.flatMap(ready, () => exchange(socket, { method: "hello", params: {} }, Here, deadlineMillis))
    ).pipe(
      Effect.catchTag("Refused", unavailable("see")),
      // A different run hasn't been checked against the last seen progress yet.
      Effect.flatMap((here) => (here.run === confirmed ? kept(here) : Effect.void))
    ),
    ask: (method, params, result, waitMillis = 0) => {
      const once = Effect.flatMap(ready, (run) =>
        exchange(socket, { method, params, run }, result, deadlineMillis + waitMillis)
      )
      const again = Effect.catchTag(once, "Refused", (refused) => {
        if (refused.code !== "run") return Effect.fail(refused)
        confirmed = undefined
        return once
      })
      return told(
        Effect.catchTag(again, "Refused", (refused): Effect.Effect<never, NodeUnavailable | Refused> =>
          // The node has not processed the request.
          ["run", "unavailable", "late"].includes(refused.code)
            ? Effect.fail(
                new NodeState.NotLookedAt({
                  operation: method,
                  cause: refused.words,
                  reason: reasons.down,
                  remedy: `The node reported: ${refused.words}.`
                })
              )
            : Effect.fail(refused)
        )
      )
    }
  }
}
