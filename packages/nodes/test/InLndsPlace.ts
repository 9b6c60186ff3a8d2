import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Layer, Redacted, Result } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import * as Lnd from "../src/Lnd.ts"
import type * as LndRest from "../src/LndRest.ts"

// A server in place of lnd. Each test supplies the server's responses.

export const nodeId = `02${"11".repeat(32)}`
export const hash = PaymentHash.make("0f".repeat(32))

export interface Answer {
  readonly status: number
  readonly body: string
  readonly location?: string
}

export const info = (
  key: string,
  version = "0.21.2-beta commit=v0.21.2-beta",
  num_inactive_channels = 0
): Answer => ({
  status: 200,
  body: JSON.stringify({
    identity_pubkey: key,
    version,
    num_active_channels: 1,
    num_inactive_channels,
    chains: [{ chain: "bitcoin", network: "regtest" }]
  })
})

export const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

export const noRecord = json(404, { error: { code: 5, message: "payment isn't initiated", details: [] } })

/**
 * Starts a server that records the path and body of every call, and responds with the value that `say` returns
 * for the path. The server cuts the connection if `say` returns undefined, and never responds if `say` returns
 * `"silence"`.
 */
export const server = (say: (path: string) => Answer | "silence" | undefined) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let paths: ReadonlyArray<string> = []
      const bodies = new Map<string, string>()
      const server = createServer((request, response) => {
        const path = request.url ?? ""
        paths = [...paths, path]
        request.on("data", (chunk) => bodies.set(path, `${bodies.get(path) ?? ""}${chunk}`))
        request.on("end", () => {
          const answer = say(path)
          if (answer === undefined) return request.socket.destroy()
          if (answer === "silence") return undefined
          return response
            .writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location })
            .end(answer.body)
        })
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      return { url, paths: () => paths, bodies, end: () => server.close() }
    }),
    ({ end }) => Effect.sync(end)
  )

/** Builds the receiver and the sender, connected to the server at `url`. */
export const ports = Effect.fnUntraced(function* (url: string, others: Partial<LndRest.Options> = {}) {
  const options = {
    url,
    macaroon: Redacted.make("00"),
    identity: { nodeId, network: "regtest" } as const,
    ...others
  }
  const built = yield* Layer.build(
    Layer.merge(
      Lnd.layerReceiver({ ...options, invoiceSecret: Redacted.make("of the tests") }),
      Lnd.layerSender(options)
    )
  )
  return yield* Effect.provideContext(
    Effect.all({ receiver: LightningReceiver, sender: LightningSender }),
    built
  )
})

export const payment = {
  invoice: Result.getOrThrow(
    Bolt11.decode(
      Result.getOrThrow(
        Bolt11.encode(
          {
            network: "regtest",
            timestampSeconds: 1_700_000_000,
            paymentHash: hash,
            paymentSecret: hash,
            description: "",
            expirySeconds: 3600,
            minFinalCltvExpiry: 80
          },
          Bolt11.signWith(new Uint8Array(32).fill(3))
        )
      )
    )
  ),
  amount: Msat.fromSats(1),
  feeLimit: Msat.zero
}

/** An invoice in lnd's format. */
export const invoiceOf = (n: number, state: string, settleIndex: number) => ({
  r_hash: Buffer.alloc(32, n).toString("base64"),
  r_preimage: Buffer.alloc(32, n + 100).toString("base64"),
  payment_request: "lnbcrt1",
  state,
  amt_paid_msat: state === "SETTLED" ? String(n * 1000) : "0",
  htlcs: [],
  settle_date: "1700000000",
  settle_index: String(settleIndex)
})
