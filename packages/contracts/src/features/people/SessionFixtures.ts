import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Session from "@satrail/features/people/core/Session"
import { Effect } from "effect"
import { past } from "../../Fixtures.ts"

const hash = Effect.map(Entropy, (entropy) => SecretHash.of(Id.toHex(entropy(32))))

export const begin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const [id, createdAtMillis] = [yield* Id.make, yield* past]
  const place = { holder: "key", holderId: yield* Id.make, slot: 0 } as const
  return Session.started({
    id,
    companyId,
    ...place,
    secretHash: yield* hash,
    createdAtMillis,
    expiresAtMillis: createdAtMillis + Session.lifeMillis,
    steppedUpAtMillis: null,
    endedAtMillis: null
  })
})

export const going = {
  begunAgain: Effect.fnUntraced(function* (row: Session.Session) {
    return Session.startedAgain(
      row,
      { secretHash: yield* hash, expiresAtMillis: row.expiresAtMillis + 1 },
      row.createdAtMillis + 1
    )
  }),
  steppedUp: (row: Session.Session) =>
    Effect.map(hash, (secretHash) => Session.steppedUp(row, secretHash, row.createdAtMillis + 2)),
  ended: (row: Session.Session) => Effect.succeed(Session.ended(row, row.createdAtMillis + 3))
}
