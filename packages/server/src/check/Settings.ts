import { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import * as Simulated from "../deployment/Simulated.ts"
import { applying, type Check, type Line, right, warning } from "../base/Check.ts"

/** Returns whether outside wallets could resolve this domain. */
export const isPublic = (domain: string): boolean =>
  !/(?:^|\.)(?:localhost|local|test|example|invalid|internal)$/.test(domain)

const mixed = (environment: Environment): Line => {
  const simulated = Simulated.of(environment)
  const parts = [
    ...(simulated.lightning ? ["the Lightning node (LIGHTNING)"] : []),
    ...(simulated.chain ? ["the chain (CHAIN)"] : []),
    ...(simulated.web ? ["payees' servers (RESOLVER)"] : [])
  ]
  if (Simulated.isSandbox(simulated)) return right("everything is simulated: no real money")
  const isPlay = environment.network === "regtest"
  if (parts.length === 0 || isPlay)
    return right(`on ${environment.network}${parts.length === 0 ? "" : `; simulated: ${parts.join(", ")}`}`)
  return warning(
    `on ${environment.network}, some parts are real, but these are simulated: ${parts.join(" and ")}`,
    "Configure real ones before you accept customers' money."
  )
}

const look = (environment: Environment): ReadonlyArray<Line> => {
  const { demo, domain, network, operatorToken, outboundAllow, proxies } = environment
  return applying([
    mixed(environment),
    operatorToken === undefined &&
      !demo &&
      warning(
        "SATRAIL_OPERATOR_TOKEN is not set: no company can be created",
        "Set it to the output of `openssl rand -hex 32`. Use the same value in all processes."
      ),
    proxies === 0 &&
      isPublic(domain) &&
      warning(
        `SATRAIL_PROXIES is 0, and SATRAIL_DOMAIN is ${domain}: behind a proxy, rate limits count all payers as one caller`,
        "Set SATRAIL_PROXIES to the number of your proxies in front of the service, such as 1."
      ),
    outboundAllow.size > 0 &&
      network !== "regtest" &&
      warning(
        "SATRAIL_OUTBOUND_ALLOW disables the checks of outbound requests to the listed hosts",
        "Unset it except for development."
      )
  ])
}

/** Checks the configuration alone, without calling other systems. */
export const check = (environment: Environment): Check => ({
  subject: "settings",
  lines: Effect.sync(() => look(environment))
})
