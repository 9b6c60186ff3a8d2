import {
  type Canary,
  core,
  feature,
  featureTest,
  inMemory,
  inSql,
  postgres
} from "../../../../test/defences/Canary.ts"

const inTest = featureTest("splits/core/Splits")

export const splits: ReadonlyArray<Canary> = [
  {
    name: "split-booked-twice",
    bug: "a deposit that is credited again after a reorganization is shared again",
    file: feature("splits/core/Splits"),
    in: "layerShares",
    find: "found.some((one) => one !== undefined)",
    replace: "found.some((one) => one === null)",
    test: inTest,
    titles: "split: payees keep"
  },
  {
    name: "split-rounded-up",
    bug: "a share is rounded up, so that all shares together can exceed the deposit",
    file: feature("splits/core/Share"),
    in: "amountOf",
    find: "(received * BigInt(basisPoints)) / BigInt(Percent.whole)",
    replace: "(received * BigInt(basisPoints) + BigInt(Percent.whole) - 1n) / BigInt(Percent.whole)",
    test: inTest,
    titles: "split: a share is rounded down"
  },
  {
    name: "split-event-to-the-receiver",
    bug: "the receiver of a deposit gets the events of its payees",
    file: feature("splits/core/Share"),
    in: "shares",
    find: "companyId: one.recipientId,",
    replace: "companyId: one.companyId,",
    test: inMemory,
    titles: "split: each payee gets"
  },
  {
    name: "split-committed-apart",
    bug: "the shares are not added to the Change that credits the deposit",
    file: core("receiving/CreditShares"),
    in: "added",
    find: "legs: together(change.legs, legs)",
    replace: "legs: change.legs",
    test: inMemory,
    titles: "split: a paid invoice"
  },
  {
    name: "split-of-a-repeated-credit-sql",
    bug: "SQL inserts the shares of a credit that was committed before",
    file: postgres("statements/Inserts"),
    in: "written",
    find: "from done d cross join lateral",
    replace: "from asked d cross join lateral",
    test: inSql,
    titles: "split: a paid invoice"
  },
  {
    name: "split-kept-by-a-frozen-payee",
    bug: "a frozen payee gets its share",
    file: feature("splits/core/Splits"),
    in: "layerShares",
    find: "payee.frozen !== null",
    replace: "payee.frozen === undefined",
    test: inTest,
    titles: "split: a frozen payee"
  }
]
