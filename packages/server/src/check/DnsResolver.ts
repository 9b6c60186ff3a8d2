import * as ValidatingResolver from "@satrail/web/ValidatingResolver"
import { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, misconfigured, outage, right } from "../base/Check.ts"

/** A well-known name in a signed zone. It doesn't matter whether the name has TXT records. */
const signedName = "org"

const look = Effect.fnUntraced(function* (resolver: URL): Effect.fn.Return<Line> {
  const found = yield* Effect.option(ValidatingResolver.make([resolver])(signedName))
  if (found._tag === "None")
    return outage(
      `${resolver.host} does not respond`,
      "Check that the resolver is running. Payments to names wait until a resolver listed in BIP353_RESOLVER responds."
    )
  return found.value.isSigned
    ? right(`${resolver.host} responds and validates DNSSEC`)
    : misconfigured(
        `${resolver.host} responds but does not validate DNSSEC, so every record is rejected as unsigned`,
        "Set BIP353_RESOLVER to a validating resolver, such as your own unbound."
      )
})

/** Checks, by looking up one name, that the resolvers for BIP 353 payees validate DNSSEC. */
export const check = ({ bip353Resolvers }: Pick<Environment, "bip353Resolvers">): Check => ({
  subject: "names",
  isLater: true,
  lines: Effect.forEach(bip353Resolvers, look, { concurrency: "unbounded" })
})
