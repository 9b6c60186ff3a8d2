import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { freePort } from "@satrail/testing/freePort"
import { eventually } from "@satrail/testing/Waiting"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import path from "node:path"
import * as Caddy from "./deployed/Caddy.ts"
import { root, type Running } from "./deployed/Machine.ts"
import * as Public from "./deployed/Public.ts"
import { directory, send } from "./Service.ts"

// Tests the shipped Caddyfile with processes that report the requests they receive. deployed.regtest.test.ts
// covers a full deployment with real processes.

const shipped = path.join(root, "deploy/Caddyfile")
const skipped = Caddy.command === undefined
if (skipped && process.env["REQUIRE_DEPLOYED"] === "1")
  throw new Error("there is no caddy (apt-get install caddy)")

describe.skipIf(skipped)("the shipped proxy (skipped where there is no caddy)", () => {
  if (Caddy.command === undefined) return
  const command = Caddy.command
  const home = directory()
  const begun: Array<Running> = []
  let servers: ReadonlyArray<Server> = []
  let to: Public.Public
  let inside = ""

  /** A proxy with its own ports in front of the same processes. */
  const start = async (config: string, name: string) => {
    const [http, https, internal] = await Promise.all([freePort(), freePort(), freePort()])
    const upstreams = await Promise.all(servers.map(async (server) => `127.0.0.1:${await boundPort(server)}`))
    const env = { UPSTREAMS: upstreams.join(" ") }
    const started = await Caddy.start({
      command,
      config,
      home: path.join(home, name),
      ports: { http, https, internal },
      env
    })
    begun.push(started.running)
    return { to: started.to, inside: `http://127.0.0.1:${internal}` }
  }

  beforeAll(async () => {
    // Every process runs but none is ready, as during an lnd outage.
    servers = [1, 2, 3].map((process) =>
      createServer(({ url, headers }, response) => {
        response.writeHead(url === "/readyz" ? 503 : 200, { "content-type": "application/json" })
        response.end(
          JSON.stringify({
            data: { process, url, forwarded: headers["x-forwarded-for"], host: headers.host }
          })
        )
      }).listen(0, "127.0.0.1")
    )
    ;({ to, inside } = await start(shipped, "shipped"))
  })
  afterAll(async () => {
    for (const one of begun) one.kill("SIGKILL")
    await Promise.all(begun.map(({ ended }) => ended))
    for (const server of servers) server.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  it("proxy: requests are distributed over all processes even if none is ready; a proxy that checks /readyz would serve nothing", async () => {
    const seen = new Set<number>()
    for (let at = 0; at < 12; at++)
      seen.add((await Public.ask(to, "GET", "/v1/transactions/balance")).data.process)
    assert.deepStrictEqual([...seen].toSorted(), [1, 2, 3])

    const changed = path.join(home, "Caddyfile")
    writeFileSync(
      changed,
      readFileSync(shipped, "utf8").replace("health_uri /readyz/running", "health_uri /readyz")
    )
    const other = await start(changed, "other")
    const heard = await eventually(
      "a proxy that has checked readiness",
      async () => (await Public.ask(other.to, "GET", "/healthz")).status,
      (status) => status === 503
    )
    assert.strictEqual(heard, 503)
  })

  it("proxy: operator routes cannot be reached from the Internet, however the path is written, but can be reached on this machine", async () => {
    const plain = [
      "/operator",
      "/operator/metrics",
      "/sandbox/pay",
      "/readyz",
      "/readyz/node",
      "/metrics",
      "/tls/ask?domain=a.example"
    ]
    const written = [
      "//operator/metrics",
      "/./operator/metrics",
      "/v1/../operator/metrics",
      "/%6fperator/metrics",
      "/OPERATOR/metrics"
    ]
    for (const route of [...plain, ...written]) {
      const { status, code, message } = await Public.ask(to, "GET", route)
      assert.deepStrictEqual(
        [status, code, message],
        [404, "not_found", "No such route. Check the path and the method."],
        route
      )
    }
    for (const route of ["/v1/operator", "/operators", "/docs", "/.well-known/lnurlp/alice"]) {
      assert.strictEqual((await Public.ask(to, "GET", route)).data.url, route)
    }
    for (const route of plain.filter((one) => one !== "/readyz")) {
      assert.strictEqual((await send(`${inside}${route}`, "GET", {})).data.url, route)
    }
  })

  it("proxy: a payer's address is taken from the connection rather than from headers, and the host is taken from the request", async () => {
    for (const from of ["127.0.0.1", "127.0.0.2"]) {
      const headers = { "x-forwarded-for": "203.0.113.7" }
      const { data } = await Public.ask(to, "GET", "/.well-known/lnurlp/alice", { from, headers })
      assert.deepStrictEqual([data.forwarded, data.host], [from, Caddy.host])
    }
  })
})
