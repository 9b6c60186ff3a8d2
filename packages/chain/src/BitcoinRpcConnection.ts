import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Effect, Option, Redacted, Schema } from "effect"
import { away, Outage } from "./Outage.ts"
import * as Request from "./Request.ts"

/** The address of a node's JSON-RPC, and its credentials. */
export interface Options extends Request.Options {
  readonly user: string
  readonly password: Redacted.Redacted
}

/** The error object that a node returned (codes: Bitcoin Core, rpc/protocol.h). */
export class RpcRefused extends Schema.TaggedError<RpcRefused>()("RpcRefused", {
  code: Schema.Int,
  message: Schema.String
}) {}

export const codes = {
  noInformation: -5,
  decode: -22,
  verify: -25,
  rejected: -26,
  known: -27,
  warmingUp: -28,
  noMethod: -32601
} as const

/** Matches the error of a node without an index: Core's "Use -txindex …", btcd's "(specify --txindex)". */
export const lacksIndex = (message: string) => /-txindex/.test(message)

export const withoutIndex = new Outage(
  "the node keeps no index of transactions",
  "Start it with txindex=1 (Bitcoin Core) or --txindex (btcd). Deposits and payouts wait until it has one."
)
export const waiting = "Wait. Deposits and payouts resume when it has finished."

/** Returns the outage for a refusal, with its remedy if there is one. */
export const reasonOf = ({ code, message }: RpcRefused): Error =>
  lacksIndex(message)
    ? withoutIndex
    : /being indexed/.test(message)
      ? new Outage("the node is indexing its transactions", waiting)
      : new Error(`${message} (${code})`)

/**
 * Core returns 503 when its queue is full, and a proxy in front of an overloaded node may too. The condition is
 * temporary, and the body is plain text.
 */
const busy = (status: number) =>
  new Outage(
    `the bitcoin node is overloaded (${status})`,
    "Wait. The call is retried. If this persists, raise the node's rpcworkqueue."
  )

const Reply = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Schema.Int, message: Schema.String }))),
  id: Schema.Unknown
})
const OneReply = Schema.fromJsonString(Reply)
const Replies = Schema.fromJsonString(Schema.Array(Reply))

/** Opens one connection to a node. */
export const connect = (options: Options) => {
  const request = Request.make(options)
  const authorization = `Basic ${Buffer.from(`${options.user}:${Redacted.value(options.password)}`).toString("base64")}`
  let id = 0

  const post = (operation: string, body: unknown) =>
    request({
      method: "POST",
      path: "/",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body)
    }).pipe(
      Effect.filterOrFail(
        ({ status }) => status !== 401 && status !== 403,
        ({ status }) =>
          status === 401
            ? new Outage(
                "the node rejects the user and password (401)",
                "Check BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD."
              )
            : new Outage(
                `the node rejects the user and password, or does not allow this user to call ${operation} (403)`,
                "Check BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD, and the node's rpcallowip and rpcwhitelist."
              )
      ),
      Effect.filterOrFail(
        ({ status }) => status < 502,
        ({ status }) => busy(status)
      ),
      Effect.mapError((cause) =>
        away(operation)(
          cause instanceof Outage
            ? cause
            : new Outage(
                "the bitcoin node cannot be reached",
                `Start it, or check BITCOIN_RPC_URL and CHAIN_TLS_CERT. Error: ${cause.message}.`
              )
        )
      ),
      Effect.map(({ body }) => body.toString("utf8"))
    )

  const call = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>) =>
    Effect.gen(function* () {
      const text = yield* post(method, { jsonrpc: "1.0", id: ++id, method, params })
      const reply = yield* Effect.mapError(Schema.decodeUnknownEffect(OneReply)(text), () =>
        away(method)(
          new Outage(
            "the response is not JSON-RPC",
            "Check BITCOIN_RPC_URL: it must be the address of a bitcoin node."
          )
        )
      )
      if (reply.error) {
        const { code, message } = reply.error
        return yield* code === codes.warmingUp
          ? away(method)(new Outage(`the node is starting: ${message}`, "Wait."))
          : new RpcRefused({ code, message })
      }
      return yield* Effect.mapError(Schema.decodeUnknownEffect(result)(reply.result), away(method))
    })

  /** Like `call`, but treats a refusal as an outage. */
  const ask = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>) =>
    Effect.catchTag(call(method, params, result), "RpcRefused", (refusal) =>
      Effect.fail(away(method)(reasonOf(refusal)))
    )

  /**
   * Sends several calls of one method as a batch. The result of a refused call is undefined. A batch whose
   * response would be too large is sent in halves.
   */
  const each = <A>(
    method: string,
    params: ReadonlyArray<ReadonlyArray<unknown>>,
    result: Schema.Codec<A, unknown>
  ): Effect.Effect<ReadonlyArray<A | undefined>, ChainUnavailable> =>
    Effect.gen(function* () {
      const text = yield* post(
        method,
        params.map((one, id) => ({ jsonrpc: "2.0", id, method, params: one }))
      )
      const replies = yield* Effect.mapError(Schema.decodeUnknownEffect(Replies)(text), away(method))
      return replies.map((reply) => Option.getOrUndefined(Schema.decodeUnknownOption(result)(reply.result)))
    }).pipe(
      Effect.catchIf(
        ({ cause }) => cause instanceof Request.AnswerTooLarge && params.length > 1,
        () => {
          const half = Math.ceil(params.length / 2)
          const halves = [params.slice(0, half), params.slice(half)]
          return Effect.map(
            Effect.forEach(halves, (some) => each(method, some, result)),
            (found) => found.flat()
          )
        }
      )
    )

  return { call, ask, each }
}

export type Connection = ReturnType<typeof connect>
