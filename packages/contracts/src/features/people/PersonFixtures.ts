import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Person from "@satrail/features/people/core/Person"
import { Effect } from "effect"
import { past } from "../../Fixtures.ts"

const invitation = Effect.fnUntraced(function* (id: string) {
  return Person.generate(id, yield* Entropy).secretHash
})

export const invite = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  const [id, createdAtMillis] = [yield* Id.make, yield* past]
  return Person.invited({
    id,
    companyId,
    name: "Ada",
    role: "admin",
    status: "invited",
    vouchedBy: null,
    passkeys: [],
    uses: [],
    secretHash: yield* invitation(id),
    invitedUntilMillis: createdAtMillis + Person.invitationMillis,
    waiting: { requestedById: "root", requestedBy: "configured token" },
    epoch: 0,
    revision: yield* Id.make,
    createdAtMillis,
    updatedAtMillis: createdAtMillis
  })
})

const passkey = (id: string, createdAtMillis: number): Person.Passkey => ({
  id,
  name: "laptop",
  publicKey: "pQEC",
  createdAtMillis
})
const use = (id: string, counter: number, challengedAtMillis: number): Person.Use => ({
  id,
  counter,
  challengedAtMillis
})

const at = Effect.fnUntraced(function* (row: Person.Person) {
  return { atMillis: row.updatedAtMillis + 1, revision: yield* Id.make }
})

export const going = {
  approved: (row: Person.Person) => Effect.map(at(row), (at) => Person.approved(row, at)),
  joined: (row: Person.Person) =>
    Effect.map(at(row), (at) =>
      Person.joined(row, passkey("AQ", at.atMillis), use("AQ", 0, at.atMillis), at)
    ),
  used: [
    "joined",
    (row: Person.Person) => Effect.map(at(row), (at) => Person.used(row, use("AQ", 1, at.atMillis), at))
  ],
  rekeyed: [
    "joined",
    (row: Person.Person) =>
      Effect.map(at(row), (at) =>
        Person.keyed(row, passkey("Ag", at.atMillis), use("Ag", 0, at.atMillis), at)
      )
  ],
  promoted: (row: Person.Person) =>
    Effect.map(at(row), (at) => Person.promoted(row, { role: "viewer", vouchedBy: row.id }, at)),
  recovered: [
    "joined",
    Effect.fnUntraced(function* (row: Person.Person) {
      return Person.recovered(
        row,
        { secretHash: yield* invitation(row.id), vouchedBy: row.id, waiting: null },
        yield* at(row)
      )
    })
  ],
  removed: ["joined", (row: Person.Person) => Effect.map(at(row), (at) => Person.removed(row, at))]
} as const
