import * as ValidatingResolver from "@satrail/web/ValidatingResolver"
import { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, misconfigured, outage, right } from "../base/Check.ts"

/** A well-known name whose zone has long been signed. It doesn't matter whether it has such records. */
const signedName = "org"

const look = Effect.fnUntraced(function* (resolver: URL): Effect.fn.Return<Line> {
  const found = yield* Effect.option(ValidatingResolver.make([resolver])(signedName))
  if (found._tag === "None")
    return outage(
      `${resolver.host} does not respond`,
      "Payments to names wait until a resolver of BIP353_RESOLVER responds. Check that it is running."
    )
  return found.value.isSigned
    ? right(`${resolver.host} responds and validates DNSSEC`)
    : misconfigured(
        `${resolver.host} responds but does not validate DNSSEC, so every name's record is refused as unsigned`,
        "Set BIP353_RESOLVER to a validating resolver, such as your own unbound."
      )
})

/** Checks with one name that the resolvers for BIP 353 payees validate. */
export const check = ({ bip353Resolvers }: Pick<Environment, "bip353Resolvers">): Check => ({
  subject: "names",
  isLater: true,
  lines: Effect.forEach(bip353Resolvers, look, { concurrency: "unbounded" })
})
