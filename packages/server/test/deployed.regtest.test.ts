import { assert, describe, it } from "@effect/vitest"
import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Miner from "@satrail/regtest/Miner"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { eventually, programsMillis, quickest } from "@satrail/testing/Waiting"
import { Effect, Result } from "effect"
import { setTimeout as pass } from "node:timers/promises"
import * as Customer from "./Customer.ts"
import * as Caddy from "./deployed/Caddy.ts"
import * as Deployment from "./deployed/Deployment.ts"
import * as Public from "./deployed/Public.ts"
import { type Company, send } from "./Service.ts"

// The topology of deploy/ on one machine: PostgreSQL with its roles, three processes from the image's files
// behind Caddy with the shipped Caddyfile, lnd and a chain. It is set up with the commands of
// docs/guides/mainnet.md (docs/decisions/operations.md#0044).

const { command: caddy, host } = Caddy
const { processes } = Deployment
const installation = PostgresServer.find()
const missing =
  caddy === undefined
    ? "there is no caddy (apt-get install caddy)"
    : "missing" in installation
      ? `there is no PostgreSQL: ${installation.missing}`
      : undefined
if (missing !== undefined) {
  if (process.env["REQUIRE_DEPLOYED"] === "1" || process.env["REQUIRE_REAL_NODES"] === "1")
    throw new Error(`no deployment here: ${missing}`)
  console.error(`skipped: no deployment here: ${missing}`)
}

/** The deployment, the service as reached from the Internet, a company, and the external network. */
interface Scene {
  readonly deployment: Deployment.Deployment
  readonly to: Public.Public
  readonly shop: Company
  readonly network: Network["Service"]
}

const outside = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

const invoiceOf = ({ network: { carol } }: Scene, sats: number) =>
  outside(Peer.invoice(carol, { amount: Msat.fromSats(BigInt(sats)), behaviour: "settle" }))

/** Confirms a withdrawal to carol's node. */
const confirmed = async (scene: Scene, sats: number): Promise<string> =>
  (await Customer.data(201, Customer.confirm(scene.shop, await invoiceOf(scene, sats), sats))).id

/** Mines blocks until the work is done. */
const mining = async <A>({ network: { chain } }: Pick<Scene, "network">, work: Promise<A>): Promise<A> => {
  const over = new AbortController()
  const done = work.finally(() => over.abort())
  while (!over.signal.aborted) {
    await outside(chain.mine(1))
    await Promise.race([done, pass(1000)])
  }
  return done
}

/** Steps 7 and 8: a company is created, and money moves in and out over Lightning and on-chain. */
const firstMoney = async (
  deployment: Deployment.Deployment,
  to: Public.Public,
  network: Network["Service"]
): Promise<Scene> => {
  const { follow, followAll, sh, stepsOf } = deployment
  await followAll(7)
  const shop = Public.company(to, await sh('echo "$COMPANY"'), await sh('echo "$KEY"'))
  const scene = { deployment, to, shop, network }
  const [invoice, paid, onChain, credited, back] = stepsOf(8)
  await outside(Peer.pay(network.carol, await follow(invoice)))
  await follow(paid)
  await outside(network.chain.send(await follow(onChain), 200_000n))
  await mining(scene, follow(credited))
  const theirs = await invoiceOf(scene, 5000)
  await mining(
    scene,
    follow(back, (text) => text.replace("INVOICE", theirs).replace("ADDRESS", Miner.address))
  )
  const sent: ReadonlyArray<Record<string, unknown>> = await Customer.transactions(
    shop,
    "type=withdrawal&limit=10"
  )
  assert.sameDeepMembers(
    sent.map(({ status, amount_sats: sats, rail_type: rail }) => [status, sats, rail]),
    [
      ["settled", 5000, "lightning"],
      ["settled", 6000, "lightning"],
      ["settled", 50_000, "on_chain"]
    ]
  )
  return scene
}

/**
 * Opens the page of a new checkout, and waits until the page's stream has reported that it is open. Returns the content
 * of its QR code, and a promise of the time on our clock when the stream ended after reporting the payment.
 */
