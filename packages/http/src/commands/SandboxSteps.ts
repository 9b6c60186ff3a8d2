import { Effect, Schema } from "effect"
import { Client, read } from "./Client.ts"

// Steps that cause events in the sandbox.

const ask = (...given: Parameters<Client["Service"]["ask"]>) =>
  Effect.flatMap(Client, ({ ask }) => ask(...given))

const Row = Schema.Struct({
  id: Schema.String,
  payment_request: Schema.optionalKey(Schema.String),
  deposit_id: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const Destination = Schema.Struct({ destination: Schema.String })
const Address = Schema.Struct({ address: Schema.Struct({ id: Schema.String, address: Schema.String }) })
const Balance = Schema.Struct({ balance: Schema.Finite })

/** An event that `satrail trigger` can cause. */
export interface Trigger {
  readonly type: string
  /** Causes the event with this amount in sats. Returns the record's id or address, which the event contains. */
  readonly cause: (amount: number) => Effect.Effect<string, Effect.Error<ReturnType<typeof ask>>, Client>
}

const post = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  route: string,
  body: Readonly<Record<string, unknown>> = {}
) => Effect.flatMap(ask("POST", route, body), ({ data }) => read(schema, data))

const get = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, route: string) =>
  Effect.flatMap(ask("GET", route), ({ data }) => read(schema, data))

export const invoices = "/v1/bitcoin/deposit/lightning-invoice"

export const sats = (amount: number) => ({ amount, currency: "sats" })

/** Creates a record at a route that returns it. */
export const made = (route: string, body: Readonly<Record<string, unknown>>) => post(Row, route, body)

export const created = (route: string, body: Readonly<Record<string, unknown>>) =>
  Effect.map(made(route, body), ({ id }) => id)

export const address = Effect.map(
  post(Address, "/v1/bitcoin/deposit/on-chain"),
  ({ address }) => address.address
)

export const pay = (invoice: typeof Row.Type) =>
  ask("POST", "/sandbox/pay", { payment_request: invoice.payment_request })

export const paidInvoice = (amount: number, more: object = {}) =>
  Effect.tap(made(invoices, { ...sats(amount), description: "satrail trigger", ...more }), pay)

const until = <A, E, R>(ask: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(ask, (found) =>
    found === undefined ? Effect.andThen(Effect.sleep(100), until(ask)) : Effect.succeed(found)
  )

export const depositOf = (invoice: typeof Row.Type) =>
  until(Effect.map(get(Row, `${invoices}/${invoice.id}`), ({ deposit_id }) => deposit_id ?? undefined))

/** Tops up the balance so that it covers an amount and its fee. */
export const funded = Effect.fnUntraced(function* (amount: number) {
  const { balance } = yield* get(Balance, "/v1/transactions/balance")
  if (balance < amount * 2 + 1000) yield* Effect.flatMap(paidInvoice(amount * 2 + 1000), depositOf)
})

export const withdrawn = Effect.fnUntraced(function* (amount: number, destination: string) {
  yield* funded(amount)
  return yield* created("/v1/bitcoin/withdraw/confirm", { ...sats(amount), destination })
})

export const paidTo = (type: "lightning_invoice" | "chain_address", amount: number) =>
  Effect.flatMap(
    post(Destination, "/sandbox/destination", {
      type,
      ...(type === "lightning_invoice" && { amount_sats: amount })
    }),
    ({ destination }) => withdrawn(amount, destination)
  )

export const mine = ask("POST", "/sandbox/mine", { blocks: 1 })

export const paidAddress = Effect.fnUntraced(function* (amount: number) {
  const to = yield* address
  yield* ask("POST", "/sandbox/send", { address: to, amount_sats: amount })
  yield* mine
  return to
})

export const canceled = (route: string, body: Readonly<Record<string, unknown>>) =>
  Effect.tap(created(route, body), (id) => ask("POST", `${route}/${id}/cancel`))
