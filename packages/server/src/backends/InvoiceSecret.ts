import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Clock, Effect, Option, Redacted } from "effect"
import { hkdfSync } from "node:crypto"
import { NodeUnusable } from "./NodeUnusable.ts"

// Binds the database to the secret that it was first used with. With another one, the service would start, but could
// not settle held payments, and would sign audit entries that `verify` reports as altered.

/** The cursor source under which the secret's mark is stored. An operator who lost the secret deletes it (docs/guides/lnd.md). */
const cursorSource = "invoice secret"

/** Returns a value from which the secret cannot be derived. */
const markOf = (secret: Redacted.Redacted): string =>
  Buffer.from(hkdfSync("sha256", Redacted.value(secret), "", "satrail: mark of the invoice secret", 16)).toString("hex")

/** Fails if the database is bound to another secret. `setting` is the name of the secret's setting. */
export const confirm = Effect.fnUntraced(function* (secret: Redacted.Redacted, setting: string) {
  const [records, mark] = [yield* LedgerReads, markOf(secret)]
  const stored = yield* records.cursor(cursorSource)
  if (Option.isNone(stored)) {
    const begun = Cursor.moved({ source: cursorSource, value: mark }, yield* Id.make, yield* Clock.currentTimeMillis)
    return yield* Effect.catchTag((yield* Journal).commit(begun), "StaleFence", Effect.die) // a Change without a fence cannot fail this way
  }
  if (stored.value === mark) return
  return yield* new NodeUnusable({
    message: `The database is bound to another invoice secret. Set ${setting} to that one, from your copy of the settings. If it is lost, or this one is right, see "A lost or wrong secret" in docs/guides/lnd.md.`
  })
})
