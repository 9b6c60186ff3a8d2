import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as LdkSocket from "@satrail/nodes/LdkSocket"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import { Clock, Effect, Redacted, Result, Schema, type Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import path from "node:path"
import * as Caller from "./Caller.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Report from "./Report.ts"
import * as Service from "./Service.ts"

// Payments through the whole service on a real node, and the same ones made by asking that node directly, on a chain and a network of this machine's own.

/** How many payments are under way at once, and how many there are in one round. */
const atOnce = 50
const count = 400
const amount = Msat.fromSats(100)

/** What is measured, by its name in the tables; `--only nodes` is all of it. */
export const operations = ["lnd", "LDK"].flatMap((node) => [`nodes, pay over ${node}`, `nodes, be paid over ${node}`])

const failed = (error: { readonly message: string }) => new Program.BenchFailed({ message: error.message })

/** A node, asked directly. */
interface Direct {
  /** Pays an invoice, to its end. */
  readonly pay: (invoice: string) => Effect.Effect<unknown, Program.BenchFailed>
  /** A fresh invoice of this node's. */
  readonly invoice: Effect.Effect<string, Program.BenchFailed>
}

const lnd = Effect.map(Network, ({ alice }): Direct => ({
  pay: (invoice) => Effect.mapError(Peer.pay(alice, invoice), failed),
  invoice: Effect.mapError(Peer.invoice(alice, { amount, behaviour: "settle" }), failed)
}))

const State = Schema.Struct({ state: Schema.String })
const Made = Schema.Struct({ request: Schema.String })

const ldk = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const exchange = <A>(method: string, params: object, result: Schema.Codec<A, unknown>, run = "") =>
    Effect.mapError(
      LdkSocket.exchange(dora.socket, { method, params, run }, result, 20_000),
      (error) => new Program.BenchFailed({ message: `${method}: ${"words" in error ? error.words : String(error.cause)}` })
    )
  const { run } = yield* exchange("hello", {}, LdkSocket.Here)
  const ends = (paid: typeof State.Type, hash: string): Effect.Effect<unknown, Program.BenchFailed> => {
    if (paid.state === "settled") return Effect.void
    if (paid.state !== "pending") return Effect.fail(new Program.BenchFailed({ message: `a payment is ${paid.state}` }))
    const later = Effect.andThen(Effect.sleep("50 millis"), exchange("lookupPayment", { hash }, State, run))
    return Effect.flatMap(later, (paid) => ends(paid, hash))
  }
  return {
    pay: (invoice) =>
      Effect.gen(function* () {
        const notAfter = (yield* Clock.currentTimeMillis) + 60_000
        const params = { request: invoice, amount: String(amount), feeLimit: String(Msat.fromSats(10)), notAfter }
        return yield* ends(yield* exchange("pay", params, State, run), Result.getOrThrow(Bolt11.decode(invoice)).paymentHash)
      }),
    invoice: Effect.suspend(() => {
      const preimage = randomBytes(32)
      const hash = createHash("sha256").update(preimage).digest("hex")
      const params = {
        hash,
        preimage: preimage.toString("hex"),
        hold: false,
        amount: String(amount),
        description: "bench",
        expirySeconds: 3600
      }
      return Effect.map(exchange("createInvoice", params, Made, run), ({ request }) => request)
    })
  } satisfies Direct
})

/** What the service is set with, to be on alice or on dora. */
const onLnd = Effect.gen(function* () {
  const { alice } = yield* Network
  const bake = (calls: ReadonlyArray<{ readonly uri: string }>) =>
    Effect.map(Effect.mapError(alice.bake(calls.map(({ uri }) => uri)), failed), Redacted.value)
  return {
    LIGHTNING: "lnd",
    LND_REST_URL: alice.url,
    LND_TLS_CERT: alice.certificateFile,
    LND_RECEIVER_MACAROON: yield* bake(Lnd.receiverCalls),
    LND_SENDER_MACAROON: yield* bake(Lnd.senderCalls),
    LND_BOOKS_MACAROON: yield* bake(LndBooks.calls),
    LND_INVOICE_SECRET: "of-a-network-that-is-gone-in-a-while"
  }
})

const onLdk = Effect.map(LdkNetwork.LdkNetwork, ({ dora }) => ({
  LIGHTNING: "ldk",
  LDK_SOCKET: dora.socket,
  LDK_INVOICE_SECRET: "of-a-network-that-is-gone-in-a-while"
}))

const Invoice = Schema.Struct({ payment_request: Schema.String })
const Balance = Schema.Struct({ balance: Schema.Int, held_sats: Schema.Finite })

/** Asks a service as a company of its own does. */
const caller = ({ port, apiKey }: Service.Service) => {
  const ask = Caller.make(port, { authorization: `Bearer ${apiKey}` })
  return <A>(method: string, route: string, data: Schema.Codec<A, unknown>, body?: object) =>
    Effect.map(ask(method, route, Schema.Struct({ data }), body), (answered) => answered.data)
}

type Ask = ReturnType<typeof caller>

