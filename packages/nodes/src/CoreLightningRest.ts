import * as Msat from "@satrail/bitcoin/Msat"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Data, Effect, Redacted, Schema, SchemaGetter } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Https from "./Https.ts"
import { NotLookedAt } from "./NodeState.ts"
import { wordsOf } from "./Words.ts"

// Core Lightning v26.06 over its REST plugin (https://docs.corelightning.org/docs/rest): every command is POST /v1/<command>, amounts are numbers of msat.

export interface Options {
  /** Such as https://127.0.0.1:3010. */
  readonly url: string
  /** The plugin's `ca.pem`. */
  readonly certificateFile?: string | undefined
  /** One that allows the commands of its layer, and nothing else. */
  readonly rune: Redacted.Redacted
  /** How long one answer is waited for; 10 s when absent. */
  readonly deadlineMillis?: number
}

/** A refusal by the node itself. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: number; readonly words: string }> {}

/** Its error codes (`lightning-invoice`, `lightning-xpay`, `lightning-waitanyinvoice`, `lightning-getroutes`). */
export const codes = {
  noRune: new Set([1501, 1502, 1503]),
  timedOut: 904,
  labelTaken: 900,
  preimageTaken: 901,
  noRoute: new Set([205, 206])
} as const

/** A number of msat. */
export const Amount = Schema.Int.pipe(
  Schema.decodeTo(Msat.Msat, { decode: SchemaGetter.transform(BigInt), encode: SchemaGetter.transform(Number) })
)

/** Which node it is. */
export const Info = Schema.Struct({
  id: Schema.String,
  version: Schema.String,
  network: Schema.Literals(["bitcoin", "testnet", "testnet4", "signet", "regtest"])
})

/** What it calls each network. */
export const networks = { bitcoin: "mainnet", testnet: "testnet", testnet4: "testnet", signet: "signet", regtest: "regtest" } as const

const Problem = Schema.Struct({ code: Schema.Int, message: Schema.String })

/** The only function here that calls the node. */
export const connect = ({ url, certificateFile, rune, deadlineMillis = 10_000 }: Options) => {
  const client = Https.make({ certificateFile })
  return <A, I>(command: string, parameters: object, answer: Schema.Codec<A, I>, waitMillis = deadlineMillis) => {
    const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}/v1/${command}`).pipe(
      HttpClientRequest.setHeader("rune", Redacted.value(rune)),
      HttpClientRequest.bodyJsonUnsafe(parameters)
    )
    return client.execute(request).pipe(
      Effect.flatMap((response) =>
        Effect.flatMap(response.text, (text): Effect.Effect<A, unknown> => {
          if (response.status === 200 || response.status === 201) return Schema.decodeUnknownEffect(Schema.fromJsonString(answer))(text)
          return Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Problem))(text), ({ code, message }) =>
            Effect.fail(new Refused({ code, words: message }))
          )
        })
      ),
      Effect.timeoutOrElse({ duration: waitMillis, orElse: () => Effect.fail(`no answer within ${waitMillis} ms`) }),
      Effect.mapError((problem) => {
        // The rune is looked at before the command is.
        const isTurnedAway = problem instanceof Refused && codes.noRune.has(problem.code)
        if (problem instanceof Refused && !isTurnedAway) return problem
        const Unavailable = isTurnedAway || Https.isNotWritten(problem) ? NotLookedAt : NodeUnavailable
        return new Unavailable({ operation: command, cause: problem instanceof Refused ? problem.words : wordsOf(problem) })
      })
    )
  }
}

export type Ask = ReturnType<typeof connect>

/** Where nothing is asked that the node might refuse: a refusal is an outage. */
export const unavailable = (operation: string) => (refused: Refused) =>
  Effect.fail(new NodeUnavailable({ operation, cause: `${refused.code}: ${refused.words}` }))
