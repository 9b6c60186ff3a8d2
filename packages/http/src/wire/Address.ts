import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** An IPv4 address, or a whole /64 of IPv6: that is what a customer of a network gets. */
const networkOf = (address: string): string => {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [head = "", tail] = address.toLowerCase().split("::")
  const groups = head === "" ? [] : head.split(":")
  const last = tail === undefined || tail === "" ? [] : tail.split(":")
  return [...groups, ...Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => "0"), ...last].slice(0, 4).join(":")
}

/** From where it was asked, as far as our own `proxies` say so: what stands further left in `X-Forwarded-For` anybody could have written. */
export const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => {
  const forwarded = proxies === 0 ? [] : (request.headers["x-forwarded-for"] ?? "").split(",")
  return forwarded.at(-proxies)?.trim() || Option.getOrElse(request.remoteAddress, () => "")
}

/** The caller as the audit log names it. */
export const callerOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => networkOf(addressOf(request, proxies))
