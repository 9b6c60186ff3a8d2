import { Effect, Redacted } from "effect"
import Pg from "pg"
import type { Demand, Host, Hosts } from "./Hosts.ts"
import { leave } from "./PgConnection.ts"
import { codeOf, messageOf } from "./PgError.ts"

// Chooses one of several hosts to connect to. All are queried at the same time, each with a timeout, and the
// one that accepts writes is used until it no longer does. A promoted server starts a new timeline. Of two
// hosts that accept writes, the one on the later timeline is the primary, and a process never returns to an
// earlier timeline than it has seen.

/** The state of a host when it was queried. */
export type Standing =
  | {
      readonly _tag: "Here"
      readonly isStandby: boolean
      readonly isReadOnly: boolean
      readonly timeline: number
    }
  | { readonly _tag: "Away"; readonly cause: unknown }

const unasked: Standing = { _tag: "Away", cause: new Error("not queried") }

/** Timeout per host and per connection, and the interval between queries of all hosts. */
export const defaults = { connectMillis: 5000, watchMillis: 2000 } as const

const what = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`
const timeline = `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`

/**
 * Returns whether an error means that there is no such function (class 42) or that it is not supported (class
 * 0A).
 */
const hasNone = (cause: unknown): boolean =>
  cause instanceof Pg.DatabaseError && /^(42|0A)/.test(cause.code ?? "")

/** Queries a host's state on a new connection, because open ones may be dead. */
export const look = async (settings: Pg.ClientConfig, millis: number): Promise<Standing> => {
  const client = new Pg.Client({ ...settings, connectionTimeoutMillis: millis, query_timeout: millis })
  client.on("error", () => {}) // the query fails with the same error
  try {
    await client.connect()
    const [row] = (await client.query<{ readonly standby: boolean; readonly readOnly: boolean }>(what)).rows
    if (row === undefined) throw new Error("no response to the state query")
    const { standby: isStandby, readOnly: isReadOnly } = row
    if (isStandby) return { _tag: "Here", isStandby, isReadOnly, timeline: 0 }
    // A server without timelines counts as being on timeline 0. A server that doesn't respond may be an old
    // primary.
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

/** Returns whether a host meets the demand and is not on an earlier timeline than the latest seen. */
const fits = (standing: Standing, demand: Demand, seen: number): boolean => {
  if (standing._tag === "Away") return false
  if (demand === "any") return true
  if (standing.isStandby || (demand === "read-write" && standing.isReadOnly)) return false
  return standing.timeline === 0 || standing.timeline >= seen
}

/**
 * Returns the index of the host to connect to: preferably the last one, then the others in order; undefined
 * if none is suitable.
 */
export const choose = (
  standings: ReadonlyArray<Standing>,
  demand: Demand,
  last: number | undefined,
  seen: number
): number | undefined => {
  const order = [...standings.keys()].toSorted((a, b) => Number(b === last) - Number(a === last))
  const timelineOf = (at: number) => {
    const standing = standings[at]
    return standing?._tag === "Here" && demand !== "any" ? standing.timeline : 0
  }
  return order
    .filter((at) => fits(standings[at] ?? unasked, demand, seen))
    .reduce<number | undefined>(
      (best, at) => (best === undefined || timelineOf(at) > timelineOf(best) ? at : best),
      undefined
    )
}

/** Describes a host's state in human-readable text. */
export const text = (standing: Standing, seen = 0): string => {
  if (standing._tag === "Away") return `does not respond (${messageOf(standing.cause)})`
  if (standing.isStandby) return "is a standby"
  if (standing.timeline > 0 && standing.timeline < seen)
    return `is an old primary (timeline ${standing.timeline}, but ${seen} was seen elsewhere)`
  return standing.isReadOnly ? "is a read-only primary" : "is the primary"
}

/** Returns the state of every host of a URL, in its order, and their latest timeline. */
export const lookAtAll = (hosts: Hosts, millis: number = defaults.connectMillis) =>
  Effect.map(
    Effect.promise(() =>
      Promise.all(hosts.all.map(({ url }) => look({ connectionString: Redacted.value(url) }, millis)))
    ),
    (standings) => ({
      hosts: hosts.all.map(({ at }, i) => ({ at, standing: standings[i] ?? unasked })),
      newest: Math.max(0, ...standings.map((one) => (one._tag === "Here" ? one.timeline : 0)))
    })
  )

/** No host meets the demand. */
class NoHost extends Error {
  /**
   * The error code of a host that refused access or lacks the database, in which case waiting doesn't help. Otherwise
   * that of a host that does not respond.
   */
  readonly code: string | undefined
  constructor(hosts: Hosts, standings: ReadonlyArray<Standing>, seen: number) {
    const all = hosts.all.map(({ at }, i) => `${at} ${text(standings[i] ?? unasked, seen)}`)
    super(`no host accepts writes: ${all.join("; ")}`)
    const codes = standings.flatMap((one) => (one._tag === "Away" ? (codeOf(one.cause) ?? []) : []))
    this.code = codes.find((code) => /^(28|3D)/.test(code)) ?? codes[0]
  }
}

const notFit = (at: string) => Object.assign(new Error(`${at} no longer accepts writes`), { code: "25006" })

export interface Options {
  readonly connectMillis?: number | undefined
  readonly watchMillis?: number | undefined
}

/** Directs a pool's connections to the primary. */
export interface Primary {
  /** A client of the host that is the primary at the time the pool creates the client. */
  readonly Client: new () => Pg.Client
  /** Refuses a connection to a host that no longer meets the demand. */
  readonly onConnect: (client: Pg.ClientBase) => void
  /** Returns the settings for reaching the server of this client. */
  readonly settingsOf: (client: Pg.ClientBase) => Pg.ClientConfig
  /** Returns whether another host has become the primary since this client was created. */
  readonly isElsewhere: (client: Pg.ClientBase) => boolean
  /** Determines the host if it is unknown. Fails if no host is suitable. */
  readonly settled: Effect.Effect<void, unknown>
  /** Marks the host as unknown, so that the next connection queries all hosts first. */
  readonly lost: () => void
  /** Detects a new primary even while no connection breaks, because a vanished machine reports nothing. */
  readonly watch: Effect.Effect<never>
}

/**
 * Opens connections to the host that accepts writes. `settings` apply to every connection; they don't contain
 * an address.
 */
export const make = Effect.fnUntraced(function* (
  hosts: Hosts,
  settings: Pg.ClientConfig,
  options: Options = {}
) {
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

  /**
   * New connections use this host. Queries on other hosts are interrupted, because they may be waiting for a
   * vanished machine.
   */
  const go = (host: Host) => {
    if (host !== current && wasKnown)
      fork(Effect.logWarning(`database: ${host.at} is now the primary instead of ${current.at}`))
    current = host
    isKnown = wasKnown = true
    for (const [client, { cut }] of open) if (isElsewhere(client)) cut()
  }

  const find = async () => {
    const standings: Array<Standing> = hosts.all.map(() => unasked)
    const asking = hosts.all.map(async (host, i) => {
      const standing = await look(settingsAt(host), connectMillis)
      standings[i] = standing
      // A promotion since the last query is decisive, so the vanished machine isn't awaited.
      if (seen > 0 && standing._tag === "Here" && standing.timeline > seen) return
      return Promise.reject(new Error("not decisive: wait for the other hosts"))
    })
    await Promise.any(asking).catch(() => {})
    const place = choose(standings, hosts.demand, hosts.all.indexOf(current), seen)
    const host = place === undefined ? undefined : hosts.all[place]
    if (host === undefined || place === undefined) throw new NoHost(hosts, standings, seen)
    const standing = standings[place]
    go(host)
    if (standing?._tag === "Here") seen = Math.max(seen, standing.timeline)
  }
  /** Never query all hosts twice at the same time. */
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
      // A server sends these parameters to each new connection.
      const said = new Map<string, string>()
      this.connection.on(
        "parameterStatus",
        (status: { readonly parameterName: string; readonly parameterValue: string }) => {
          said.set(status.parameterName, status.parameterValue)
        }
      )
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
    settled: Effect.suspend(() =>
      isKnown ? Effect.void : Effect.tryPromise({ try: looked, catch: (cause) => cause })
    ),
    lost: () => {
      isKnown = false
    },
    watch: Effect.forever(Effect.andThen(Effect.sleep(watchMillis), Effect.ignore(Effect.tryPromise(looked))))
  }
  return primary
})
