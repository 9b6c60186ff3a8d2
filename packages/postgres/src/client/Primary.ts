import { Effect, Redacted } from "effect"
import Pg from "pg"
import type { Demand, Host, Hosts } from "./Hosts.ts"
import { leave } from "./PgConnection.ts"
import { codeOf, messageOf } from "./PgError.ts"

// Which of several hosts is connected to. All are asked at once, each within a limit, and the one that takes writes is kept until it stops to. A promoted server
// begins a timeline: of two that take writes the one on the later timeline is the primary, and a process never goes back to an earlier one than it has seen.

/** What a host was when it was asked. */
export type Standing =
  | { readonly _tag: "Here"; readonly isStandby: boolean; readonly isReadOnly: boolean; readonly timeline: number }
  | { readonly _tag: "Away"; readonly cause: unknown }

const unasked: Standing = { _tag: "Away", cause: new Error("it was not asked") }

/** How long a host may take to answer what it is, how often all are asked, how long a connection may take. */
export const defaults = { connectMillis: 5000, watchMillis: 2000 } as const

const what = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`
const timeline = `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`

/** Whether an answer says that there is no such function (class 42), or that it is not offered (class 0A). */
const hasNone = (cause: unknown): boolean => cause instanceof Pg.DatabaseError && /^(42|0A)/.test(cause.code ?? "")

/** What a host is. It is asked on a connection of its own, since those that are open may lead nowhere. */
export const look = async (settings: Pg.ClientConfig, millis: number): Promise<Standing> => {
  const client = new Pg.Client({ ...settings, connectionTimeoutMillis: millis, query_timeout: millis })
  client.on("error", () => {}) // the answer to the query says it too
  try {
    await client.connect()
    const [row] = (await client.query<{ readonly standby: boolean; readonly readOnly: boolean }>(what)).rows
    if (row === undefined) throw new Error("it did not say what it is")
    const { standby: isStandby, readOnly: isReadOnly } = row
    if (isStandby) return { _tag: "Here", isStandby, isReadOnly, timeline: 0 }
    // A server that says that it has none counts as 0. One that does not say may be an old primary.
    const number = await client.query<{ readonly timeline: number }>(timeline).then(
      ({ rows }) => rows[0]?.timeline ?? 0,
      (cause: unknown) => {
        if (hasNone(cause)) return 0
        throw cause
      }
    )
    return { _tag: "Here", isStandby, isReadOnly, timeline: number }
  } catch (cause) {
    return { _tag: "Away", cause }
  } finally {
    leave(client, millis)
  }
}

/** Whether a connection there is what is wanted, where no later timeline than its own was seen. */
const fits = (standing: Standing, demand: Demand, seen: number): boolean => {
  if (standing._tag === "Away") return false
  if (demand === "any") return true
  if (standing.isStandby || (demand === "read-write" && standing.isReadOnly)) return false
  return standing.timeline === 0 || standing.timeline >= seen
}

/** The host to connect to, by its place; the last one before the others, in their order; undefined where none is fit. */
export const choose = (standings: ReadonlyArray<Standing>, demand: Demand, last: number | undefined, seen: number): number | undefined => {
  const order = [...standings.keys()].toSorted((a, b) => Number(b === last) - Number(a === last))
  const timelineOf = (at: number) => {
    const standing = standings[at]
    return standing?._tag === "Here" && demand !== "any" ? standing.timeline : 0
  }
  return order
    .filter((at) => fits(standings[at] ?? unasked, demand, seen))
    .reduce<number | undefined>((best, at) => (best === undefined || timelineOf(at) > timelineOf(best) ? at : best), undefined)
}

/** What a host is, for people. */
export const text = (standing: Standing, seen = 0): string => {
  if (standing._tag === "Away") return `does not answer (${messageOf(standing.cause)})`
  if (standing.isStandby) return "is a standby"
  if (standing.timeline > 0 && standing.timeline < seen)
    return `is an old primary (timeline ${standing.timeline}, and ${seen} was seen elsewhere)`
  return standing.isReadOnly ? "is a primary that takes no writes" : "is the primary"
}

/** What every host of a URL is now, in its order, and the latest timeline among them. */
export const lookAtAll = (hosts: Hosts, millis: number = defaults.connectMillis) =>
  Effect.map(
    Effect.promise(() => Promise.all(hosts.all.map(({ url }) => look({ connectionString: Redacted.value(url) }, millis)))),
    (standings) => ({
      hosts: hosts.all.map(({ at }, i) => ({ at, standing: standings[i] ?? unasked })),
      newest: Math.max(0, ...standings.map((one) => (one._tag === "Here" ? one.timeline : 0)))
    })
  )

/** No host is what is wanted. */
class NoHost extends Error {
  /** The word of one that did not let us in, or has no such database: waiting does not help. */
  readonly code: string | undefined
  constructor(hosts: Hosts, standings: ReadonlyArray<Standing>, seen: number) {
    const all = hosts.all.map(({ at }, i) => `${at} ${text(standings[i] ?? unasked, seen)}`)
    super(`none of the hosts takes writes: ${all.join("; ")}`)
    this.code = standings.flatMap((one) => (one._tag === "Away" ? (codeOf(one.cause) ?? []) : [])).find((code) => /^(28|3D)/.test(code))
  }
}

const notFit = (at: string) => Object.assign(new Error(`${at} takes no writes any more`), { code: "25006" })

export interface Options {
  readonly connectMillis?: number | undefined
  readonly watchMillis?: number | undefined
}

/** Where the connections of a pool lead. */
export interface Primary {
  /** A client of the host that is the primary when the pool makes it. */
  readonly Client: new () => Pg.Client
  /** Refuses a connection that leads to a host which is not what is wanted any more. */
  readonly onConnect: (client: Pg.ClientBase) => void
  /** How the server is reached that this client is connected to. */
  readonly settingsOf: (client: Pg.ClientBase) => Pg.ClientConfig
  /** Whether another host has become the primary since this client was made. */
  readonly isElsewhere: (client: Pg.ClientBase) => boolean
  /** Which host it is: asked where that is not known. Fails where there is none. */
  readonly settled: Effect.Effect<void, unknown>
  /** Where it leads is no longer known: whoever connects next asks first. */
  readonly lost: () => void
  /** Sees that another host is the primary also while no connection breaks: a machine that is gone says nothing. */
  readonly watch: Effect.Effect<never>
}

/** Connections to the host that takes writes. `settings` are those of any connection but for where it leads. */
export const make = Effect.fnUntraced(function* (hosts: Hosts, settings: Pg.ClientConfig, options: Options = {}) {
  const { connectMillis = defaults.connectMillis, watchMillis = defaults.watchMillis } = options
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const settingsAt = ({ url }: Host): Pg.ClientConfig => ({
    ...settings,
    connectionString: Redacted.value(url),
    connectionTimeoutMillis: connectMillis
  })
  const open = new Map<Pg.ClientBase, { readonly host: Host; readonly cut: () => void }>()
  let current: Host = hosts.all[0]
  let isKnown = false
  let wasKnown = false
  let seen = 0
  let looking: Promise<void> | undefined

  const isElsewhere = (client: Pg.ClientBase) => (open.get(client)?.host ?? current) !== current

  /** From here on connections lead there; what is under way elsewhere is cut off: it may be waiting for a machine that is gone. */
  const go = (host: Host) => {
    if (host !== current && wasKnown) fork(Effect.logWarning(`database: ${host.at} is the primary now, and not ${current.at}`))
    current = host
    isKnown = wasKnown = true
    for (const [client, { cut }] of open) if (isElsewhere(client)) cut()
  }

  const find = async () => {
    const standings: Array<Standing> = hosts.all.map(() => unasked)
    const asking = hosts.all.map(async (host, i) => {
      const standing = await look(settingsAt(host), connectMillis)
      standings[i] = standing
      // A promotion since the last look settles it: the machine that is gone need not be waited for.
      if (seen > 0 && standing._tag === "Here" && standing.timeline > seen) return
      return Promise.reject(new Error("all have to be heard"))
    })
    await Promise.any(asking).catch(() => {})
    const place = choose(standings, hosts.demand, hosts.all.indexOf(current), seen)
    const host = place === undefined ? undefined : hosts.all[place]
    if (host === undefined || place === undefined) throw new NoHost(hosts, standings, seen)
    const standing = standings[place]
    go(host)
    if (standing?._tag === "Here") seen = Math.max(seen, standing.timeline)
  }
  /** One look at a time, whoever asks. */
  const looked = () =>
    (looking ??= find().finally(() => {
      looking = undefined
    }))

  const demandsOf = new WeakMap<Pg.ClientBase, () => void>()

  class Client extends Pg.Client {
    constructor() {
      const host = current
      super(settingsAt(host))
      open.set(this, { host, cut: () => this.connection.stream.destroy() })
      this.on("end", () => void open.delete(this))
      // A server says this of itself to each connection, without being asked.
      const said = new Map<string, string>()
      this.connection.on("parameterStatus", (status: { readonly parameterName: string; readonly parameterValue: string }) => {
        said.set(status.parameterName, status.parameterValue)
      })
      demandsOf.set(this, () => {
        if (hosts.demand === "any") return
        const isReadOnly = hosts.demand === "read-write" && said.get("default_transaction_read_only") === "on"
        if (said.get("in_hot_standby") === "on" || isReadOnly) throw notFit(host.at)
      })
    }
  }
  const primary: Primary = {
    Client,
    onConnect: (client) => demandsOf.get(client)?.(),
    settingsOf: (client) => settingsAt(open.get(client)?.host ?? current),
    isElsewhere,
    settled: Effect.suspend(() => (isKnown ? Effect.void : Effect.tryPromise({ try: looked, catch: (cause) => cause }))),
    lost: () => {
      isKnown = false
    },
    watch: Effect.forever(Effect.andThen(Effect.sleep(watchMillis), Effect.ignore(Effect.tryPromise(looked))))
  }
  return primary
})
