import { withJson } from "@satrail/client/Plain"
import type { Read, Written } from "@satrail/client/Schemas"
import type { AmountInvalid } from "@satrail/core/base/Amount"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Meaning from "@satrail/core/ledger/Meaning"
import { NotFound } from "@satrail/core/ledger/Journal"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Outcome, Request } from "@satrail/core/ledger/Answer"
import type * as Pages from "@satrail/core/ledger/Page"
import type { Sealer } from "@satrail/http/wire/Seal"
import * as Page from "@satrail/http/wire/Page"
import { Context, Effect, Result } from "effect"
import { createHash } from "node:crypto"
import { deserialize, serialize } from "node:v8"
import * as Ask from "./Ask.ts"
import type { Documented } from "./Documented.ts"
import * as Features from "./features/index.ts"
import * as Fields from "./Fields.ts"
import { checking, hasFields } from "./KnownOptions.ts"
import * as Lists from "./Lists.ts"
import type { DefaultsOf, Method } from "./Method.ts"
import * as Money from "./Money.ts"
import * as Nouns from "./Nouns.ts"
import * as Reply from "./Reply.ts"
import type * as Schemas from "./Schemas.ts"
import * as Settled from "./Settled.ts"
import * as Shared from "./Shared.ts"
import { idOf } from "./Sharing.ts"
import { cursorIds, defaults, hidden, inMsat, ofCompany, parameters, renamed } from "./Verbs.ts"
import * as Views from "./Views.ts"
import type { Seen } from "./Views.ts"

type Renamed<N> = N extends keyof typeof renamed ? (typeof renamed)[N][keyof (typeof renamed)[N]] : never
type Hidden<N> = N extends keyof typeof hidden ? (typeof hidden)[N][number] : never
type Part<T, N> = N extends keyof T ? T[N] : unknown
type Shown<N, M> = Part<Documented<M>, N> & Part<typeof Features.unwrapped, N>
type Others<N extends Nouns.Noun> = Pick<
  Nouns.Services[N],
  Exclude<keyof Nouns.Services[N], keyof Shown<N, never> | Renamed<N> | Hidden<N>>
>

// This maps without `as`, because a mapped type with `as` loses its members' comments.
type OfNoun<N extends Nouns.Noun, S, M, W> = {
  readonly [K in keyof S]: Method<S[K], DefaultsOf<N, K>, M, W, Seen<N, K, M>>
}

/** The core's services as async functions. */
export type Methods<M> = {
  readonly [N in Nouns.Noun]: OfNoun<N, Others<N>, Read<M, N>, Written<M, N>> & Shown<N, M>
}

/** The environment in which methods run. */
export interface Surroundings extends Settled.Surroundings {
  readonly check: Schemas.Check
  /** Responses to repeatable requests are stored and may contain a secret. */
  readonly sealer: Sealer
  /** Seals the links that the service's own pages show. */
  readonly links: Sealer
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype

const isOutcome = (value: unknown): value is Outcome<unknown> =>
  isRecord(value) && (value["_tag"] === "Made" || value["_tag"] === "Replayed")

/** Fields that refer to a record. Its other fields, such as a company's balance, are not part of a request. */
const references: ReadonlySet<string> = new Set(["company", "apiKey"])

/** Returns a digest of a request as it was sent, regardless of the order of its fields. Its result never changes, because it is stored. */
const fingerprint = (name: string, asked: ReadonlyArray<unknown>): string => {
  const text = JSON.stringify([name, asked], (key, value: unknown) => {
    if (key === "idempotencyKey") return undefined
    if (references.has(key)) return idOf(value)
    if (typeof value === "bigint") return `${value}n`
    return isRecord(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value
  })
  return createHash("sha256").update(text).digest("hex")
}

/** Returns what a request asks for, with ids instead of records. The order of a list of names does not count. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.every((one) => typeof one === "string") ? new Set(value) : value.map(comparable)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, references.has(name) ? idOf(one) : comparable(one)])
  )
}

/** Converts a core value to the form that the host program gets. */
type Show = (value: unknown) => Effect.Effect<unknown>

const showing = (noun: string, verb: string, { iterate }: Surroundings): Show => {
  const view = Views.of(noun, verb)
  const shown: Show = (value) => view(value, Reply.plain(value, iterate))
  return (value) => (Array.isArray(value) ? Effect.forEach(value, shown) : shown(value))
}

/** Converts a method's arguments, with a request made by `request`. */
type ReadArguments = (
  request: Ask.MakeRequest
) => Result.Result<ReadonlyArray<unknown>, AmountInvalid | Invalid>

const requested =
  (
    name: string,
    asked: ReadonlyArray<unknown>,
    read: ReadArguments,
    { sealer }: Surroundings,
    shown: Show
  ): Ask.MakeRequest =>
  (key) =>
    ({
      key,
      fingerprint: fingerprint(name, asked),
      ...Result.match(
        read(() => undefined),
        {
          onSuccess: (args) => ({ meaning: Meaning.digest(name, args.map(comparable)) }),
          onFailure: () => ({}) // the method refuses the request
        }
      ),
      render: (value) =>
        sealer.seal(serialize(Effect.runSync(shown(value))).toString("base64"), CompanyId.operator)
    }) satisfies Request<unknown>

const replayed = (answer: string, { sealer }: Surroundings): unknown => {
  const text = sealer.open(answer, CompanyId.operator)
  if (text === undefined)
    throw new Error(
      "The request already took effect, but its stored response can no longer be read, because the secret has changed."
    )
  return remade(deserialize(Buffer.from(text, "base64")))
}

/** Restores money from its stored form, which has no `toJSON`. */
const remade = (value: unknown): unknown => {
  if (Money.isMoney(value)) return withJson(value)
  if (Array.isArray(value)) return value.map(remade)
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, remade(one)]))
    : value
}

