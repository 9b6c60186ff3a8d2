import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as ResolverContract from "@satrail/contracts/nodes/Resolver"
import * as Id from "@satrail/core/base/Id"
import { Effect, Layer, Result } from "effect"
import { createHash, randomBytes } from "node:crypto"
import type http from "node:http"
import * as Outbound from "../src/Outbound.ts"
import * as Resolver from "../src/Resolver.ts"
import { serve } from "./Server.ts"

/** The fields of a server's response. A field that is `undefined` is omitted. */
export type Said = Readonly<Record<string, unknown>>

export const metadata = '[["text/plain", "Tea \\u2615"],["image/png;base64","AA=="],["x-new",{"a":[1]}]]'

/** LUD-06's first response, for a payee who accepts 1 to 1000 sats. */
export const payRequest: Said = {
  tag: "payRequest",
  callback: "https://wallet.example/cb?to=alice",
  minSendable: 1000,
  maxSendable: 1_000_000,
  metadata
}

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex")
const privateKey = Uint8Array.from({ length: 32 }, () => 7)

/** Creates and signs an invoice. */
export const invoice = (amount: bigint, about: string): string =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network: "regtest",
        amount: Msat.make(amount),
        timestampSeconds: Math.floor(Date.now() / 1000),
        paymentHash: PaymentHash.make(Id.toHex(randomBytes(32))),
        paymentSecret: Id.toHex(randomBytes(32)),
        descriptionHash: sha256(about)
      },
      Bolt11.signWith(privateKey)
    )
  )

/** Serves LNURL-pay for one payee at `wallet.example`. `first` and `second` override fields of the two responses. */
export const paying =
  ({
    first = {},
    second = {}
  }: { readonly first?: Said; readonly second?: Said } = {}): http.RequestListener =>
  (request, response) => {
    const url = new URL(request.url ?? "", "https://wallet.example")
    const amount = BigInt(url.searchParams.get("amount") ?? 0)
    const said =
      url.pathname === "/cb"
        ? { pr: invoice(amount, metadata), routes: [], ...second }
        : { ...payRequest, ...first }
    response.setHeader("content-type", "application/json").end(JSON.stringify(said))
  }

/** Builds a resolver that maps `wallet.example` to a local server with this listener. */
export const resolving = Effect.fnUntraced(function* (answer: http.RequestListener) {
  const server = yield* serve(answer)
  const allow = new Map([["wallet.example", new URL(`http://127.0.0.1:${server.port}`)]])
  const resolver = yield* Effect.provideService(Resolver.make, Outbound.Outbound, Outbound.make({ allow }))
  return { server, ...resolver }
})

/** The contract's peer: a correct local server. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const takes: Array<{ readonly min: Msat.Msat; readonly max: Msat.Msat }> = []
    let isCut = false
    const server = yield* serve((request, response) => {
      if (isCut) return request.socket.destroy()
      const { pathname, searchParams } = new URL(request.url ?? "", "https://wallet.example")
      const [, number = "", callback] = pathname.split("/")
      const one = takes[Number(number)]
      const said =
        one === undefined
          ? { status: "ERROR", reason: "Nobody is here" }
          : callback === undefined
            ? {
                ...payRequest,
                callback: `https://wallet.example/${number}/cb`,
                minSendable: Number(one.min),
                maxSendable: Number(one.max)
              }
            : { pr: invoice(BigInt(searchParams.get("amount") ?? 0), metadata), routes: [] }
      return response.writeHead(one === undefined ? 404 : 200).end(JSON.stringify(said))
    })
    const allow = new Map([["wallet.example", new URL(`http://127.0.0.1:${server.port}`)]])
    const peer = Layer.succeed(ResolverContract.Peer, {
      publish: (range) => Effect.sync(() => `https://wallet.example/${takes.push(range) - 1}`),
      nobody: "https://wallet.example/nobody",
      cut: Effect.sync(() => {
        isCut = true
      }),
      mend: Effect.sync(() => {
        isCut = false
      })
    })
    return Layer.merge(peer, Layer.provide(Resolver.layer, Outbound.layer({ allow })))
  })
)
