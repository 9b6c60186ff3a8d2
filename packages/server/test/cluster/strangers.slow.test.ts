import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { createServer } from "node:net"
import os from "node:os"
import path from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as pass } from "node:timers/promises"
import { createSecureContext, type SecureContext } from "node:tls"
import { freePort } from "@satrail/testing/freePort"
import { testMillis } from "@satrail/testing/Waiting"
import * as Customer from "../Customer.ts"
import * as Caddy from "../deployed/Caddy.ts"
import * as Machine from "../deployed/Machine.ts"
import { suite } from "./Suite.ts"

// Two attackers request invoices at one company's addresses through the shipped proxy, while other companies'
// payers also request invoices. The IPv4 addresses are real addresses from 127.0.0.0/8. IPv6 addresses are real
// if this machine has 2001:db8:ab00::/40, which a network namespace can provide
// (docs/decisions/overload.md#0146). Otherwise the requests go to one process directly, as if from a proxy that
// reports such addresses. With SATRAIL_FLOOD_SECONDS=300, the full test runs for five minutes with the default
// limits. By default, the test sends a fixed number of requests to a smaller pool. SATRAIL_FLOOD_OPEN sets the
// size of the pool on a machine too slow to fill the default one.

const seconds = Number(process.env["SATRAIL_FLOOD_SECONDS"] ?? 0)
const requests = 900
const clients = 8
/** Limits apply per address, so an attack on several addresses could exhaust all the service's invoices. */
const attackedAddresses = 12
const endsAt = () => performance.now() + seconds * 1000

/** The nth address in a permutation of 2001:db8:ab00::/40 and 127.7.0.0/16, alternating between the two ranges. */
const attacker = (n: number): string => {
  const mixed = (n * 40_503) & 0xffff
  const hex = (value: number) => value.toString(16)
  return n % 2 === 0
    ? `2001:db8:${hex(0xab00 + (mixed >> 8))}:${hex(mixed)}::1`
    : `127.7.${mixed >> 8}.${Math.max(mixed & 255, 1)}`
}

/** A payer's address, each in a different network. */
const payer = (n: number): string => `127.${64 + ((n >> 8) & 63)}.${n & 255}.9`

const ownsIpv6 = async (): Promise<boolean> => {
  const server = createServer().listen(0, attacker(0))
  const [event] = await Promise.race([
    once(server, "listening").then(() => ["listening"]),
    once(server, "error")
  ])
  server.close()
  return event === "listening"
}

if (Caddy.command === undefined && process.env["REQUIRE_DEPLOYED"] === "1")
  throw new Error("there is no caddy (apt-get install caddy)")

const open = process.env["SATRAIL_FLOOD_OPEN"] ?? (seconds === 0 ? "60" : undefined)
const limits = {
  ...(open !== undefined && { SATRAIL_LNURL_OPEN: open }),
  ...(seconds === 0 && { SATRAIL_LNURL_PER_ADDRESS: "6000" })
}
suite("strangers", { more: { SATRAIL_DOMAIN: Caddy.host, SATRAIL_PROXIES: "1", ...limits } }, (cluster) => {
  const { command } = Caddy
  if (command === undefined) return
  const home = mkdtempSync(path.join(os.tmpdir(), "satrail-strangers-"))
  let proxy:
    | { readonly running: Machine.Running; readonly port: number; readonly secureContext: SecureContext }
    | undefined
  let isIpv6Ours = false

  beforeAll(async () => {
    isIpv6Ours = await ownsIpv6()
    const [http, https, internal] = await Promise.all([freePort(), freePort(), freePort()])
    const UPSTREAMS = cluster()
      .urls()
      .map((url) => new URL(url).host)
      .join(" ")
    const { running, to } = await Caddy.start({
      command,
      config: path.join(Machine.root, "deploy/Caddyfile"),
      home,
      ports: { http, https, internal },
      env: { UPSTREAMS, ...(isIpv6Ours && { PUBLIC_BIND: "127.0.0.1 ::1" }) }
    })
    proxy = { running, port: to.port, secureContext: createSecureContext({ ca: readFileSync(to.authority) }) }
  })
  afterAll(async () => {
    proxy?.running.kill("SIGKILL")
    await proxy?.running.ended
    rmSync(home, { recursive: true, force: true })
  })

  const addressOf = async (company: Awaited<ReturnType<ReturnType<typeof cluster>["company"]>>) => {
    const { address } = await Customer.data(201, company.post("/v1/bitcoin/deposit/lightning-address", {}))
    const [user = "", domain = ""] = String(address).split("@")
    return `/lnurlp/${domain}/${user}/callback?amount=21000`
  }

  const connection = (from: string, n: number, route: string) => {
    const isIpv6 = from.includes(":")
    const { port = 0, secureContext } = proxy ?? {}
    const headers = { host: Caddy.host }
    if (isIpv6 && !isIpv6Ours) {
      const urls = cluster().urls()
      return http.get(`${urls[n % urls.length]}${route}`, {
        headers: { ...headers, "x-forwarded-for": from }
      })
    }
    const host = isIpv6 ? "::1" : "127.0.0.1"
    const ours = { host, port, localAddress: from, servername: Caddy.host, secureContext }
    return https.get({ ...ours, path: route, headers, agent: false })
  }
  /** Requests an invoice from this address. Returns the invoice, or the reason why none was returned. */
  const ask = async (route: string, from: string, n: number): Promise<string> => {
    try {
      const [response] = await once(connection(from, n, route), "response")
      const said = await text(response)
      return said.startsWith('{"pr":') ? "invoice" : `${response.statusCode} ${said.slice(0, 120)}`
    } catch (cause) {
      return `no response: ${cause instanceof Error ? cause.message : String(cause)}`
    }
  }

  it(
    "strangers: invoice requests from an IPv6 /40 and 65,536 IPv4 addresses leave other companies' payers their share of invoices",
    { timeout: seconds * 1000 + testMillis },
    async () => {
      const victim = await cluster().company()
      const attacked = await Promise.all(Array.from({ length: attackedAddresses }, () => addressOf(victim)))
      const others = [await addressOf(await cluster().company()), await addressOf(await cluster().company())]
      const [attacks, refusals] = [new Map<string, number>(), new Array<string>()]
      const until = endsAt()
      const over = new AbortController()
      let [asked, attempts] = [0, 0]
      const attack = async () => {
        while (seconds === 0 ? asked < requests : performance.now() < until) {
          const n = asked++
          const said = (await ask(attacked[n % attacked.length] ?? "", attacker(n), n)).replace(
            /"reason":"|[{}"]/g,
            ""
          )
          attacks.set(said, (attacks.get(said) ?? 0) + 1)
        }
      }
      const pay = async () => {
        for (let more = 50; more > 0; more -= over.signal.aborted ? 1 : 0) {
          const n = attempts++
          const said = await ask(others[n % others.length] ?? "", payer(n), n)
          if (said !== "invoice") refusals.push(said)
          if (!over.signal.aborted) await pass(50)
        }
      }
      const paying = pay()
      await Promise.all(Array.from({ length: clients }, attack))
      over.abort()
      await paying
      const report = `${asked} attacks${isIpv6Ours ? ", IPv6 through the proxy" : ""}: ${JSON.stringify(Object.fromEntries(attacks))}; ${refusals.length} of ${attempts} payers refused: ${refusals[0]}`
      if (seconds > 0) console.log(report)
      assert.isAbove(attacks.get("invoice") ?? 0, 0, report)
      assert.isBelow(refusals.length / attempts, 0.001, report)
    }
  )
})
