import { assert } from "@effect/vitest"
import type * as Msat from "@satrail/bitcoin/Msat"
import * as Ledger from "@satrail/contracts/Ledger"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { type AllReads, Records } from "@satrail/core/service/Records"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { boundPort } from "@satrail/testing/boundPort"
import { Context, Effect, Layer } from "effect"
import { createServer, request as ask } from "node:http"
import path from "node:path"
import { text } from "node:stream/consumers"
import * as Service from "../Service.ts"
import * as Served from "./Served.ts"

// Two services that share only the simulated network between their nodes. Each is a process with its own data,
// server and outbound connections. Requests to a service's domain go through its front.

/** A request to a domain, and the response. */
export interface Exchange {
  readonly host: string
  readonly path: string
  readonly answer: string
}

/** The public server in front of a service. It forwards requests and records them. */
const front = Effect.fnUntraced(function* () {
  const asked: Array<Exchange> = []
  let service = () => ""
  let falsify = (path: string) => path
  const { port } = yield* Effect.acquireRelease(
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
      return { server, port: await boundPort(server) }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** Sets the current service URL, because a restarted process listens on another port. */
    standsBefore: (url: () => string) => {
      service = url
    },
    /** Alters the paths of requests before they reach the service. */
    falsify: (how: (path: string) => string) => {
      falsify = how
    }
  }
})

/** Starts one of the two services. */
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
    /** Kills the process and restarts it after `meanwhile`. */
    dies: (meanwhile: () => Promise<void>) =>
      Effect.promise(async () => {
        await service.stop("SIGKILL")
        await meanwhile()
        await service.start(env)
      }),
    /**
     * Stops the service. Its books must be sound, and its node's balance must have changed by exactly the
     * amount posted in the books. Returns the result of `look`.
     */
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

/** A service of the pair and its front. */
export type Side = Effect.Success<ReturnType<typeof start>> & {
  readonly front: Effect.Success<ReturnType<typeof front>>
}

const pretend = (seed: string) => Layer.build(Layer.fresh(Sandbox.layer({ seed, network: "regtest" })))

/** The public host of a service, the domain of its addresses, and further settings. */
export interface Placed {
  readonly host: string
  readonly domain: string
  readonly more?: Readonly<Record<string, string>>
}

/** Starts both services with these hosts, domains and settings. */
export const placed = Effect.fnUntraced(function* (one: Placed, other: Placed) {
  const fronts = [yield* front(), yield* front()] as const
  const [network, elsewhere] = [yield* pretend("pair"), yield* pretend("elsewhere")]
  const { receiver, sender, localBalance } = Context.get(network, Sandbox.Neighbour)
  const sandbox = Context.get(network, Sandbox.Sandbox)
  const [first, second] = yield* Effect.all(
    [
      start({
        ...one,
        allow: `${other.host}=${fronts[1].url}`,
        ports: network,
        localBalance: sandbox.localBalance
      }),
      start({
        ...other,
        allow: `${one.host}=${fronts[0].url}`,
        // This service's node is in the same network, but its chain and its wallet are separate.
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

/** Both services, at `first.example` and `second.example`. */
export const make = Effect.suspend(() =>
  placed(
    { host: "first.example", domain: "first.example" },
    { host: "second.example", domain: "second.example" }
  )
)
