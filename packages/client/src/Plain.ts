// The client's names and types for the service's data. The script that generates Records.ts uses the same
// rules, so types and values match.
import { asked, type Currency, due, isAmount } from "./Amounts.ts"

/** An amount of bitcoin in a response. */
export interface Money {
  /** Millisatoshis, exact. */
  readonly msat: bigint
  /**
   * Whole satoshis. Rounded up for an amount that is required or due, such as `needed`, `fee` or `minAmount`;
   * rounded down for any other amount.
   */
  readonly sats: bigint
}

/** An amount of bitcoin in a request: satoshis, or a `Money` from a response. */
export type Sats = number | bigint | Money

/**
 * An amount in a request: satoshis, a string such as `"1.50 eur"`, an amount with its currency, or a `Money`
 * from a response.
 */
export type Amount =
  | Sats
  | `${number} ${Currency}`
  | { readonly amount: number | bigint | string; readonly currency: Currency }

/** Text that you attach to a record. */
export interface Metadata {
  readonly [key: string]: string
}

type Fields = Readonly<Record<string, unknown>>

export const fail = (message: string): never => {
  throw new TypeError(message)
}

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Converts `order_id` to `orderId`. */
export const camel = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
export const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Names = Readonly<Record<string, string>>

/** Fields of responses and requests whose names in the package `satrail` differ from those in the HTTP API. */
const ofRequests: Names = { min_sats: "minAmount", max_sats: "maxAmount", rail_type: "rail" }
const ofResponses: Names = {
  ...ofRequests,
  r_hash: "paymentHash",
  r_preimage: "preimage",
  network_type: "network",
  balance: "available"
}

/** Changes the names and values in an object. `change` receives each entry and returns the entries that replace it. */
export const mapped = <A, B>(
  fields: Readonly<Record<string, A>>,
  change: (entry: readonly [name: string, value: A]) => ReadonlyArray<readonly [name: string, value: B]>
): Record<string, B> => Object.fromEntries(Object.entries(fields).flatMap(change))

const wireNames = mapped(ofRequests, ([wire, name]) => [[name, wire]])

/** The name of an amount without its unit. */
export const short = (name: string): string => name.replace(/_sats$/, "")

/** Returns the client's name for a field of a request. */
export const askedName = (name: string): string => ofRequests[name] ?? camel(short(name))

/** Returns the service's name for a field of a request. */
export const wireName = (name: string, amounts: ReadonlyArray<string> = asked): string => {
  const own = snake(name)
  return wireNames[name] ?? (amounts.includes(own) ? `${own}_sats` : own)
}

/** Returns whether a field with this name contains a time. */
export const isTime = (name: string): boolean =>
  /(^|_)(at|until|from|to|since)$|^(send|receiv)ing$/.test(name)

/**
 * Returns the client's name for a field of a record. `amount_sats` becomes `amount`, unless the record has an
 * `amount` too.
 */
export const nameOf = (name: string, all: Fields): string => {
  const own = short(name)
  return ofResponses[name] ?? camel(own in all ? name : own)
}

/**
 * Converts `deposit.lightning.completed` and `deposit.on_chain.completed` to `deposit.settled`. The record
 * itself contains the rail.
 */
export const eventType = (type: string): string =>
  type.replace(/\.(?:lightning|on_chain)\.(completed$)?/, (_, completed?: string) =>
    completed ? ".settled" : "."
  )

/** Returns the HTTP API's event types that correspond to one of the client's event types. */
export const wireTypes = (type: string): ReadonlyArray<string> => {
  const [, kind, state] = /^(deposit|withdrawal)\.(\w+)$/.exec(type) ?? []
  if (!state) return [type]
  // Only on-chain payments are reversed or replaced.
  const rails =
    /^re(versed|placed)$/.test(state) || (kind === "deposit" && state !== "settled")
      ? ["on_chain"]
      : ["lightning", "on_chain"]
  return rails.map((rail) => `${kind}.${rail}.${state === "settled" ? "completed" : state}`)
}

/**
 * Adds the method `toJSON` to an amount, because JSON has no bigint. It is not enumerable, so that the amount
 * otherwise looks like a plain object.
 */
