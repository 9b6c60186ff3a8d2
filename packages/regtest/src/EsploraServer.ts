import { sha256 } from "@noble/hashes/sha2.js"
import { hex } from "@scure/base"
import { Effect, Schema, Semaphore } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { Chain } from "./Chain.ts"
import * as Serving from "./Serving.ts"

// Serves Esplora's HTTP API (API.md of Blockstream's Esplora) for a real chain. Only the routes that wallets
// and nodes use are implemented.

const ScriptPubKey = Schema.Struct({ hex: Schema.String })
const Output = Schema.Struct({ value: Schema.Finite, scriptPubKey: ScriptPubKey })
const Input = Schema.Struct({
  coinbase: Schema.optional(Schema.String),
  txid: Schema.optional(Schema.String),
  vout: Schema.optional(Schema.Int),
  sequence: Schema.Int,
  scriptSig: Schema.optional(ScriptPubKey),
  txinwitness: Schema.optional(Schema.Array(Schema.String))
})
const Tx = Schema.Struct({
  txid: Schema.String,
  hex: Schema.String,
  version: Schema.Int,
  locktime: Schema.Int,
  size: Schema.Int,
  weight: Schema.Int,
  vin: Schema.Array(Input),
  vout: Schema.Array(Output)
})
type Tx = typeof Tx.Type
const Block = Schema.Struct({
  hash: Schema.String,
  height: Schema.Int,
  time: Schema.Int,
  merkleroot: Schema.String,
  previousblockhash: Schema.optional(Schema.String),
  tx: Schema.Array(Tx)
})
type Block = typeof Block.Type

const satsOf = (bitcoins: number): number => Math.round(bitcoins * 1e8)
const nullId = "00".repeat(32)

/** The server's data about a transaction. */
interface Known {
  readonly tx: Tx
  /** Undefined while it is unconfirmed. */
  readonly block: Block | undefined
}

interface Reply {
  readonly status?: number
  readonly body: string | Buffer
}
const missing = (what: string): Reply => ({ status: 404, body: `${what} not found` })
const json = (value: unknown): Reply => ({ body: JSON.stringify(value) })

/** Indexes the transactions by spent output and by script. */
const indexed = (known: ReadonlyMap<string, Known>) => {
  const spent = new Map<string, { readonly txid: string; readonly vin: number }>()
  const byScript = new Map<string, Set<string>>()
  const touches = (script: string, txid: string) => {
    const key = hex.encode(sha256(hex.decode(script)))
    byScript.set(key, (byScript.get(key) ?? new Set()).add(txid))
  }
  for (const { tx } of known.values())
    for (const { scriptPubKey } of tx.vout) touches(scriptPubKey.hex, tx.txid)
  for (const { tx } of known.values()) {
    for (const [vin, { txid, vout = 0 }] of tx.vin.entries()) {
      if (txid === undefined) continue
      spent.set(`${txid}:${vout}`, { txid: tx.txid, vin })
      const output = known.get(txid)?.tx.vout[vout]
      if (output !== undefined) touches(output.scriptPubKey.hex, tx.txid)
    }
  }
  return { spent, byScript }
}

/** Returns an effect that catches up with the chain and the mempool. It runs on every request. */
const follow = Effect.gen(function* () {
  const { call } = yield* Chain
  const alone = yield* Semaphore.make(1)
  let blocks: Array<Block> = []
  let known = new Map<string, Known>()
  let index = indexed(known)
  let seen = ""

  const blockAt = (hash: string) => call("getblock", [hash, 2], Block)
  const look = Effect.gen(function* () {
    const tip = yield* call("getbestblockhash", [], Schema.String)
    const waiting = yield* call("getrawmempool", [], Schema.Array(Schema.String))
    const here = [tip, ...waiting].join()
    if (here !== seen) {
      const more: Array<Block> = []
      for (let hash: string | undefined = tip; hash !== undefined;) {
        const block: Block = yield* blockAt(hash)
        const height = block.height
        if (blocks[height]?.hash === hash) break
        more.unshift(block)
        hash = block.previousblockhash
      }
      blocks = [...blocks.slice(0, more[0]?.height ?? blocks.length), ...more]
      known = new Map(blocks.flatMap((block) => block.tx.map((tx) => [tx.txid, { tx, block }])))
      for (const txid of waiting)
        known.set(txid, { tx: yield* call("getrawtransaction", [txid, 1], Tx), block: undefined })
      index = indexed(known)
      seen = here
    }
    return { blocks, known, ...index }
  })
  return alone.withPermits(1)(look)
})
type Followed = Effect.Success<Effect.Success<typeof follow>>

const statusOf = ({ block }: Known) =>
  block === undefined
    ? { confirmed: false }
    : { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time }

const shown = ({ known }: Followed, one: Known) => {
  const { txid, version, locktime, size, weight, vin, vout } = one.tx
  const output = ({ value, scriptPubKey }: typeof Output.Type) => ({
    scriptpubkey: scriptPubKey.hex,
    value: satsOf(value)
  })
  const inputs = vin.map((input) => {
    const spent = known.get(input.txid ?? "")?.tx.vout[input.vout ?? 0]
    return {
      txid: input.txid ?? nullId,
      vout: input.vout ?? 0xffffffff,
      prevout: spent === undefined ? null : output(spent),
      scriptsig: input.scriptSig?.hex ?? input.coinbase ?? "",
      witness: input.txinwitness ?? [],
      is_coinbase: input.txid === undefined,
      sequence: input.sequence
    }
  })
  const outputs = vout.map(output)
  const paid = (all: ReadonlyArray<{ readonly value: number } | null>) =>
    all.reduce((sum, one) => sum + (one?.value ?? 0), 0)
  const isCoinbase = inputs.some(({ is_coinbase }) => is_coinbase)
  const fee = isCoinbase ? 0 : paid(inputs.map(({ prevout }) => prevout)) - paid(outputs)
  return { txid, version, locktime, size, weight, fee, vin: inputs, vout: outputs, status: statusOf(one) }
}

