import { originOf } from "@satrail/core/accounts/Installation"
import * as Caller from "@satrail/core/base/Caller"
import type { Environment } from "./Environment.ts"
import { identity } from "../environment/Service.ts"

/**
 * Returns the host used in links, with a path if the public URL has one. Browsers cannot resolve the default
 * domain, so the listening address replaces it, with `localhost` if the service listens on every address.
 * Undefined if the system assigns the port.
 */
export const hostOf = ({ publicUrl, domain, host, port }: Environment): string | undefined => {
  const { host: name = domain, pathname = "/" } = URL.parse(publicUrl ?? "") ?? {}
  const named = `${name}${pathname.replace(/\/$/, "")}`
  if (publicUrl !== undefined && originOf(named) === publicUrl) return named
  if (domain !== identity.domain.fallback || port === 0) return undefined
  return listening({ host, port })
}

/**
 * Returns the host and port at which a program on this machine reaches the service. The host is `localhost` if
 * the service listens on every address.
 */
export const listening = ({ host, port }: Pick<Environment, "host" | "port">): string => {
  const isAny = host === "0.0.0.0" || host === "::"
  return `${isAny ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`
}

/**
 * Returns the URL at which browsers reach the service, with `localhost` if only this machine can reach it.
 * Undefined if unknown.
 */
export const publicUrlOf = (environment: Environment): string | undefined => {
  const host = hostOf(environment)
  if (environment.publicUrl !== undefined) return environment.publicUrl
  if (host === undefined)
    return environment.domain === identity.domain.fallback ? undefined : originOf(environment.domain)
  return isLocal(environment) ? `http://localhost:${environment.port}` : `http://${host}`
}

/** Returns whether only this machine can reach the service. */
export const isLocal = ({ host }: Pick<Environment, "host">): boolean =>
  host === "localhost" || Caller.isLoopback(host)
