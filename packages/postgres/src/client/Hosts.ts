import { Redacted, Result } from "effect"

/** One of the servers in a URL. */
export interface Host {
  /** Host and port, for display. */
  readonly at: string
  /** The URL with only this host. */
  readonly url: Redacted.Redacted
}

/** Requirements for a connection's server, named as in libpq. */
export const demands = ["any", "read-write", "primary"] as const
export type Demand = (typeof demands)[number]

/**
 * `postgres://user:password@h1:5432,h2:5432/name?target_session_attrs=read-write`, libpq's form with several
 * hosts, one of which is the primary.
 */
export interface Hosts {
  readonly all: readonly [Host, ...ReadonlyArray<Host>]
  readonly demand: Demand
  /** Hosts, ports and database name, for display. Never contains a user or a password. */
  readonly where: string
  /** The password in the URL; empty if there is none. */
  readonly password: Redacted.Redacted
}

/** Maximum number of hosts in a URL. */
export const maxHosts = 8

const shape = /^(postgres(?:ql)?):\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/
const hostShape = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]*)(?::(.*))?$/
const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/** Decodes percent-encoded text. Returns undefined if a `%` does not begin an encoded character. */
export const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Parses a URL. The error does not quote the URL, because any part of it may be a password. With several hosts,
 * connections go to the one that accepts writes unless the URL says otherwise. With one host, connections go to
 * it, whatever its role.
 */
export const parse = (text: string): Result.Result<Hosts, string> => {
  const [, scheme, user = "", list = "", path = "", query = ""] = shape.exec(text) ?? []
  if (scheme === undefined) return Result.fail("it is not a postgres:// URL")
  // Otherwise the part of the password before the slash is read as a port, and the rest is displayed as the database.
  if (path.includes("@"))
    return Result.fail(
      "a / in the user name or password must be written as %2F, and an @ in the database's name as %40"
    )
  if (decoded(user) === undefined)
    return Result.fail("a % in the user name or password must be written as %25")
  if (decoded(path) === undefined) return Result.fail("a % in the database's name must be written as %25")
  const params = new URLSearchParams(query)
  const entries = list.split(",")
  const isSeveral = entries.length > 1
  if (entries.length > maxHosts)
    return Result.fail(`it contains ${entries.length} hosts, but the maximum is ${maxHosts}`)
  for (const name of ["host", "port"]) {
    if (isSeveral ? params.has(name) : params.get(name)?.includes(","))
      return Result.fail(
        `several hosts must be listed before the path, each with its port (h1:5432,h2:5432), not in ${name}=`
      )
  }
  const given = params.get("target_session_attrs") ?? (isSeveral ? "read-write" : "any")
  const demand = demands.find((one) => one === given)
  if (demand === undefined)
    return Result.fail(
      `target_session_attrs must be one of ${demands.join(", ")}, because the service must be able to write`
    )

  const alone = (host: string) =>
    `${scheme}://${user === "" ? "" : `${user}@`}${host}${path}${query === "" ? "" : `?${query}`}`
  const hosts: Array<Host> = []
  for (const [i, entry] of entries.entries()) {
    const which = isSeveral ? `host ${i + 1} of ${entries.length}` : "the host"
    const [, name, port] = hostShape.exec(entry) ?? []
    if (name === undefined) return Result.fail(`${which} is not a host name or address`)
    if (name === "" && isSeveral) return Result.fail(`${which} is empty`)
    if (port !== undefined && port !== "" && !isPort(port))
      return Result.fail(`the port of ${which} must be a number from 1 to 65535`)
    const at = `${name === "" ? "localhost" : name}:${port === undefined || port === "" ? 5432 : port}`
    if (hosts.some((other) => other.at === at)) return Result.fail(`${which} is named twice`)
    const url = alone(entry)
    // If the host is empty, the URL's query may name a socket folder; otherwise the default host applies.
    if (name !== "" && !URL.canParse(url)) return Result.fail(`${which} is not a host name or address`)
    hosts.push({ at, url: Redacted.make(url) })
  }
  const [first, ...others] = hosts
  if (first === undefined) return Result.fail("it contains no host")
  return Result.succeed({
    all: [first, ...others],
    demand,
    where: `${hosts.map(({ at }) => at).join(",")}${path}`,
    password: Redacted.make(user.includes(":") ? user.slice(user.indexOf(":") + 1) : "")
  })
}