type Table<A> = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<A>>>>>
const taken: Table<Fields.Parameter> = parameters
const idsIn: Readonly<Record<string, (id: string) => boolean>> = cursorIds
const fallbacks: Table<object | undefined> = defaults

/** Returns the given fields. A field that has a default is left out if it is null. */
const present = (members: object, fallback: object) =>
  Object.fromEntries(
    Object.entries(members).filter(([name, value]) => {
      const isNull = value === null && ((name === "amount" && "asked" in fallback) || name in fallback)
      return value !== undefined && !isNull
    })
  )

const withDefaults = (
  asked: ReadonlyArray<unknown>,
  given: ReadonlyArray<object | undefined>
): ReadonlyArray<unknown> =>
  Array.from({ length: Math.max(asked.length, given.length) }, (_, at) => {
    const [one, fallback] = [asked[at], given[at]]
    return fallback !== undefined && (one === undefined || isRecord(one))
      ? { ...fallback, ...present(one ?? {}, fallback) }
      : one
  })

/** Returns whether a method's default options are those of a list. */
const isListed = (given: ReadonlyArray<object | undefined>): boolean => "limit" in (given.at(-1) ?? {})

const isPage = (value: unknown): value is Pages.Page<unknown> =>
  isRecord(value) && Array.isArray(value["rows"]) && "next" in value

const isIn = (names: object, name: string): boolean => Object.hasOwn(names, name)

type GetCompany = (id: CompanyId.CompanyId) => Effect.Effect<unknown, unknown>

const company = (given: unknown, get: GetCompany): Effect.Effect<unknown, unknown> => {
  const id = isRecord(given) ? given["id"] : given
  return typeof id === "string" ? get(CompanyId.make(id)) : Effect.succeed(given)
}

/** Returns the requested company's record. */
const withRecord = Effect.fnUntraced(function* ([first, ...others]: ReadonlyArray<unknown>, get: GetCompany) {
  if (!isRecord(first) || !("company" in first)) return [yield* company(first, get), ...others]
  return [{ ...first, company: yield* company(first["company"], get) }, ...others]
})

type Takes = ReadonlyArray<Fields.Parameter>

/** How a method looks up companies: their records, and whether one exists. */
interface Lookup {
  readonly get: GetCompany
  readonly exists: GetCompany
}

