import * as CompanyId from "@satrail/core/base/CompanyId"
// Opens companies one after the other in the given directory, prints each id as soon as it is committed, and
// never stops.
import * as Company from "@satrail/core/accounts/Company"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import { Effect } from "effect"
import { writeSync } from "node:fs"
import * as Storage from "@satrail/service/postgres/Storage"

const [, , directory] = process.argv

const program = Effect.gen(function* () {
  const { commit } = yield* Journal
  const one = Effect.gen(function* () {
    const id = CompanyId.make(yield* Id.make)
    yield* commit(
      Company.opened({
        id,
        name: "Acme",
        plan: "free",
        createdAtMillis: 1,
        limits: null,
        frozen: null,
        loosening: null,
        fees: null,
        feesRevision: 0
      })
    )
    writeSync(1, `${id}\n`)
  })
  yield* Effect.forever(one)
})

await Effect.runPromise(Effect.provide(program, Storage.layerEmbedded({ directory })))
