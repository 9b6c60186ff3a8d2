import * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import * as Serving from "@satrail/regtest/Serving"
import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import * as SimulatedBlocks from "./SimulatedBlocks.ts"
import { timeSecondsAt } from "./SimulatedBlocks.ts"

/**
 * State of the node's transaction index. `building`: the index has not reached the tip since it was enabled.
 * `behind`: the index was complete once, but has not read the newest blocks yet. Core's response for a missing
 * transaction does not distinguish `behind` from a complete index.
 */
export type Txindex =
  | { readonly _tag: "none" | "synced" }
  | { readonly _tag: "building" | "behind"; readonly height: number }

/**
 * Serves the simulated chain over Bitcoin Core's JSON-RPC, with the messages from its
 * src/rpc/rawtransaction.cpp.
 */
export class CoreServer extends Context.Service<
  CoreServer,
  {
    readonly url: string
    /** Methods called so far. */
    readonly called: Array<string>
    txindex: Txindex
    /** Core opens its RPC before it has loaded the mempool that it saved when it stopped. */
    isMempoolLoaded: boolean
  }
>()("chain/test/CoreServer") {}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}
interface Refused {
  readonly code: number
  readonly message: string
}
type Said = { readonly result: unknown } | { readonly error: Refused }
const no = (code: number, message: string): Said => ({ error: { code, message } })

/** Core's message for a transaction that it does not find. */
export const notFound = ({ _tag }: Txindex): string => {
  const words = {
    none: "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries",
    building:
      "No such mempool transaction. Blockchain transactions are still in the process of being indexed",
    synced: "No such mempool or blockchain transaction",
    behind: "No such mempool or blockchain transaction"
  }
  return `${words[_tag]}. Use gettransaction for wallet transactions.`
}

const make = Effect.gen(function* () {
  const sandbox = yield* Sandbox.Sandbox
  const source = yield* ChainSource
  const blocks = SimulatedBlocks.make()
  const service: CoreServer["Service"] = {
    url: "",
    called: [],
    txindex: { _tag: "synced" },
    isMempoolLoaded: true
  }

  const indexedTo = (chain: Chain.State): number =>
    "height" in service.txindex ? service.txindex.height : chain.tip.height

  const transaction = (chain: Chain.State, txId: TxId.TxId, isVerbose: boolean): Said => {
    const found = Chain.transaction(chain, txId)
    const missing = no(-5, notFound(service.txindex))
    if (found === undefined || found.placement._tag === "gone") return missing
    const { placement, rawTx } = found
    if (placement._tag === "mempool" && !service.isMempoolLoaded) return missing
    if (
      placement._tag === "mined" &&
      (service.txindex._tag === "none" || placement.height > indexedTo(chain))
    )
      return missing
    if (!isVerbose) return { result: rawTx }
    const block =
      placement._tag === "mined"
        ? {
            blockhash: blocks.hashAt(chain, placement.height),
            confirmations: chain.tip.height - placement.height + 1
          }
        : {}
    return { result: { txid: txId, vin: found.isCoinbase ? [{ coinbase: "00" }] : [{}], ...block } }
  }

  const answer = async ({ method, params: [first, second] }: Call): Promise<Said> => {
    service.called.push(method)
    const { chain } = await Effect.runPromise(sandbox.state)
    const height = chain.tip.height
    switch (method) {
      case "getblockchaininfo":
        return {
          result: {
            chain: "regtest",
            blocks: height,
            headers: height,
            bestblockhash: blocks.hashAt(chain, height)
          }
        }
      case "getbestblockhash":
        return { result: blocks.hashAt(chain, height) }
      case "getindexinfo": {
        const { _tag } = service.txindex
        return {
          result:
            _tag === "none"
              ? {}
              : { txindex: { synced: _tag !== "building", best_block_height: indexedTo(chain) } }
        }
      }
      case "getblockhash": {
        const hash = blocks.hashAt(chain, Number(first))
        return hash === undefined ? no(-8, "Block height out of range") : { result: hash }
      }
      case "getblockheader":
      case "getblock": {
        const at = blocks.heightOf(chain, String(first))
        if (at === undefined) return no(-5, "Block not found")
        return {
          result:
            method === "getblock"
              ? blocks.raw(chain, at).toString("hex")
              : { height: at, time: timeSecondsAt(at) }
        }
      }
      case "getrawmempool":
        return { result: service.isMempoolLoaded ? chain.mempool : [] }
      case "getmempoolinfo":
        return { result: { loaded: service.isMempoolLoaded, size: chain.mempool.length } }
      case "getrawtransaction":
        return transaction(chain, TxId.make(String(first)), second === 1)
      case "sendrawtransaction": {
        const said = await Effect.runPromise(source.broadcast(String(first)))
        return said._tag === "rejected" ? no(-26, said.reason) : { result: "00".repeat(32) }
      }
      default:
        return no(-32601, "Method not found")
    }
  }

  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const asked: Call | ReadonlyArray<Call> = JSON.parse(await text(request))
    const one = async (call: Call) => ({ id: call.id, ...(await answer(call)) })
    response.end(JSON.stringify("method" in asked ? await one(asked) : await Promise.all(asked.map(one))))
  }
  const server = createServer((request, response) => void reply(request, response))
  return Object.assign(service, { url: yield* Serving.on(server) })
})

export const layer = Layer.effect(CoreServer, make)
