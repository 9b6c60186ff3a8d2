import * as Serving from "@satrail/regtest/Serving"
import { Effect, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"

export interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}
export type Said = {
  readonly status?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly text?: string
}

/** A Bitcoin node with these responses, also to the calls of a batch. */
export const node = Effect.fnUntraced(function* (answer: (call: Call) => Said) {
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const asked: Call | ReadonlyArray<Call> = JSON.parse(await text(request))
    if (!("method" in asked))
      return response.end(JSON.stringify(asked.map((call) => ({ id: 1, ...answer(call) }))))
    const { status = 200, result = null, error = null, text: said } = answer(asked)
    return response.writeHead(status).end(said ?? JSON.stringify({ id: 1, result, error }))
  }
  const server = createServer((request, response) => {
    void reply(request, response)
  })
  const options: BitcoinRpc.Options = {
    url: yield* Serving.on(server),
    user: "u",
    password: Redacted.make("secret-of-ours"),
    network: "mainnet",
    beginning: { height: 0 }
  }
  return { options, source: BitcoinRpc.make(options) }
})

export const info = {
  chain: "main",
  blocks: 800_000,
  headers: 800_000,
  bestblockhash: "00",
  initialblockdownload: false
}
const synced = { txindex: { synced: true, best_block_height: 800_000 } }
export const absent = "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."
export const standing = (call: Call): Said | undefined =>
  call.method === "getblockchaininfo"
    ? { result: info }
    : call.method === "getindexinfo"
      ? { result: synced }
      : call.method === "getbestblockhash"
        ? { result: info.bestblockhash }
        : call.method === "getmempoolinfo"
          ? { result: { loaded: true } }
          : undefined
export const healthy = (call: Call): Said => standing(call) ?? { error: { code: -5, message: absent } }
