import * as TxId from "@satrail/bitcoin/TxId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import * as Serving from "@satrail/regtest/Serving"
import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Block from "../src/Block.ts"
import * as SimulatedBlocks from "./SimulatedBlocks.ts"
import { timeSecondsAt } from "./SimulatedBlocks.ts"

/** A response that replaces the server's own, or undefined. */
export type Interference = (path: string) => { readonly status: number; readonly body: string } | undefined

/** Serves the simulated chain on Esplora's routes, in the formats documented in its API.md. */
export class EsploraServer extends Context.Service<
  EsploraServer,
  {
    readonly url: string
    /** Paths requested so far. */
    readonly asked: Array<string>
    interfere: Interference
  }
>()("chain/test/EsploraServer") {}

interface Reply {
  readonly status?: number
  readonly body: string | Buffer
}
const missing = (what: string): Reply => ({ status: 404, body: `${what} not found` })
const json = (value: unknown): Reply => ({ body: JSON.stringify(value) })

const bodyOf = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString("utf8")
}

const make = Effect.gen(function* () {
  const sandbox = yield* Sandbox.Sandbox
  const source = yield* ChainSource
  const blocks = SimulatedBlocks.make()
  const state = () => Effect.runSync(sandbox.state).chain

  const answer = (path: string): Reply => {
    const chain = state()
    const [, kind = "", name = "", rest = ""] = path.split("/")
    switch (kind) {
      case "blocks":
        return { body: blocks.hashAt(chain, chain.tip.height) ?? "" }
      case "block-height": {
        const hash = blocks.hashAt(chain, Number(name))
        return hash === undefined ? missing("Block") : { body: hash }
      }
      case "block": {
        const height = blocks.heightOf(chain, name)
        if (height === undefined) return missing("Block")
        return rest === "raw"
          ? { body: blocks.raw(chain, height) }
          : json({ id: name, height, timestamp: timeSecondsAt(height) })
      }
      case "mempool":
        return json(chain.mempool)
      case "fee-estimates":
        return json({ "1": 87.9, "6": 12.3, "144": 1.2 })
      case "tx": {
        const found = Chain.transaction(chain, TxId.make(name))
        if (found === undefined || found.placement._tag === "gone") return missing("Transaction")
        if (rest === "raw") return { body: Buffer.from(found.rawTx, "hex") }
        const { placement } = found
        const isSpent = (_: unknown, vout: number) => ({
          spent: Chain.spender(chain, `${name}:${vout}`) !== undefined
        })
        if (rest === "outspends")
          return json(Block.parseTransaction(Buffer.from(found.rawTx, "hex")).outputs.map(isSpent))
        if (rest === "outspend") return json(isSpent(null, Number(path.split("/")[4])))
        return json({
          txid: name,
          vin: [{ is_coinbase: found.isCoinbase }],
          status:
            placement._tag === "mined"
              ? {
                  confirmed: true,
                  block_height: placement.height,
                  block_hash: blocks.hashAt(chain, placement.height)
                }
              : { confirmed: false }
        })
      }
      default:
        return missing("Route")
    }
  }

  const send = (response: ServerResponse, { status = 200, body }: Reply) =>
    response.writeHead(status).end(body)
  const post = async (request: IncomingMessage, response: ServerResponse) => {
    const said = await Effect.runPromise(source.broadcast(await bodyOf(request)))
    if (said._tag === "accepted" || said._tag === "known") return send(response, { body: "00".repeat(32) })
    const reason = said._tag === "rejected" ? said.reason : "away"
    return send(response, {
      status: 400,
      body: `sendrawtransaction RPC error: ${JSON.stringify({ code: -26, message: reason })}`
    })
  }

  const asked: Array<string> = []
  const service: EsploraServer["Service"] = { url: "", asked, interfere: () => undefined }
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    asked.push(path)
    const instead = service.interfere(path)
    if (instead !== undefined) send(response, instead)
    else if (request.method === "POST") void post(request, response)
    else send(response, answer(path))
  })
  return Object.assign(service, { url: yield* Serving.on(server) })
})

export const layer = Layer.effect(EsploraServer, make)