const checkout = async ({ shop, to }: Scene, sats: number) => {
  const { url } = await Customer.data(201, shop.post("/v1/checkouts", { amount: sats, currency: "sats" }))
  const { pathname } = new URL(url)
  const page = await Public.ask(to, "GET", pathname)
  const { asking } = JSON.parse((await Public.ask(to, "GET", `${pathname}/state`)).text)
  assert.include(page.text, `href="${asking.uri.replaceAll("&", "&amp;")}"`)
  const opened = Promise.withResolvers<void>()
  const heard = Public.ask(to, "GET", `${pathname}/state`, {
    headers: { accept: "text/event-stream" },
    hears: (text) => void (text.includes('"status":"open"') && opened.resolve())
  })
  await Promise.race([opened.promise, heard])
  const paid = heard.then(({ text }) => {
    assert.match(text, /"status":"open"[^]*"status":"paid"/)
    return performance.now()
  })
  return { code: Result.getOrThrow(Bip21.parse(asking.uri)), paid }
}

/**
 * A payer opens a checkout page and pays its QR code, once over Lightning and once on-chain. The page shows the
 * Lightning payment within a second.
 */
const paidOnItsPage = async (scene: Scene): Promise<void> => {
  const { network } = scene
  const millis = await quickest(1000, async () => {
    const lightning = await checkout(scene, 3000)
    await outside(
      Peer.pay(network.carol, lightning.code.lightning[0] ?? assert.fail("no invoice in the code"))
    )
    const settledMillis = performance.now()
    return (await lightning.paid) - settledMillis
  })
  console.info(`the checkout page is notified ${Math.round(millis)} ms after lnd settles`)
  assert.isBelow(millis, 1000)
  const chain = await checkout(scene, 40_000)
  await outside(network.chain.send(chain.code.addresses[0] ?? assert.fail("no address in the code"), 40_000n))
  await mining(scene, chain.paid)
}

/** An external wallet pays one of our Lightning addresses. Returns its handle. */
const lightningAddress = async ({ network: { carol }, shop, to }: Scene): Promise<string> => {
  const { address } = await Customer.data(201, shop.post("/v1/bitcoin/deposit/lightning-address", {}))
  const [handle = "", domain] = String(address).split("@")
  assert.strictEqual(domain, host)
  const balance = await Customer.balance(shop)
  const { pr, reason } = await Public.invoiceAt(to, handle, 7_000_000n)
  await outside(Peer.pay(carol, pr ?? assert.fail(reason)))
  await Customer.hasBalance(shop, balance + 7000)
  return handle
}

/**
 * Operator routes are unavailable from outside, however the path is written, and available on the machine
 * itself.
 */
const closed = async ({ deployment, to }: Scene): Promise<void> => {
  const key = deployment.token()
  const routes = [
    "/operator/metrics",
    "/operator",
    "/operator/reconciliation",
    "/sandbox/pay",
    "/readyz",
    "/readyz/running",
    "/metrics"
  ]
  const disguised = ["/", "/.", "/v1/.."].map((before) => `${before}/operator/metrics`)
  const written = [
    "/%6fperator/metrics",
    "/operator%2fmetrics",
    "/OPERATOR/metrics",
    `/tls/ask?domain=${host}`
  ]
  for (const route of [...routes, ...disguised, ...written]) {
    const { status, text } = await Public.ask(to, "GET", route, { key })
    assert.include([400, 404], status, `${route}: ${text}`)
  }
  assert.strictEqual((await send(`${deployment.inside}/operator/metrics`, "GET", { key })).status, 200)
  assert.strictEqual((await Public.ask(to, "GET", "/healthz")).status, 200)
}

/** Payers are identified by their IP address, regardless of the X-Forwarded-For that they send. */
const callers = async ({ to }: Scene, handle: string): Promise<void> => {
  const reasons: Array<string | undefined> = []
  for (const at of Array.from({ length: processes.length * Deployment.perCaller + 8 }).keys()) {
    const headers = { "x-forwarded-for": `203.0.113.${at}` }
    reasons.push((await Public.invoiceAt(to, handle, 1_000_000n, { from: "127.0.0.2", headers })).reason)
  }
  assert.include(reasons, "Too many requests for invoices. Try again in a moment")
  const { pr, reason } = await Public.invoiceAt(to, handle, 1_000_000n, { from: "127.0.0.3" })
  assert.isDefined(pr, reason)
}

