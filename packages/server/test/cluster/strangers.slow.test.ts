import { assert, it } from "@effect/vitest"
import { once } from "node:events"
import { Agent, get } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "../Customer.ts"
import { suite } from "./Suite.ts"

// Two attackers request invoices at one company's address through a trusted proxy, and other companies' payers request theirs at the same time. The full
// command runs five minutes with the default limits: SATRAIL_FLOOD_SECONDS=300. Otherwise a fixed number of requests meets a smaller pool.

const seconds = Number(process.env["SATRAIL_FLOOD_SECONDS"] ?? 0)
const requests = 900
const clients = 8
const agent = new Agent({ keepAlive: true })
const endsAt = () => performance.now() + seconds * 1000

/** An address out of 2001:db8:ab00::/40, or out of 10.7.0.0/16: the next one in a permutation of all of them. */
const attacker = (n: number): string => {
  const mixed = (n * 40_503) & 0xffff
  const hex = (value: number) => value.toString(16)
  return n % 2 === 0 ? `2001:db8:${hex(0xab00 + (mixed >> 8))}:${hex(mixed)}::1` : `10.7.${mixed >> 8}.${mixed & 255}`
}

/** A payer's own address, each in a network of its own. */
const payer = (n: number): string => `100.${64 + ((n >> 8) & 63)}.${n & 255}.9`

suite(
  "strangers",
  { more: { SATRAIL_PROXIES: "1", ...(seconds === 0 && { SATRAIL_LNURL_OPEN: "60", SATRAIL_LNURL_PER_ADDRESS: "6000" }) } },
  (cluster) => {
    const addressOf = async () => {
      const company = await cluster().company()
      const { address } = await Customer.data(201, company.post("/v1/bitcoin/deposit/lightning-address", {}))
      const [user = "", domain = ""] = String(address).split("@")
      return { domain, route: `/lnurlp/${domain}/${user}/callback?amount=21000` }
    }
    /** What a wallet at this address receives: an invoice, or why not. */
    const ask = async ({ domain, route }: Awaited<ReturnType<typeof addressOf>>, from: string, n: number): Promise<string> => {
      const urls = cluster().urls()
      const asked = get(`${urls[n % urls.length]}${route}`, { agent, headers: { host: domain, "x-forwarded-for": from } })
      const [response] = await once(asked, "response")
      const said = await text(response)
      return said.startsWith('{"pr":') ? "invoice" : `${response.statusCode} ${said.slice(0, 120)}`
    }

    it(
      "strangers: a /40 of IPv6 and 65,536 addresses of IPv4 that request invoices leave other companies' payers theirs",
      { timeout: (seconds + 240) * 1000 },
      async () => {
        const attacked = await addressOf()
        const others = [await addressOf(), await addressOf()]
        const [attacks, refusals] = [new Map<string, number>(), new Array<string>()]
        const until = endsAt()
        const over = new AbortController()
        let [asked, attempts] = [0, 0]
        const attack = async () => {
          while (seconds === 0 ? asked < requests : performance.now() < until) {
            const n = asked++
            const said = (await ask(attacked, attacker(n), n)).replace(/"reason":"|[{}"]/g, "")
            attacks.set(said, (attacks.get(said) ?? 0) + 1)
          }
        }
        const pay = async () => {
          for (let more = 50; more > 0; more -= over.signal.aborted ? 1 : 0) {
            const n = attempts++
            const said = await ask(others[n % others.length] ?? attacked, payer(n), n)
            if (said !== "invoice") refusals.push(said)
            if (!over.signal.aborted) await pass(50)
          }
        }
        const paying = pay()
        await Promise.all(Array.from({ length: clients }, attack))
        over.abort()
        await paying
        const report = `${asked} attacks: ${JSON.stringify(Object.fromEntries(attacks))}; ${refusals.length} of ${attempts} payers refused: ${refusals[0]}`
        if (seconds > 0) console.log(report)
        assert.isBelow(refusals.length / attempts, 0.001, report)
      }
    )
  }
)
