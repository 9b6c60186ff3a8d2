import { type Canary, core, feature, inMemory, inSql, postgres } from "../../../../test/defences/Canary.ts"

export const adjustments: ReadonlyArray<Canary> = [
  {
    name: "adjustment-approved-by-who-asked",
    bug: "a second token of the same operator approves the first one's request",
    file: core("accounts/SecondOperator"),
    in: "isSame",
    find: "a.id === b.id || nameOf(a.name) === nameOf(b.name)",
    replace: "a.id === b.id",
    test: "packages/features/test/adjustments/http/adjustments.test.ts",
    titles: "adjustments: the requester cannot approve an adjustment"
  },
  {
    name: "adjustment-booked-twice",
    bug: "each approval of an adjustment posts it",
    file: feature("adjustments/core/Adjustment"),
    in: "life",
    find: `    from: ["pending"],
    to: "booked",
    sets: ["decidedBy"],
    stamps: ["decidedAtMillis"],
    again: { in: ["booked"] }`,
    replace: `    from: ["pending", "booked"],
    to: "booked",
    sets: ["decidedBy"],
    stamps: ["decidedAtMillis"],
    again: { in: ["rejected"] }`,
    test: inMemory,
    titles: "adjustment:"
  },
  {
    name: "adjustment-unverified",
    bug: "verification accepts any manual booking",
    file: postgres("reads/Posted"),
    in: "ofCompany",
    find: ") as v(account, amount)`",
    replace: ") as v(account, amount) where false`",
    test: inSql,
    titles: "adjustment:"
  }
]
