import { type CallOptions, type CompanyRef, type List, list, type Page } from "./Calls.ts"
import { SatrailError } from "./Errors.ts"
import { eventOf, type EventOf, fail, type Metadata, isObject, mapped, plain, text, wire } from "./Plain.ts"
import type { Event, EventsVerbs, Nouns, OperatorNouns, WebhooksVerbs, Withdrawal } from "./Records.ts"
import { defaults, routes } from "./Routes.ts"
import type { StandardSchema, WithSchemas } from "./Schemas.ts"
import { validate } from "./validate.ts"
import { type Consumer, consuming, type OnOptions } from "./Consumers.ts"
import { type EventsQuery, follow } from "./Stream.ts"
import { make, type Options, type Transport, type World, world } from "./Transport.ts"
import { verify } from "./Webhooks.ts"

/** An event of one of the types `T`. */
type Told<E, T> =
  E extends EventOf<infer Types, infer Data>
    ? [Extract<Types, T>] extends [never]
      ? never
      : EventOf<Extract<Types, T>, Data>
    : never

/**
 * A client for a satrail service. `M` is the type of the metadata, as in `client<{ order: string }>({ … })`, or
 * an object with a schema for each resource.
 */
export interface Client<M = Metadata> extends Omit<Nouns<M>, "events" | "webhooks" | "withdrawals"> {
  readonly withdrawals: Nouns<M>["withdrawals"] & {
    /**
     * Waits until a withdrawal settles, and returns it. Throws `errors.NotSettled` if it fails. With one API
     * key, you can wait for five withdrawals at a time; further calls are queued.
     *
     * @example
     * const settled = await pay.withdrawals.settled(withdrawal.id, { signal: AbortSignal.timeout(60_000) })
     */
    readonly settled: {
      (id: string, options?: CallOptions): Promise<Withdrawal<M>>
      (company: CompanyRef, id: string, options?: CallOptions): Promise<Withdrawal<M>>
    }
  }
  /**
   * Yields every event, oldest first, and then new events as they happen. After a lost connection, the stream
   * reconnects and resumes after the last event read.
   *
   * @example
   * for await (const event of client.events({ after: lastId })) await handle(event)
   */
  readonly events: EventsVerbs<M> & ((query?: EventsQuery) => AsyncGenerator<Event<M>, void, undefined>)
  /**
   * Handles every event of a type at least once, even after a restart. The events of one record are handled in
   * order. If the handler throws, it is retried at growing intervals, while events of other records continue to
   * be handled. With `client`, this requires `cursors`, and each consumer may run in only one process at a time.
   *
   * @example
   * pay.on("deposit.settled", async (event) => ship(event.data.metadata.order), { name: "shipping" })
   */
  readonly on: <T extends Event["type"]>(
    type: T | ReadonlyArray<T>,
    handler: (event: Told<Event<M>, T>) => unknown,
    options?: OnOptions
  ) => Consumer
  readonly webhooks: WebhooksVerbs & { readonly verify: typeof verify }
  /** Stops a service in this process. A client of another process does nothing. */
  readonly close: () => Promise<void>
}

/** A client with the methods of operators. */
export type OperatorClient<M = Metadata> = Client<M> & OperatorNouns<M>

/** How requests are carried. `events` is used instead of `follow`. */
export interface Carrier extends Transport {
  readonly events?: typeof follow
}