const balanceOf = (ask: Ask) => ask("GET", "/v1/transactions/balance", Balance)

const invoiced = (ask: Ask, sats: number) =>
  ask("POST", "/v1/bitcoin/deposit/lightning-invoice", Invoice, { amount: sats, currency: "sats" })

const each = <A, E, R>(one: (at: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: count }, (_, at) => at),
    one,
    { concurrency: atOnce }
  )

/** One payment's own time is not measured: they overlap. */
interface Rate {
  readonly perSecond: number
}

const timed = Effect.fnUntraced(function* <E, R>(all: Effect.Effect<unknown, E, R>) {
  const before = performance.now()
  yield* all
  return { perSecond: (count * 1000) / (performance.now() - before) } satisfies Rate
})

/** One node: rounds of each, in turn, the first not counted. */
const measured = Effect.fnUntraced(function* (
  name: string,
  direct: Direct,
  service: Service.Service,
  asked: { readonly rounds: number; readonly wanted: (operation: string) => boolean; readonly tell: (line: string) => void }
) {
  const { carol } = yield* Network
  const ask = caller(service)
  const pays = (invoice: string) => Effect.mapError(Peer.pay(carol, invoice), failed)
  const { payment_request } = yield* invoiced(ask, 1_000_000)
  yield* pays(payment_request)
  yield* Caller.until(
    1_000_000,
    Effect.map(balanceOf(ask), ({ balance }) => 1_000_000 - balance)
  )

  const fresh = each(() => Effect.mapError(Peer.invoice(carol, { amount, behaviour: "settle" }), failed))
  const held = Effect.map(balanceOf(ask), ({ held_sats }) => held_sats)
  const sats = Number(Msat.toSats(amount))
  const ways = [
    {
      operation: `nodes, pay over ${name}`,
      direct: Effect.flatMap(fresh, (invoices) => timed(Effect.forEach(invoices, direct.pay, { concurrency: atOnce }))),
      ours: Effect.flatMap(fresh, (invoices) => {
        const confirm = (destination: string) => ask("POST", "/v1/bitcoin/withdraw/confirm", Schema.Unknown, { destination })
        return timed(Effect.andThen(Effect.forEach(invoices, confirm, { concurrency: atOnce }), Caller.until(count * sats, held)))
      })
    },
    {
      operation: `nodes, be paid over ${name}`,
      direct: timed(each(() => Effect.flatMap(direct.invoice, pays))),
      ours: Effect.flatMap(balanceOf(ask), ({ balance: before }) => {
        const one = Effect.flatMap(invoiced(ask, sats), ({ payment_request }) => pays(payment_request))
        const missing = Effect.map(balanceOf(ask), ({ balance }) => before + count * sats - balance)
        return timed(
          Effect.andThen(
            each(() => one),
            Caller.until(count * sats, missing)
          )
        )
      })
    }
  ]
  const rows: Array<Report.Row> = []
  for (const { operation, direct, ours } of ways.filter(({ operation }) => asked.wanted(operation))) {
    const found: Record<"ours" | "direct", Array<Rate>> = { ours: [], direct: [] }
    for (let round = 0; round <= asked.rounds; round++) {
      found.direct.push(yield* direct)
      found.ours.push(yield* ours)
      const [last, other] = [found.ours.at(-1), found.direct.at(-1)]
      asked.tell(`${operation}: ${last?.perSecond.toFixed(1)} a second, directly ${other?.perSecond.toFixed(1)}`)
    }
    const what = { operation, pattern: "one company", clients: atOnce, limit: `${name}, asked directly` }
    rows.push(Report.row(what, found.ours.slice(1), found.direct.slice(1)))
  }
  return rows
})

/** Everything about real nodes. Needs what builds and runs them, and says what is missing. */
export const measure = (
  postgres: Postgres,
  directory: string,
  profileDirectory: string | undefined,
  asked: Parameters<typeof measured>[3]
): Effect.Effect<ReadonlyArray<Report.Row>, Program.BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const rows: Array<Report.Row> = []
    for (const [name, direct, settings] of [
      ["lnd", lnd, onLnd],
      ["LDK", ldk, onLdk]
    ] as const) {
      if (!operations.some((operation) => operation.endsWith(name) && asked.wanted(operation))) continue
      const one = Effect.gen(function* () {
        const env = { ...(yield* settings), RATES: "fixed", SATRAIL_DEMO: "yes", SATRAIL_PAYMENTS_AT_ONCE: String(atOnce) }
        const service = yield* Service.start({
          directory: path.join(directory, name),
          databaseUrl: yield* postgres.database,
          profileDirectory,
          env
        })
        return yield* measured(name, yield* direct, service, asked)
      })
      rows.push(...(yield* Effect.scoped(one)))
    }
    return rows
  }).pipe(
    Effect.provide(LdkNetwork.layer),
    Effect.catchIf(
      (error): error is Process.RegtestFailed => error instanceof Process.RegtestFailed,
      (error) => Effect.fail(failed(error))
    )
  )
