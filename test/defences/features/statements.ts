import { type Canary, core, postgres, coreTest, inSql } from "../Canary.ts"

export const statements: ReadonlyArray<Canary> = [
  {
    name: "statement-without-reversals",
    rows: [],
    bug: "a statement does not say what the chain took back",
    file: core("features/statements/Statement"),
    find: `Msat.sum(withdrawals.amount, reversals.amount, debits.amount)`,
    replace: `Msat.sum(withdrawals.amount, Msat.make(reversals.amount * 0n), debits.amount)`,
    test: coreTest("Bookings"),
    titles: "statement: opening, in, out and fees"
  },
  {
    name: "statement-runs-a-name",
    rows: [],
    bug: "the name of a company is HTML on its statement",
    file: "packages/http/src/features/statements/StatementPage.ts",
    find: "<p>${Html.escaped(one.company.name)}<br>",
    replace: "<p>${one.company.name}<br>",
    test: "packages/http/test/exports.test.ts",
    titles: "the page runs nothing"
  },
  {
    name: "closed-month-takes-more",
    rows: [],
    bug: "what is committed into a closed month is in its statement, which was told as final without it",
    file: postgres("features/statements/Reads"),
    find: "and (ends.closed is null or id <= ends.closed)",
    replace: "and (ends.closed is null or id > 0)",
    test: inSql,
    titles: "an open month has everything|a month end closes every month"
  },
  {
    name: "late-is-lost",
    rows: [],
    bug: "what is committed into a closed month is in no statement",
    file: postgres("features/statements/Reads"),
    find: "when ends.opened is null or id <= ends.opened then 'before' else 'late' end",
    replace: "when ends.opened is null or id <= ends.opened then 'before' end",
    test: inSql,
    titles: "an open month has everything|a month end closes every month"
  },
  {
    name: "month-ends-race",
    rows: [],
    bug: "of two who close a company's months at once each has an end, and the one with less comes last",
    file: core("features/statements/MonthEnd"),
    find: `unique: [["companyId", "number"]]`,
    replace: "unique: []",
    test: "packages/core/test/Statements.test.ts",
    titles: "statement: of two who close"
  }
]
