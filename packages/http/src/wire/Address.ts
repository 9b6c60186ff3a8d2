import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/**
 * Returns an IPv4 address, or the /64 network of an IPv6 address, because a provider assigns a whole /64 to
 * each customer.
 */
const networkOf = (address: string): string => {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [head = "", tail] = address.toLowerCase().split("::")
  const groups = head === "" ? [] : head.split(":")
  const last = tail === undefined || tail === "" ? [] : tail.split(":")
  return [
    ...groups,
    ...Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => "0"),
    ...last
  ]
    .slice(0, 4)
    .join(":")
}

/** Removes the port that some proxies append, such as Azure's and IIS's. Each connection of a caller has another one. */
const withoutPort = (forwarded: string): string => {
  const [, v6, v4] = /^(?:\[([\da-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i.exec(forwarded) ?? []
  return v6 ?? v4 ?? forwarded
}

/** Addresses of the connections on which web requests arrived. A web request itself has none. */
const peers = new WeakMap<object, string>()

/** Sets the address of the connection on which a web request arrived. Without it, all callers would count as one. */
export const arrivedFrom = (request: Request, address: string): void => void peers.set(request, address)

/** Returns the address of the other end of the connection, empty if it is unknown. */
export const peerOf = ({ remoteAddress, source }: HttpServerRequest.HttpServerRequest): string =>
  Option.getOrElse(remoteAddress, () => peers.get(source) ?? "")

/**
 * Returns the caller's address, empty if it is missing. Behind `proxies` reverse proxies, it is entry number `proxies`
 * of `X-Forwarded-For`, counted from the right. Clients can forge the entries to its left.
 */
export const forwardedIn = (header = "", proxies: number): string => {
  // Not `split`, because a forged header can have 16,000 entries.
  let [start, end] = [header.length, header.length]
  for (let n = 0; n < proxies; n++) {
    if (start < 0) return ""
    end = start
    start = end === 0 ? -1 : header.lastIndexOf(",", end - 1)
  }
  return withoutPort(header.slice(start + 1, end).trim())
}

/** Returns the caller's address. */
export const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string =>
  forwardedIn(request.headers["x-forwarded-for"], proxies) || peerOf(request)

/** Returns the caller's address for the audit log. */
export const callerOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string =>
  networkOf(addressOf(request, proxies))
