import { Clock, Effect, Option } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import { AccountReads } from "./AccountReads.ts"
import * as Domain from "./Domain.ts"
import { Installation } from "./Installation.ts"

/**
 * Returns whether the Lightning addresses of a domain work, and whether a company may own some of them. At the
 * service's domain, any company may.
 */
export const make = Effect.gen(function* () {
  const accounts = yield* AccountReads
  const { domain: ownDomain } = yield* Installation

  return Effect.fnUntraced(function* (domain: string) {
    if (domain === ownDomain) return { isServed: true, isOf: () => true }
    const found = Option.getOrUndefined(yield* accounts.domain(domain))
    const isServed =
      found !== undefined && Domain.isInForce(found, yield* Clock.currentTimeMillis, Domain.graceMillis)
    return { isServed, isOf: (companyId: CompanyId) => isServed && found.companyId === companyId }
  })
})
