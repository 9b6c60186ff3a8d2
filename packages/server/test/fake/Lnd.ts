import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as Macaroon from "../Macaroon.ts"
import { type Answer, type Asked, json, serve } from "./Http.ts"

export const nodeId = `02${"ab".repeat(32)}`

/** lnd's information about itself (lnrpc.GetInfo). */
export const info = {
  identity_pubkey: nodeId,
  version: "0.20.0-beta commit=v0.20.0-beta",
  chains: [{ chain: "bitcoin", network: "regtest" }],
  block_height: 0,
  synced_to_chain: true,
  synced_to_graph: true
}

/** The part of lnd's REST interface that a start and a check call. `interfere` can override a response. */
export const make = (interfere: (asked: Asked) => Answer | "as usual" = () => "as usual") =>
  serve((asked) => {
    const instead = interfere(asked)
    if (instead !== "as usual") return instead
    if (asked.path === "/v1/getinfo") return json(info)
    // Streams never send anything.
    if (/^\/v1\/invoices\/subscribe|^\/v2\/router\/payments/.test(asked.path)) return undefined
    return json({ code: 5, message: "unable to locate invoice", details: [] }, 404)
  })

/** Settings for LIGHTNING=lnd with the lnd at `url`. */
export const environment = (url: string): Record<string, string> => ({
  LIGHTNING: "lnd",
  LND_REST_URL: url,
  LND_RECEIVER_MACAROON: Macaroon.make(Lnd.receiverCalls),
  LND_SENDER_MACAROON: Macaroon.make(Lnd.senderCalls),
  LND_BOOKS_MACAROON: Macaroon.make(LndBooks.calls),
  LND_INVOICE_SECRET: "known-to-everybody-who-reads-the-tests"
})
