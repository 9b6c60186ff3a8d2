import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
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
  Buffer.from(
    hkdfSync("sha256", Redacted.value(secret), "", "satrail: mark of the invoice secret", 16)
  ).toString("hex")

/** Time after which a claim may be deleted. */
const claimKeptMillis = 60_000

/**
 * Binds an unbound database, and returns the stored mark. A mark replaces another, but an idempotency key does not. So
 * of two processes that start together, only one makes this claim, which stores its mark in the same transaction. No
 * mark is stored if it was deleted since an earlier claim.
 */
const claimed = Effect.fnUntraced(function* (
  mark: string,
  stored: Effect.Effect<Option.Option<string>, StoreUnavailable>
) {
  const nowMillis = yield* Clock.currentTimeMillis
  const once = {
    owner: CompanyId.operator,
    key: cursorSource,
    fingerprint: mark,
    answer: "",
    forgetAtMillis: nowMillis + claimKeptMillis
  }
  const kept = Answer.kept(yield* Id.make, CompanyId.operator, nowMillis, once)
  const claim = (yield* Journal).commit({ ...kept, cursor: { source: cursorSource, value: mark } })
  yield* Effect.catchTag(claim, "IdempotencyMismatch", () => Effect.void)
  return yield* stored
})

/** Fails if the database is bound to another secret. `setting` is the name of the secret's setting. */
export const confirm = Effect.fnUntraced(function* (secret: Redacted.Redacted, setting: string) {
  const [stored, mark] = [(yield* LedgerReads).cursor(cursorSource), markOf(secret)]
  const before = yield* stored
  const bound = Option.isSome(before) ? before : yield* claimed(mark, stored)
  if (Option.isNone(bound)) return yield* Cursor.store(yield* Journal, { source: cursorSource, value: mark })
  if (bound.value === mark) return
  return yield* new NodeUnusable({
    message: `The database is bound to another invoice secret. Set ${setting} to that one, from your copy of the settings. If it is lost, or this one is right, see "A lost or wrong secret" in docs/guides/lnd.md.`
  })
})