const summary = ({ hash, height, time, merkleroot, previousblockhash, tx }: Block) => ({
  id: hash,
  height,
  timestamp: time,
  tx_count: tx.length,
  merkle_root: merkleroot,
  previousblockhash: previousblockhash ?? null
})

const bodyOf = async (request: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString("utf8")
}

/** The number of blocks per page, and of transactions per page. */
const blocksOfPage = 10
const transactionsOfPage = 25

/** Returns a function that handles requests. */
const routes = Effect.gen(function* () {
  const { call } = yield* Chain
  const followed = yield* follow

  const block = Effect.fnUntraced(function* ({ blocks }: Followed, hash: string, what: string) {
    const found = blocks.find((one) => one.hash === hash)
    switch (what) {
      case "header":
        return found === undefined
          ? missing("Block")
          : { body: yield* call("getblockheader", [hash, false], Schema.String) }
      case "status":
        return json(
          found === undefined
            ? { in_best_chain: false, height: null, next_best: null }
            : { in_best_chain: true, height: found.height, next_best: blocks[found.height + 1]?.hash ?? null }
        )
      case "raw":
        return found === undefined
          ? missing("Block")
          : { body: Buffer.from(yield* call("getblock", [hash, 0], Schema.String), "hex") }
      default:
        return found === undefined ? missing("Block") : json(summary(found))
    }
  })

  const transaction = Effect.fnUntraced(function* (all: Followed, txid: string, what: string, vout: string) {
    const { known, spent } = all
    const found = known.get(txid)
    if (found === undefined) return missing("Transaction")
    const spending = (at: number) => {
      const by = spent.get(`${txid}:${at}`)
      const spender = known.get(by?.txid ?? "")
      return by === undefined || spender === undefined
        ? { spent: false }
        : { spent: true, ...by, status: statusOf(spender) }
    }
    switch (what) {
      case "":
        return json(shown(all, found))
      case "status":
        return json(statusOf(found))
      case "hex":
        return { body: found.tx.hex }
      case "raw":
        return { body: Buffer.from(found.tx.hex, "hex") }
      case "outspend":
        return json(spending(Number(vout)))
      case "outspends":
        return json(found.tx.vout.map((_, at) => spending(at)))
      case "merkleblock-proof":
        if (found.block === undefined) return missing("Transaction")
        return { body: yield* call("gettxoutproof", [[txid], found.block.hash], Schema.String) }
      default:
        return missing("Route")
    }
  })

  /**
   * Returns the transactions after the last one that the client has seen: unconfirmed ones first, then
   * confirmed ones, newest first.
   */
  const ofScript = (all: Followed, script: string, after: string): Reply => {
    const touching = [...(all.byScript.get(script) ?? [])].flatMap((txid) => all.known.get(txid) ?? [])
    const heightOf = ({ block }: Known) => block?.height ?? Number.MAX_SAFE_INTEGER
    const sorted = touching.toSorted((one, other) => heightOf(other) - heightOf(one))
    const from = sorted.findIndex(({ tx }) => tx.txid === after) + 1
    return json(sorted.slice(from, from + transactionsOfPage).map((one) => shown(all, one)))
  }

  return Effect.fnUntraced(function* (path: string) {
    const all = yield* followed
    const { blocks } = all
    const [, kind = "", name = "", what = "", fourth = "", fifth = ""] = path.split("/")
    const top = blocks.length - 1
    switch (kind) {
      case "blocks": {
        if (name === "tip") return { body: what === "height" ? String(top) : (blocks[top]?.hash ?? "") }
        const from = name === "" ? top : Number(name)
        return json(
          blocks
            .slice(Math.max(0, from + 1 - blocksOfPage), from + 1)
            .toReversed()
            .map(summary)
        )
      }
      case "block-height": {
        const hash = blocks[Number(name)]?.hash
        return hash === undefined ? missing("Block") : { body: hash }
      }
      case "block":
        return yield* block(all, name, what)
      case "scripthash":
        return ofScript(all, name, fourth === "chain" ? fifth : "")
      case "fee-estimates":
        return json({ "1": 3, "2": 3, "3": 3, "6": 2, "12": 2, "144": 1, "1008": 1 })
      case "tx":
        return yield* transaction(all, name, what, fourth)
      default:
        return missing("Route")
    }
  })
})

/** Starts a server that listens for as long as the scope is open. */
export const make = Effect.gen(function* () {
  const { call } = yield* Chain
  const answer = yield* routes
  const refused = ({ message }: { readonly message: string }): Reply => ({ status: 400, body: message })
  const server = createServer((request, response) => {
    const broadcast = Effect.flatMap(
      Effect.promise(() => bodyOf(request)),
      (body) =>
        Effect.map(call("sendrawtransaction", [body], Schema.String), (txid): Reply => ({ body: txid }))
    )
    const asked = request.method === "POST" ? broadcast : answer(request.url ?? "")
    const replying = asked.pipe(Effect.catch((error) => Effect.succeed(refused(error))))
    void Effect.runPromise(replying).then(({ status = 200, body }) => response.writeHead(status).end(body))
  })
  return { url: yield* Serving.on(server) }
})
