import { assert } from "@effect/vitest"
import type * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { type AllReads, Records } from "@satrail/core/service/Records"
import * as Storage from "@satrail/postgres/Storage"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { createServer, request as ask } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { text } from "node:stream/consumers"
import * as Service from "../Service.ts"
import * as Served from "./Served.ts"

// Two services that share nothing but the pretend network between their nodes: each is a process with its own data, its own server and its own way
// out, on which it finds the other's domain at the other's front.

/** What somebody was asked, at which domain, and what the answer was. */
export interface Exchange {
  readonly host: string
  readonly path: string
  readonly answer: string
}

/** What stands where the world finds a service: it passes on what it is asked, and remembers it. */
const front = Effect.fnUntraced(function* () {
  const asked: Array<Exchange> = []
  let service = () => ""
  let falsify = (path: string) => path
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        const { url: path = "/", headers } = request
        ask(service() + falsify(path), { headers }, async (answering) => {
          const answer = await text(answering)
          asked.push({ host: headers.host ?? "", path, answer })
          const { location } = answering.headers
          const said = { "content-type": "application/json", ...(location !== undefined && { location }) }
          response.writeHead(answering.statusCode ?? 500, said).end(answer)
        })
          .on("error", (cause) => response.destroy(cause))
          .end()
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    // It listens on TCP, so its address is one of TCP.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    /** Wherever that is now: a process that is started again listens at another port. */
    standsBefore: (url: () => string) => {
      service = url
    },
    /** Has other questions reach the service than the world asks. */
    falsify: (how: (path: string) => string) => {
      falsify = how
    }
  }
})

/** One of the two, running. */
const start = Effect.fnUntraced(function* (options: {
  readonly domain: string
  readonly allow: string
  readonly more?: Readonly<Record<string, string>> | undefined
  readonly ports: Context.Context<Served.Ports>
  readonly localBalance: Effect.Effect<Msat.Msat>
}) {
  const before = yield* options.localBalance
  const port = yield* Served.serve(options.ports)
  const service = yield* Effect.acquireRelease(
    Effect.sync(() => Service.make({ program: "pair" })),
    (service) => Effect.promise(() => service.end())
  )
  const env = {
    NETWORK_URL: `http://127.0.0.1:${port}`,
    SATRAIL_DOMAIN: options.domain,
    RESOLVER: "web",
    SATRAIL_OUTBOUND_ALLOW: options.allow,
    ...options.more
  }
  yield* Effect.promise(() => service.start(env))
  return {
    ...service,
    /** Kills it without a word, and starts it again when `meanwhile` is over. */
    dies: (meanwhile: () => Promise<void>) =>
      Effect.promise(async () => {
        await service.stop("SIGKILL")
        await meanwhile()
        await service.start(env)
      }),
    /** Stops it. Its books are sound, and what its node owns has changed by what they say, to the millisatoshi. Answers what `look` finds in them. */
    close: <A, E>(look: (records: AllReads) => Effect.Effect<A, E>) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => service.stop("SIGTERM"))
        return yield* Effect.gen(function* () {
          yield* Ledger.auditAll
          const records = yield* Records
          const { node } = yield* records.trialBalance
          assert.strictEqual((yield* options.localBalance) - before, -node)
          return yield* look(records)
        }).pipe(Effect.provide(Storage.layerEmbedded({ directory: path.join(service.data, "database") })))
      })
  }
})

/** A service of the pair, and its front. */
export type Side = Effect.Success<ReturnType<typeof start>> & { readonly front: Effect.Success<ReturnType<typeof front>> }

const pretend = (seed: string) => Layer.build(Layer.fresh(Sandbox.layer({ seed, network: "regtest" })))

/** Where the world finds a service, at which domain its addresses are, and what else it is told. */
export interface Placed {
  readonly host: string
  readonly domain: string
  readonly more?: Readonly<Record<string, string>>
}

/** The two of them. */
export const placed = Effect.fnUntraced(function* (one: Placed, other: Placed) {
  const fronts = [yield* front(), yield* front()] as const
  const [network, elsewhere] = [yield* pretend("pair"), yield* pretend("elsewhere")]
  const { receiver, sender, localBalance } = Context.get(network, Sandbox.Neighbour)
  const sandbox = Context.get(network, Sandbox.Sandbox)
  const [first, second] = yield* Effect.all(
    [
      start({ ...one, allow: `${other.host}=${fronts[1].url}`, ports: network, localBalance: sandbox.localBalance }),
      start({
        ...other,
        allow: `${one.host}=${fronts[0].url}`,
        // Its node is in the same network; its chain and its wallet are nobody else's.
        ports: elsewhere.pipe(Context.add(LightningReceiver, receiver), Context.add(LightningSender, sender)),
        localBalance
      })
    ],
    { concurrency: 2 }
  )
  fronts[0].standsBefore(first.url)
  fronts[1].standsBefore(second.url)
  return {
    first: { ...first, front: fronts[0] },
    second: { ...second, front: fronts[1] },
    sandbox,
    allow: new Map([
      [one.host, new URL(fronts[0].url)],
      [other.host, new URL(fronts[1].url)]
    ])
  }
})

/** The two of them, at `first.example` and `second.example`. */
export const make = Effect.suspend(() =>
  placed({ host: "first.example", domain: "first.example" }, { host: "second.example", domain: "second.example" })
)