type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** Matches routes that create a record, but not routes that add something to a record. */
export const isNew = /^CREATE [^{]+$/

type Fields = Readonly<Record<string, unknown>>

const methods: Readonly<Record<string, string>> = { CREATE: "POST", ONCE: "POST", LIST: "GET" }

/** Creates a unique key. Doesn't use `crypto.randomUUID`, which is missing on pages without TLS. */
const newKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join("-")

const queryOf = (fields: Fields): string => {
  const query = mapped(wire(fields), ([name, value]) => (value === null ? [] : [[name, String(value)]]))
  return `?${new URLSearchParams(query)}`.replace(/\?$/, "")
}

/** Returns the next page's cursor, from the `Link` header. */
const nextOf = (headers: Pick<Headers, "get">): string | undefined =>
  /[?&]cursor=([\w-]+)[^>]*>; *rel="next"/.exec(headers.get("link") ?? "")?.[1]

/** Returns a response's data. For a new on-chain address, the record is a field of the data. */
const dataOf = (answer: unknown): unknown => {
  const { data } = Object(answer)
  const { address } = Object(data)
  return isObject(address) ? address : data
}

/** Converts a record to the client's format. */
const recordOf = (data: unknown): unknown => eventOf(data) ?? plain(data)

/** Returns the id of a record or company, given either. */
export const idOf = (value: unknown): string | undefined => text(Object(value).id ?? value)

/** Splits a verb's arguments: the ids of its route, before them a company if there is one more, and then the request. */
const read = (pattern: string, given: ReadonlyArray<unknown>) => {
  const ids = given.flatMap((one) => idOf(one) ?? [])
  const { length } = ids
  const ask = Object(given[length])
  const { company, idempotencyKey, signal, ...fields } = ask
  const needed = pattern.split("{").length - 1
  if (length < needed || length > needed + 1 || ids.includes("")) fail(`bad ids: ${pattern}`)
  return {
    // The company is first, so it is taken before the ids.
    company: length > needed ? ids.shift() : idOf(company),
    path: pattern.replace(/{id}/g, () => encodeURIComponent(ids.shift() ?? "")),
    // Null for a missing header, which must not turn the protection off.
    idempotencyKey: "idempotencyKey" in ask ? text(idempotencyKey) || null : undefined,
    signal: signal instanceof AbortSignal ? signal : undefined,
    fields
  }
}

const known =
  "url key operatorToken retries timeoutMillis maxWaitMillis cursors onError fetch metadata".split(" ")

/** Throws if an option is unknown. */
const check = (options: object) => {
  const name = Object.keys(options).find((one) => !known.includes(one))
  if (name) fail(`unknown option \`${name}\`; use ${known.join(", ")}`)
}

/** Builds a client. Tests pass their own environment, and the package `satrail` its own transport. */
export const over = <M = Metadata, C = Client<M>>(
  options: Options & WithSchemas<M>,
  outside: World = world,
  transport: Carrier = make(options, outside),
  table: typeof routes = routes
): C => {
  check(options)
  const { key, operatorToken } = options
  const schemas: Readonly<Record<string, StandardSchema | undefined>> = options.metadata ?? {}

  /** The id of the key's company, which never changes. */
  let owner: string | undefined
  /** Returns the key of a call. A platform key is followed by a tab and the company. */
  const keyOf = async (company: string | undefined): Promise<string> => {
    if (typeof key === "function") return key(company)
    if (!key || !company) return key || fail("key is required")
    if (key.startsWith("sp_")) return `${key.trim()}\t${company}`
    owner ??= idOf(dataOf((await transport.send({ method: "GET", path: "/v1/account", key })).answer))
    return owner === company ? key : fail("key of another company")
  }
  const credential = (path: string, company: string | undefined) =>
    path.startsWith("/operator/") ? operatorToken || fail("operatorToken is required") : keyOf(company)

  const call = (
    noun: string,
    route: string,
    given: ReadonlyArray<unknown>
  ): List<unknown> | Promise<unknown> => {
    const [kind = "", pattern = ""] = route.split(" ")
    const { path, company, idempotencyKey, signal, fields: own } = read(pattern, given)
    const fields: Record<string, unknown> = { ...(isNew.test(route) && defaults[noun]), ...own }
    const method = methods[kind] ?? kind
    const send = async (query: string, body?: Fields) => {
      if (idempotencyKey === null) fail("idempotencyKey must be text")
      return transport.send({
        method,
        path: `${path}${query}`,
        key: await credential(path, company),
        isOnce: kind === "ONCE",
        body,
        signal,
        ...(kind === "CREATE" && { idempotencyKey: idempotencyKey ?? newKey(), isOwnKey: !idempotencyKey })
      })
    }
    if (kind === "LIST") {
      return list(async (cursor): Promise<Page<unknown>> => {
        const { answer, headers } = await send(queryOf(cursor === undefined ? fields : { ...fields, cursor }))
        const data = dataOf(answer)
        return { items: Array.isArray(data) ? data.map(recordOf) : [], next: nextOf(headers) }
      })
    }
    const hasBody = kind === "CREATE" || (method[0] === "P" && Object.keys(fields)[0]) // POST, PUT or PATCH
    const request = async () => {
      const schema = schemas[noun]
      if (schema && (kind === "CREATE" || fields["metadata"]))
        fields["metadata"] = await validate(schema, fields["metadata"])
      const { answer } = await (hasBody ? send("", wire(fields)) : send(queryOf(fields)))
      return recordOf(dataOf(answer))
    }
    return request()
  }

  const nouns = mapped(table, ([noun, verbs]) => [
    [
      noun,
      mapped(verbs, ([name, route]) => [
        [name, (...given: ReadonlyArray<unknown>) => call(noun, route, given)]
      ])
    ]
  ])
  const stream =
    (isOpenTold?: boolean) =>
    (query: EventsQuery = {}) =>
      (transport.events ?? follow)(transport, () => keyOf(idOf(query.company)), query, isOpenTold)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- Records.ts is generated from the same routes, which a test checks
  const pay = { ...nouns, events: Object.assign(stream(), nouns["events"]) } as unknown as Client
  const { events } = pay
  const webhooks: Writable<Client["webhooks"]> = pay.webhooks
  const withdrawals: Writable<Client["withdrawals"]> = pay.withdrawals
  withdrawals.settled = async (...given: ReadonlyArray<unknown>) => {
    const { path: subject, company, signal } = read("{id}", given)
    // Also check the withdrawal whenever a connection opens, because it may have become final before that.
    for await (const _ of stream(true)({ after: "now", subject, company, signal })) {
      // oxlint-disable-next-line typescript/consistent-type-assertions -- `get` takes the same arguments
      const details: Withdrawal = await withdrawals.get(...(given as [string]))
      const { status, failure } = details
      if (status === "settled") return details
      if (status === "failed")
        throw new SatrailError({
          status: 200,
          code: "not_settled",
          message: failure?.message ?? "",
          details: { ...details }
        })
    }
    throw signal?.reason
  }
  const on = consuming(options, outside, {
    events: stream(true),
    get: (id, company) => events.get(id, { company })
  })
  webhooks.verify = verify
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the caller determines the type of metadata
  return { ...pay, on, close: async () => {} } as unknown as C
}

/**
 * Creates a client for a running service. It acts for the company whose API key you pass.
 *
 * @example
 * const pay = client({ url: "https://pay.example.com", key: process.env.SATRAIL_API_KEY })
 * const invoice = await pay.invoices.create({ amount: 21_000, description: "Two coffees" })
 */
export const client = <M = Metadata>(options: Options & WithSchemas<M>): Client<M> => over<M>(options)
