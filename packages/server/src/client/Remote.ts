import { Effect } from "effect"
import type { Client } from "@satrail/http/commands/Client"

const operator = Effect.promise(() => import("./Operator.ts"))
const files = Effect.promise(() => import("./Export.ts"))

/** Calls the service that SATRAIL_URL or the last start names. Its modules are loaded by the first call. */
export const client: Client["Service"] = {
  ask: (...given) => Effect.flatMap(operator, ({ ask }) => ask(...given)),
  companyId: (named) => Effect.flatMap(operator, ({ companyId }) => companyId(named)),
  call: (...given) => Effect.flatMap(operator, ({ call }) => call(...given)),
  list: (...given) => Effect.flatMap(operator, ({ list }) => list(...given)),
  print: (route) => Effect.flatMap(files, ({ printed }) => printed(route)),
  save: (...given) => Effect.flatMap(files, ({ list }) => list(...given))
}
