import * as ValidatingResolver from "@satrail/web/ValidatingResolver"
import { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import { type Check, type Line, misconfigured, outage, right } from "../base/Check.ts"

/** A name whose zone has been signed for long, and is everybody's. Whether it has such records does not matter. */
const signedName = "org"

const look = Effect.fnUntraced(function* (resolver: URL): Effect.fn.Return<Line> {
  const found = yield* Effect.option(ValidatingResolver.make([resolver])(signedName))
  if (found._tag === "None")
    return outage(
      `${resolver.host} gives no answer`,
      "Payees by name wait while no resolver of BIP353_RESOLVER answers: look whether it runs."
    )
  return found.value.isSigned
    ? right(`${resolver.host} answers, and validates DNSSEC`)
    : misconfigured(
        `${resolver.host} answers, and does not validate DNSSEC: every name's record is refused as not signed`,
        "Name a resolver in BIP353_RESOLVER that validates, such as an unbound of your own."
      )
})

/** Whether the resolvers that payees by name are looked up with validate, as far as one name shows it. */
export const check = ({ bip353Resolvers }: Pick<Environment, "bip353Resolvers">): Check => ({
  subject: "names",
  isLater: true,
  lines: Effect.forEach(bip353Resolvers, look, { concurrency: "unbounded" })
})
