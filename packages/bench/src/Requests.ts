import { Effect, Schema } from "effect"
import { BenchFailed } from "./Program.ts"
import type { Service } from "./Service.ts"

/** What is asked of a service, as whole HTTP requests. */
export interface Requests {
  readonly balance: string
  readonly invoice: string
  readonly list: string
  readonly createInvoice: string
  readonly confirm: string
}

const routes = {
  balance: "/v1/transactions/balance",
  list: "/v1/transactions?limit=50",
  invoice: "/v1/bitcoin/deposit/lightning-invoice",
  lightningAddress: "/v1/bitcoin/deposit/lightning-address",
  confirm: "/v1/bitcoin/withdraw/confirm",
  pay: "/sandbox/pay"
}
const paidInvoices = 60
const satsEach = 1_000_000
const settleMillis = 30_000

const invoiceAsk = { amount: 1000, currency: "sats", description: "one of many" }

const text = (method: string, route: string, apiKey: string, body?: unknown): string => {
  const json = body === undefined ? "" : JSON.stringify(body)
  const entity = body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(json)}`]
  return [`${method} ${route} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${apiKey}`, ...entity, "", json].join("\r\n")
}

/** The same as a service is asked, for a server that answers anything. */
export const plain = { get: text("GET", routes.balance, "none"), post: text("POST", routes.invoice, "none", invoiceAsk) }

const Envelope = <S extends Schema.Top>(data: S) => Schema.Struct({ data })
const Invoice = Envelope(Schema.Struct({ id: Schema.String, payment_request: Schema.String }))
const Address = Envelope(Schema.Struct({ address: Schema.String }))
const Balance = Envelope(Schema.Struct({ balance: Schema.Int }))

const call = <A>(
  service: Service,
  schema: Schema.Decoder<A>,
  method: string,
  route: string,
  body?: unknown
): Effect.Effect<A, BenchFailed> =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(`http://127.0.0.1:${service.port}${route}`, {
        method,
        headers: { authorization: `Bearer ${service.apiKey}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const answer = await response.text()
      if (!response.ok) throw new Error(answer)
      return Schema.decodeUnknownSync(schema)(JSON.parse(answer))
    },
    catch: (cause) => new BenchFailed({ message: `${method} ${route}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** Gives the service's company money that came in by `paidInvoices` invoices, and says what to ask from then on. */
export const prepare = (service: Service): Effect.Effect<Requests, BenchFailed> =>
  Effect.gen(function* () {
    const ask = { ...invoiceAsk, amount: satsEach }
    for (let i = 0; i < paidInvoices; i++) {
      const { data } = yield* call(service, Invoice, "POST", routes.invoice, ask)
      yield* call(service, Schema.Unknown, "POST", routes.pay, { payment_request: data.payment_request })
    }
    const credited = Effect.map(call(service, Balance, "GET", routes.balance), ({ data }) => data.balance >= paidInvoices * satsEach)
    yield* untilTrue(credited).pipe(
      Effect.timeoutOrElse({
        duration: settleMillis,
        orElse: () => Effect.fail(new BenchFailed({ message: `paid invoices were not credited within ${settleMillis / 1000} s` }))
      })
    )
    const invoice = yield* call(service, Invoice, "POST", routes.invoice, invoiceAsk)
    const address = yield* call(service, Address, "POST", routes.lightningAddress)
    const { apiKey } = service
    return {
      balance: text("GET", routes.balance, apiKey),
      invoice: text("GET", `${routes.invoice}/${invoice.data.id}`, apiKey),
      list: text("GET", routes.list, apiKey),
      createInvoice: text("POST", routes.invoice, apiKey, invoiceAsk),
      confirm: text("POST", routes.confirm, apiKey, { amount: 1, currency: "sats", destination: address.data.address })
    }
  })

const pending = { route: "/v1/transactions?type=withdrawal&status=pending&limit=1", schema: Envelope(Schema.Array(Schema.Unknown)) }

/** Waits until every confirmed withdrawal has found its end, so that what comes next is measured alone. Says whether that came in time. */
export const drained = (service: Service, maxMillis: number): Effect.Effect<boolean, BenchFailed> =>
  untilTrue(Effect.map(call(service, pending.schema, "GET", pending.route), ({ data }) => data.length === 0)).pipe(
    Effect.as(true),
    Effect.timeoutOrElse({ duration: maxMillis, orElse: () => Effect.succeed(false) })
  )

const untilTrue = <E>(check: Effect.Effect<boolean, E>): Effect.Effect<void, E> =>
  Effect.flatMap(check, (is) => (is ? Effect.void : Effect.andThen(Effect.sleep("50 millis"), untilTrue(check))))
