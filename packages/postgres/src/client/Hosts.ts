import { Redacted, Result } from "effect"

/** One server of those that a URL names. */
export interface Host {
  /** For people: host and port. */
  readonly at: string
  /** The whole URL as if it were the only one. */
  readonly url: Redacted.Redacted
}

/** What a connection has to lead to, by libpq's names. */
export const demands = ["any", "read-write", "primary"] as const
export type Demand = (typeof demands)[number]

/** `postgres://user:password@h1:5432,h2:5432/name?target_session_attrs=read-write`, libpq's form: several hosts, of which one is the primary. */
export interface Hosts {
  readonly all: readonly [Host, ...ReadonlyArray<Host>]
  readonly demand: Demand
  /** For people: hosts, ports and name of the database, never a user or a password. */
  readonly where: string
  /** As it is in the URL; empty where there is none. */
  readonly password: Redacted.Redacted
}

/** How many hosts a URL may name. */
export const maxHosts = 8

const shape = /^(postgres(?:ql)?):\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/
const hostShape = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]*)(?::(.*))?$/
const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/**
 * What a URL names, or what is wrong with it, in words that repeat nothing of it: half of a URL may be a password. With several hosts connections lead to
 * the one that takes writes unless the URL says otherwise; with one they go there, whatever it is.
 */
export const parse = (text: string): Result.Result<Hosts, string> => {
  const [, scheme, user = "", list = "", path = "", query = ""] = shape.exec(text) ?? []
  if (scheme === undefined) return Result.fail("it is not a postgres:// URL")
  const params = new URLSearchParams(query)
  const entries = list.split(",")
  const isSeveral = entries.length > 1
  if (entries.length > maxHosts) return Result.fail(`it names ${entries.length} hosts, and ${maxHosts} are the most`)
  for (const name of ["host", "port"]) {
    if (isSeveral ? params.has(name) : params.get(name)?.includes(","))
      return Result.fail(`several hosts are named before the path, each with its port: h1:5432,h2:5432, and none in ${name}=`)
  }
  const given = params.get("target_session_attrs") ?? (isSeveral ? "read-write" : "any")
  const demand = demands.find((one) => one === given)
  if (demand === undefined) return Result.fail(`target_session_attrs must be one of ${demands.join(", ")}: the service writes`)

  const alone = (host: string) => `${scheme}://${user === "" ? "" : `${user}@`}${host}${path}${query === "" ? "" : `?${query}`}`
  const hosts: Array<Host> = []
  for (const [i, entry] of entries.entries()) {
    const which = isSeveral ? `host ${i + 1} of ${entries.length}` : "the host"
    const [, name, port] = hostShape.exec(entry) ?? []
    if (name === undefined) return Result.fail(`${which} is no name or address`)
    if (name === "" && isSeveral) return Result.fail(`${which} is empty`)
    if (port !== undefined && port !== "" && !isPort(port)) return Result.fail(`the port of ${which} must be a number from 1 to 65535`)
    const at = `${name === "" ? "localhost" : name}:${port === undefined || port === "" ? 5432 : port}`
    if (hosts.some((other) => other.at === at)) return Result.fail(`${which} is named twice`)
    const url = alone(entry)
    // A socket's folder, or nothing, is right for one host without a name.
    if (name !== "" && !URL.canParse(url)) return Result.fail(`${which} is no name or address`)
    hosts.push({ at, url: Redacted.make(url) })
  }
  const [first, ...others] = hosts
  if (first === undefined) return Result.fail("it names no host")
  return Result.succeed({
    all: [first, ...others],
    demand,
    where: `${hosts.map(({ at }) => at).join(",")}${path}`,
    password: Redacted.make(user.includes(":") ? user.slice(user.indexOf(":") + 1) : "")
  })
}
