import { type Canary, coreTest, feature, inSql } from "../../../../test/defences/Canary.ts"

export const statements: ReadonlyArray<Canary> = [
  {
    name: "statement-without-reversals",
    bug: "a statement omits reversals by reorganizations",
    file: feature("statements/core/Statement"),
    in: "sent",
    find: `Msat.sum(withdrawals.amount, reversals.amount, `,
    replace: `Msat.sum(withdrawals.amount, Msat.make(reversals.amount * 0n), `,
    test: coreTest("Bookings"),
    titles: "statement: the opening balance, receipts, payments and fees"
  },
  {
    name: "statement-runs-a-name",
    bug: "a company's name is rendered as HTML in its statement",
    file: "packages/features/src/statements/http/StatementPage.ts",
    in: "page",
    find: `h("p", null, one.company.name,`,
    replace: `h("p", null, Html.raw("span", one.company.name),`,
    test: "packages/http/test/exports.test.ts",
    titles: "the page runs no scripts"
  },
  {
    name: "closed-month-takes-more",
    bug: "a late booking for a closed month changes its final statement",
    file: feature("statements/postgres/Reads"),
    in: "turnovers",
    find: "and (ends.closed is null or id <= ends.closed)",
    replace: "and (ends.closed is null or id > 0)",
    test: inSql,
    titles: "an open month includes everything|a month end closes every earlier month"
  },
  {
    name: "late-is-lost",
    bug: "a late booking for a closed month is in no statement",
    file: feature("statements/postgres/Reads"),
    in: "turnovers",
    find: "when ends.opened is null or id <= ends.opened then 'before' else 'late' end",
    replace: "when ends.opened is null or id <= ends.opened then 'before' end",
    test: inSql,
    titles: "an open month includes everything|a month end closes every earlier month"
  },
  {
    name: "month-ends-race",
    bug: "if two processes close a company's months concurrently, both store a month end, and the older one can be the last",
    file: feature("statements/core/MonthEnd"),
    in: "noun",
    find: `unique: [["companyId", "number"]]`,
    replace: "unique: []",
    test: "packages/features/test/statements/core/Statements.test.ts",
    titles: "statement: if two requests close"
  }
]
