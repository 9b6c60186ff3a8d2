import { originOf } from "@satrail/core/accounts/Installation"
import type { Environment } from "./Environment.ts"
import { identity } from "../environment/Service.ts"

/**
 * Where a link leads. A domain that nobody has set is none that a browser finds: then it is the address that requests are taken at, unless that is not known before
 * they are, or is every address of the machine.
 */
export const hostOf = ({ publicUrl, domain, host, port }: Environment): string | undefined => {
  const { host: named = domain } = URL.parse(publicUrl ?? "") ?? {}
  if (publicUrl !== undefined && originOf(named) === publicUrl) return named
  if (domain !== identity.domain.fallback || port === 0) return undefined
  const isAny = host === "0.0.0.0" || host === "::"
  return `${isAny ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`
}
