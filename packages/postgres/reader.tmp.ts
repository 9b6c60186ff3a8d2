import { Effect, Option } from "effect"
import { readFileSync } from "node:fs"
import * as Storage from "/work/main/packages/postgres/src/Storage.ts"
import { Records } from "/work/main/packages/core/src/Records.ts"
const [, , directory, file] = process.argv
const ids = readFileSync(file!, "utf8").split("\n").filter((l) => l.length === 36)
const program = Effect.gen(function*() {
  const records = yield* Records
  const found = yield* Effect.forEach(ids, (id) => records.company(id), { concurrency: "unbounded" })
  const all = yield* records.companies(null, 1000000)
  console.log(`acked ${ids.length} missing ${found.filter(Option.isNone).length} stored ${all.length}`)
})
Effect.runPromise(Effect.scoped(Effect.provide(program, Storage.layerEmbedded({ directory: directory! }))) as never).catch((e) => { console.error(String(e)); process.exit(1) })