const method = (
  noun: string,
  verb: string,
  member: unknown,
  takes: Takes,
  { get, exists }: Lookup,
  surroundings: Surroundings
) => {
  const name = `${noun}.${verb}`
  const check = checking(name, takes)
  const fallback = fallbacks[noun]?.[verb] ?? []
  const isList = isListed(fallback)
  const shown = showing(noun, verb, surroundings)
  const call = Effect.fnUntraced(function* (given: ReadonlyArray<unknown>) {
    if (typeof member !== "function") return member
    yield* check(given)
    const [first, ...others] = given
    const owner = takes[0] === Fields.company ? first : Object(first).company
    const ownerId = idOf(owner)
    if (typeof ownerId === "string" && !Id.is(ownerId))
      return yield* new NotFound({ what: "company", id: ownerId })
    // Returns the company, unless the method takes a record.
    const named =
      !hasFields(takes[0]) && noun !== "outside" ? [idOf(first), ...others].slice(0, given.length) : given
    const asked = yield* surroundings.check(noun, withDefaults(named, fallback))
    const isMsat = noun === "outside" || isIn(inMsat, name)
    const read: ReadArguments = (request) =>
      Result.all(asked.map((one) => Ask.read(one, { isMsat, isList, isId: idsIn[name], request })))
    const [args, ask] = [
      yield* Effect.fromResult(read(requested(name, asked, read, surroundings, shown))),
      member
    ]
    if (typeof ownerId === "string") yield* exists(CompanyId.make(ownerId))
    const called: unknown = Reflect.apply(
      ask,
      undefined,
      isIn(ofCompany, name) ? yield* withRecord(args, get) : args
    )
    return called
  })
  const effect = Effect.fnUntraced(function* (given: ReadonlyArray<unknown>) {
    const called = yield* call(given)
    // oxlint-disable-next-line typescript/consistent-type-assertions -- methods that need services are hidden (Verbs.ts)
    const value = Effect.isEffect(called) ? yield* called as Effect.Effect<unknown, unknown> : called
    if (isPage(value)) {
      return { items: yield* shown(value.rows), next: value.next && Page.write(value.next) }
    }
    if (!isOutcome(value)) return yield* shown(value)
    return value._tag === "Made" ? yield* shown(value.value) : replayed(value.answer, surroundings)
  })
  if (isList)
    return Lists.make(fallback.length - 1, (given, signal) => surroundings.run(effect(given), signal))
  return (...given: ReadonlyArray<unknown>) => {
    const at = given.findLastIndex((one) => isRecord(one) && "signal" in one)
    if (at === -1) return surroundings.run(effect(given))
    const { signal, ...others } = Object(given[at])
    return surroundings.run(effect(given.with(at, others)), signal)
  }
}

const verbsOf = (noun: string, service: object): ReadonlyArray<readonly [verb: string, member: unknown]> => {
  const names: Readonly<Record<string, Readonly<Record<string, string>>>> = renamed
  const without: Readonly<Record<string, ReadonlyArray<string>>> = hidden
  const verbs = new Map(Object.entries(names[noun] ?? {}).map(([verb, of]) => [of, verb]))
  return Object.entries(service).flatMap(([of, member]) =>
    (without[noun] ?? []).includes(of) ? [] : [[verbs.get(of) ?? of, member]]
  )
}

const noCompany: GetCompany = (id) => Effect.die(`a simulated network has no company ${id}`)

/** Maximum number of companies that are known to exist. A company is never deleted. */
const maxKnown = 10_000

const lookup = (get: GetCompany): Lookup => {
  const known = new Set<string>()
  const found = (id: string) => {
    if (known.size >= maxKnown) known.clear()
    known.add(id)
  }
  return {
    get,
    exists: (id) => (known.has(id) ? Effect.void : Effect.tap(get(id), () => Effect.sync(() => found(id))))
  }
}

/**
 * Builds a method of the simulated network. The network's service takes every amount in msat, but host programs
 * pass satoshis.
 */
export const simulated = (verb: string, member: unknown, takes: Takes, surroundings: Surroundings) =>
  method("outside", verb, member, takes, { get: noCompany, exists: noCompany }, surroundings)

/** Builds every method of every core service in the context. */
export const make = <M>(surroundings: Surroundings): Methods<M> => {
  const shared: Readonly<Record<string, object>> = Shared.make(surroundings)
  const services = [...new Set([...Nouns.keys.keys(), ...Object.keys(shared)])].flatMap(
    (noun): ReadonlyArray<readonly [string, object]> => {
      const key = Nouns.keys.get(noun)
      const service = key && Context.getOrUndefined(surroundings.context, key)
      return service === undefined && shared[noun] === undefined
        ? []
        : [[noun, { ...service, ...shared[noun] }]]
    }
  )
  const companies = lookup((id) =>
    Effect.flatMap(Effect.fromOption(Context.getOption(surroundings.context, Companies)), (all) =>
      all.get(id)
    )
  )
  const others: Readonly<Record<string, object | undefined>> = {
    ...Features.unwrapped,
    withdrawals: { settled: Settled.make(surroundings) }
  }
  const nouns = services.map(([noun, service]) => {
    const methods = verbsOf(noun, service).map(([verb, member]) => [
      verb,
      method(noun, verb, member, taken[noun]?.[verb] ?? [], companies, surroundings)
    ])
    return [noun, Object.freeze({ ...Object.fromEntries(methods), ...others[noun] })]
  })
  // oxlint-disable-next-line typescript/consistent-type-assertions -- derived from the services like the type
  return Object.fromEntries(nouns) as Methods<M>
}
