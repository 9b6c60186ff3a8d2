import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import * as Storage from "/work/main/packages/postgres/src/Storage.ts"
import { Journal } from "/work/main/packages/core/src/Journal.ts"
import * as Company from "/work/main/packages/core/src/Company.ts"
import * as Id from "/work/main/packages/core/src/Id.ts"
import { randomBytes } from "node:crypto"
const directory = process.argv[2]!
const program = Effect.gen(function*() {
  const journal = yield* Journal
  writeSync(1, "ready\n")
  for (;;) {
    const batch = Array.from({ length: 8 }, () => Id.fromMillis(Date.now(), (n) => randomBytes(n)))
    yield* Effect.forEach(batch, (id) => Effect.tap(journal.commit(Company.opened({ id, name: "x".repeat(100), plan: "free", createdAtMillis: Date.now() })), () => Effect.sync(() => writeSync(1, id + "\n"))), { concurrency: "unbounded" })
  }
})
Effect.runPromise(Effect.scoped(Effect.provide(program, Storage.layerEmbedded({ directory }))) as never).catch((e) => { console.error(String(e)); process.exit(1) })
