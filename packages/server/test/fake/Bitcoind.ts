import { type Answer, type Asked, json, serve } from "./Http.ts"
import { genesis } from "./Esplora.ts"

export const credentials = { user: "satrail", password: "known-to-everybody-who-reads-the-tests" }
const authorization = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`

/** The reply to a call: a result, or an error with its code. */
export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

/** Bitcoin Core's replies on a chain with only the genesis block. */
const usual: Readonly<Record<string, Reply>> = {
  getblockchaininfo: {
    result: { chain: "regtest", blocks: 0, headers: 0, bestblockhash: genesis, initialblockdownload: true }
  },
  getindexinfo: { result: { txindex: { synced: true, best_block_height: 0 } } },
  getblockhash: { result: genesis }
}

/** The part of Bitcoin Core's JSON-RPC that a check calls. `replies` override the usual ones. */
export const make = (
  replies: Readonly<Record<string, Reply>> = {},
  interfere: (asked: Asked) => Answer | "as usual" = () => "as usual"
) =>
  serve((asked) => {
    const instead = interfere(asked)
    if (instead !== "as usual") return instead
    if (asked.headers["authorization"] !== authorization) return { status: 401, body: "" }
    const { id, method }: { readonly id: unknown; readonly method: string } = JSON.parse(asked.body)
    const reply = { ...usual, ...replies }[method] ?? { error: { code: -32601, message: "Method not found" } }
    return json({ result: null, error: null, ...reply, id }, "error" in reply ? 500 : 200)
  })

/** Settings for CHAIN=bitcoin-rpc with the node at `url`. */
export const environment = (url: string): Record<string, string> => ({
  CHAIN: "bitcoin-rpc",
  BITCOIN_RPC_URL: url,
  BITCOIN_RPC_USER: credentials.user,
  BITCOIN_RPC_PASSWORD: credentials.password
})