export const withJson = ({ msat, sats }: Money): Money =>
  Object.defineProperty({ msat, sats }, "toJSON", {
    value: () => ({ msat: String(msat), sats: Number(sats) })
  })

/** Converts satoshis from JSON, which have at most three decimals. */
const money = (name: string, sats: number): Money =>
  withJson({
    msat: BigInt(sats.toFixed(3).replace(".", "")),
    sats: BigInt(due.includes(short(name)) ? Math.ceil(sats) : Math.trunc(sats))
  })

const isIso = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

const plainOf = (name: string, value: unknown): unknown => {
  if (name === "metadata") return value
  if (typeof value === "number" && isAmount.test(name)) return money(name, value)
  if (typeof value === "string" && isTime(name) && isIso.test(value)) return new Date(value)
  return plain(value)
}

/** Converts a value in a response. */
export const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return mapped(value, ([name, one]) => [[nameOf(name, value), plainOf(name, one)]])
}

const notAmount = (given: string): never => fail(`amount must be satoshis or "1.50 eur" (got ${given})`)

/** Converts an amount to a number whose JSON form has the same digits. */
const numeric = (given: unknown): number => {
  const value = Number(given)
  // A JavaScript number represents at most fifteen decimal digits exactly.
  const isExact =
    typeof given === "number" ? Number.isFinite(value) : /^(?=(\.?\d){1,15}$)\d+(\.\d+)?$/.test(String(given))
  return isExact ? value : notAmount(String(given))
}

const satsOf = (given: unknown): number =>
  isObject(given) && typeof given["msat"] === "bigint" ? Number(given["msat"]) / 1000 : numeric(given)

/** Converts `amount` to the service's format. */
const priced = (amount: unknown): Fields => {
  if (amount === null || amount === "max") return { amount }
  if (typeof amount === "string") {
    const [digits, currency, more] = amount.trim().split(/\s+/)
    return currency && !more ? { amount: numeric(digits), currency } : notAmount(`"${amount}"`)
  }
  if (isObject(amount) && "currency" in amount) return { ...amount, amount: numeric(amount["amount"]) }
  return { amount: satsOf(amount), currency: "sats" }
}

const wireOf = (name: string, value: unknown): unknown => {
  if (name === "metadata") return value
  if (name === "types" && Array.isArray(value)) return value.flatMap((type) => wireTypes(String(type)))
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((one) => wireOf("", one))
  if (typeof value === "bigint" || "msat" in Object(value)) return satsOf(value)
  return isObject(value) ? wire(value) : value
}

/** Refuses an undefined restriction, because a missing setting must not lift it. */
const omitted = (name: string) =>
  asked.includes(snake(name)) || /^(allow|dayC|expiresAt|limits|rec)/.test(name)
    ? fail(`${name} is undefined`)
    : []

/** Converts the names of a request's fields to the service's names. */
export const wire = ({ amount, ...others }: Fields): Fields => ({
  ...(amount !== undefined && priced(amount)),
  ...mapped(others, ([name, value]) =>
    value === undefined ? omitted(name) : [[wireName(name), wireOf(name, value)]]
  )
})

/** A change of a record. */
export interface EventOf<T, D> {
  /** Identifies the event and is the same for every delivery. Pass it as `after` to resume after the event. */
  readonly id: string
  readonly type: T
  readonly at: Date
  /** The id of the company. */
  readonly company: string
  /** The id of the record, or the name of the domain. */
  readonly subject: string
  /** The state of the record at the time of the event. */
  readonly data: D
}

/**
 * Converts an event in a response. Returns undefined if the value is not an event. Also converts events of
 * unknown types, which a newer version of the service may send.
 */
export const eventOf = (value: unknown): unknown => {
  const { id, type, timestamp: at, company_id: company, data } = Object(value)
  if (!text(id) || !text(type) || !text(at) || !isObject(data)) return undefined
  return {
    id,
    type: eventType(type),
    at: new Date(at),
    company,
    subject: data["id"] ?? data["domain"] ?? "",
    data: plain(data)
  }
}

/** Returns what a parser returns, or undefined if it throws. */
export const attempt = <A>(parse: () => A): A | undefined => {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** Parses JSON. Returns undefined if the text is invalid. */
export const parsed = (text: string): unknown => attempt(() => JSON.parse(text))
