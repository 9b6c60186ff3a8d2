import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Session from "@satrail/core/features/sessions/Session"
import { Effect, Redacted } from "effect"
import { past } from "../../Fixtures.ts"

const hash = Effect.fnUntraced(function* (place: Session.Place) {
  return Session.hashOf(Redacted.value(Session.generate(place, yield* Entropy)), "")
})

export const begin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const [id, createdAtMillis] = [yield* Id.make, yield* past]
  const place = { holder: "key", holderId: yield* Id.make, slot: 0 } as const
  return Session.begun({
    id,
    companyId,
    ...place,
    secretHash: yield* hash(place),
    createdAtMillis,
    expiresAtMillis: createdAtMillis + Session.lifeMillis,
    steppedUpAtMillis: null,
    endedAtMillis: null
  })
})

export const going = {
  begunAgain: Effect.fnUntraced(function* (row: Session.Session) {
    return Session.begunAgain(row, { secretHash: yield* hash(row), expiresAtMillis: row.expiresAtMillis + 1 }, row.createdAtMillis + 1)
  }),
  steppedUp: (row: Session.Session) => Effect.succeed(Session.steppedUp(row, row.createdAtMillis + 2)),
  ended: (row: Session.Session) => Effect.succeed(Session.ended(row, row.createdAtMillis + 3))
}