/** One process is killed during payments. The others complete each payment once. */
const killed = async (scene: Scene): Promise<void> => {
  const { deployment, network, shop } = scene
  const before = [await Customer.balance(shop), await outside(Peer.restingBalance(network.carol))] as const
  const amounts = [1001, 1002, 1003, 1004, 1005, 1006]
  const ids = await Promise.all(amounts.map((sats) => confirmed(scene, sats)))
  await deployment.stop("1", "SIGKILL")
  deployment.overslept()
  await Promise.all(ids.map((id) => Customer.ends(scene.shop, id, "settled")))
  const received = (await outside(Peer.restingBalance(network.carol))) - before[1]
  assert.strictEqual(
    received,
    BigInt(amounts.reduce((sum, sats) => sum + sats, 0)) * 1000n,
    "each payment was made once"
  )
  assert.isAtMost(await Customer.balance(shop), before[0] - amounts.reduce((sum, sats) => sum + sats, 0))
  deployment.start("1") // Restart=always
  await deployment.ready("1")
}

/** The previous version runs beside this one and is replaced process by process. No caller notices. */
const upgraded = async (scene: Scene): Promise<void> => {
  const { deployment, shop } = scene
  const over = new AbortController()
  const reading = (async () => {
    let count = 0
    for (; !over.signal.aborted; count++) await Customer.balance(shop)
    return count
  })()
  const ids: Array<string> = []
  for (const name of processes.slice(1)) {
    ids.push(await confirmed(scene, 2000 + Number(name)))
    await deployment.stop(name, "SIGTERM")
    deployment.start(name)
    await deployment.ready(name)
  }
  over.abort()
  assert.isAbove(await reading, 10)
  for (const id of ids) await Customer.ends(scene.shop, id, "settled")
}

/** While lnd is down, no process is ready, but the proxy keeps forwarding requests, and the processes respond. */
const away = async (scene: Scene): Promise<void> => {
  const { deployment, network, shop } = scene
  const destination = await invoiceOf(scene, 3000)
  await outside(network.alice.stop("SIGTERM"))
  await eventually(
    "no process is ready",
    () => Promise.all(processes.map(deployment.readiness)),
    (statuses) => statuses.every((status) => status === 503)
  )
  await pass(3000) // long enough for the proxy to check readiness, after which it could reject requests
  assert.isAbove(await Customer.balance(shop), 0)
  const { id } = await Customer.data(201, Customer.confirm(shop, destination, 3000))
  await outside(network.alice.start)
  deployment.overslept() // a call that lnd aborted might have been in flight
  await Customer.ends(scene.shop, id, "settled")
}

/** Steps 9 and 10: check the books, make a dump, and continue on a new machine from the dump alone. */
const restored = async (scene: Scene): Promise<void> => {
  const { deployment, network, shop } = scene
  await Customer.until(shop, "/v1/transactions?status=pending", ({ length }) => length === 0)
  await deployment.followAll(9)
  const before = [await Customer.balance(shop), JSON.stringify(await Customer.transactions(shop))]
  await deployment.restore()
  assert.deepStrictEqual(
    [await Customer.balance(shop), JSON.stringify(await Customer.transactions(shop))],
    before
  )
  const balance = await Customer.balance(shop)
  await outside(Peer.pay(network.carol, (await Customer.invoice(shop, 1234)).payment_request))
  await Customer.hasBalance(shop, balance + 1234)
  await Customer.ends(scene.shop, await confirmed(scene, 1111), "settled")
  await deployment.sh("cli reader verify")
}

const title =
  "deployed: a service set up by the guide receives and sends on each rail through its proxy, and serves a checkout page; the service survives a killed process, an upgrade, an lnd outage and a restore from a dump"

describe.skipIf(missing !== undefined)("a deployment", () => {
  Real.suite("on lnd and a chain", ["btcd", "lnd"], () => {
    it.layer(Real.network, { excludeTestServices: true })((it) => {
      it.effect(
        title,
        () =>
          Effect.gen(function* () {
            if (caddy === undefined || "missing" in installation) return assert.fail(missing)
            const network = yield* Network
            const ends: Array<() => unknown> = []
            yield* Effect.addFinalizer(() =>
              Effect.promise(async () => {
                for (const end of ends.toReversed()) await end()
              })
            )
            const deployment = yield* Effect.promise(() =>
              Deployment.make(network, installation, caddy, ends)
            )
            yield* Effect.promise(async () => {
              await deployment.install()
              const scene = await firstMoney(deployment, await deployment.publish(), network)
              await paidOnItsPage(scene)
              const handle = await lightningAddress(scene)
              await closed(scene)
              await callers(scene, handle)
              await killed(scene)
              await upgraded(scene)
              await away(scene)
              await restored(scene)
            }).pipe(Effect.onError(() => Effect.sync(() => console.error(deployment.said()))))
          }),
        programsMillis
      )
    })
  })
})
