import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { ChainSource } from "@satrail/core/ChainSource"
import { Context, Effect, HashMap, Layer, Option } from "effect"
import { hashOf } from "../src/Block.ts"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** What the server says in place of an answer. */
export type Interference = (path: string) => { readonly status: number; readonly body: string } | undefined

/** The pretend chain behind Esplora's routes, in the shapes that its API.md documents. */
export class EsploraServer extends Context.Service<
  EsploraServer,
  {
    readonly url: string
    /** Paths that were asked for. */
    readonly asked: Array<string>
    interfere: Interference
  }
>()("chain/test/EsploraServer") {}

const varint = (count: number) => (count < 0xfd ? Buffer.of(count) : Buffer.of(0xfd, count & 0xff, count >> 8))

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
  // The sandbox's blocks have no work and no header that hashes to their names: the server gives each a header of its own, and names it by that.
  const headers = new Map<string, Buffer>()
  const state = () => Effect.runSync(sandbox.state).chain

  const headerAt = (chain: Chain.State, height: number): Buffer => {
    const block = HashMap.getUnsafe(chain.blocks, height)
    const found = headers.get(block.hash)
    if (found !== undefined) return found
    const header = Buffer.alloc(80)
    if (height > 0) header.set(Buffer.from(hashOf(headerAt(chain, height - 1)), "hex").toReversed(), 4)
    Buffer.from(block.hash, "hex").copy(header, 36)
    header.writeUInt32LE(1_700_000_000 + height * 600, 68)
    headers.set(block.hash, header)
    return header
  }
  const named = (chain: Chain.State, hash: string) => {
    for (let height = chain.tip.height; height >= 0; height--) if (hashOf(headerAt(chain, height)) === hash) return height
    return undefined
  }

  const answer = (path: string): Reply => {
    const chain = state()
    const [, kind = "", name = "", rest = ""] = path.split("/")
    switch (kind) {
      case "blocks":
        return { body: hashOf(headerAt(chain, chain.tip.height)) }
      case "block-height": {
        const height = Number(name)
        return height <= chain.tip.height ? { body: hashOf(headerAt(chain, height)) } : missing("Block")
      }
      case "block": {
        const height = named(chain, name)
        if (height === undefined) return missing("Block")
        if (rest !== "raw") return json({ id: name, height, timestamp: 1_700_000_000 + height * 600 })
        const { txIds } = HashMap.getUnsafe(chain.blocks, height)
        const raw = txIds.map((txId) => Buffer.from(Chain.transaction(chain, txId)?.rawTx ?? "", "hex"))
        return { body: Buffer.concat([headerAt(chain, height), varint(raw.length), ...raw]) }
      }
      case "mempool":
        return json(chain.mempool)
      case "fee-estimates":
        return json({ "1": 87.9, "6": 12.3, "144": 1.2 })
      case "tx": {
        const found = Chain.transaction(chain, name)
        if (found === undefined || found.placement._tag === "gone") return missing("Transaction")
        if (rest === "raw") return found.placement._tag === "mempool" ? { body: Buffer.from(found.rawTx, "hex") } : missing("Transaction")
        const { placement } = found
        const [, , , , vout = ""] = path.split("/")
        if (rest === "outspend") return json({ spent: Chain.spender(chain, `${name}:${vout}`) !== undefined })
        return json({
          txid: name,
          vin: [{ is_coinbase: found.isCoinbase }],
          status:
            placement._tag === "mined"
              ? { confirmed: true, block_height: placement.height, block_hash: hashOf(headerAt(chain, placement.height)) }
              : { confirmed: false }
        })
      }
      default:
        return missing("Route")
    }
  }

  const send = (response: ServerResponse, { status = 200, body }: Reply) => response.writeHead(status).end(body)
  const post = async (request: IncomingMessage, response: ServerResponse) => {
    const said = await Effect.runPromise(source.broadcast(await bodyOf(request)))
    if (said._tag === "accepted" || said._tag === "known") return send(response, { body: "00".repeat(32) })
    const reason = said._tag === "rejected" ? said.reason : "away"
    return send(response, { status: 400, body: `sendrawtransaction RPC error: ${JSON.stringify({ code: -26, message: reason })}` })
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
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = Option.getOrThrow(Option.fromNullishOr(typeof address === "object" ? address?.port : undefined))
  return Object.assign(service, { url: `http://127.0.0.1:${port}` })
})

export const layer = Layer.effect(EsploraServer, make)
