import { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import * as Pretended from "../deployment/Pretended.ts"
import type { Check, Line } from "../base/Check.ts"
import { right, warning } from "../base/Check.ts"

/** Whether wallets outside can be meant to find this domain. */
export const isPublic = (domain: string): boolean => !/(?:^|\.)(?:localhost|local|test|example|invalid|internal)$/.test(domain)

const proxies = ({ domain, proxies }: Environment): ReadonlyArray<Line> =>
  proxies === 0 && isPublic(domain)
    ? [
        warning(
          `SATRAIL_PROXIES is 0, and SATRAIL_DOMAIN is ${domain}: behind a proxy all payers are one caller to the limits`,
          "Set SATRAIL_PROXIES to how many proxies of yours stand in front, such as 1."
        )
      ]
    : []

const operator = ({ demo, operatorToken }: Environment): ReadonlyArray<Line> =>
  operatorToken === undefined && !demo
    ? [
        warning(
          "SATRAIL_OPERATOR_TOKEN is not set: no company can be opened",
          "Set it to what `openssl rand -hex 32` prints, the same in all processes."
        )
      ]
    : []

const allowed = ({ outboundAllow, network }: Environment): ReadonlyArray<Line> =>
  outboundAllow.size > 0 && network !== "regtest"
    ? [warning("SATRAIL_OUTBOUND_ALLOW turns off the checks of outbound requests for its hosts", "Unset it outside of development.")]
    : []

const mixed = (environment: Environment): ReadonlyArray<Line> => {
  const pretended = Pretended.of(environment)
  const parts = [
    ...(pretended.lightning ? ["the Lightning node (LIGHTNING)"] : []),
    ...(pretended.chain ? ["the chain (CHAIN)"] : []),
    ...(pretended.web ? ["payees' servers (RESOLVER)"] : [])
  ]
  if (Pretended.isSandbox(pretended)) return [right("everything is simulated: no real money")]
  const isPlay = environment.network === "regtest"
  if (parts.length === 0 || isPlay)
    return [right(`on ${environment.network}${parts.length === 0 ? "" : `; simulated: ${parts.join(", ")}`}`)]
  return [
    warning(
      `beside real nodes on ${environment.network} ${parts.join(" and ")} are simulated`,
      "Set them before customers' money comes in."
    )
  ]
}

/** What can be seen in the configuration alone. */
export const check = (environment: Environment): Check => ({
  subject: "settings",
  lines: Effect.sync(() => [...mixed(environment), ...operator(environment), ...proxies(environment), ...allowed(environment)])
})
