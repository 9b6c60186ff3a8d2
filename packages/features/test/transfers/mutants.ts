import {
  type Canary,
  core,
  feature,
  featureTest,
  inMemory,
  inSql,
  postgres,
  service
} from "../../../../test/defences/Canary.ts"

export const transfers: ReadonlyArray<Canary> = [
  {
    name: "transfer-returned-twice",
    bug: "two concurrent returns of a transfer both count the same rest",
    file: feature("transfers/core/Transfer"),
    in: "noun",
    find: `["returnOf", "returnedBefore"]`,
    replace: `["returnOf", "id"]`,
    test: inMemory,
    titles: "transfer: of 64 concurrent returns"
  },
  {
    name: "transfer-event-to-the-sender",
    bug: "the sender of a transfer gets the recipient's event",
    file: feature("transfers/core/Transfer"),
    in: "sent",
    find: "companyId: transfer.recipientId, type",
    replace: "companyId: transfer.companyId, type",
    test: inMemory,
    titles: "transfer: the sender gets"
  },
  {
    name: "transfer-unverified",
    bug: "verification looks for every posting at the company that owns the record",
    file: core("ledger/Posts"),
    in: "posted",
    find: "Reflect.get(row, of) === companyId",
    replace: "row.companyId === companyId",
    test: inMemory,
    titles: "transfer:"
  },
  {
    name: "transfer-unverified-sql",
    bug: "SQL verification takes both sides of a transfer for credits",
    file: postgres("reads/Posted"),
    in: "postsOf",
    find: '`${debits ? "-" : ""}${row}',
    replace: "`${row}",
    test: inSql,
    titles: "transfer:"
  },
  {
    name: "transfer-to-itself",
    bug: "a company sends a transfer to itself by writing its id in upper case",
    file: feature("transfers/core/Transfers"),
    in: "make",
    find: "if (id === company.id)",
    replace: "if (to === company.id)",
    test: featureTest("transfers/core/Transfers"),
    titles: "transfers: a company cannot send to itself"
  },
  {
    name: "transfer-limits-the-recipient",
    bug: "a limit of the sender counts the recipient's side of a transfer",
    file: service("memory/Verdict"),
    in: "count",
    find: "leg.companyId === companyId",
    replace: "leg.companyId !== companyId",
    test: inMemory,
    titles: "transfer: a limit counts"
  },
  {
    name: "transfer-limits-the-recipient-sql",
    bug: "in SQL, a limit of the sender counts the recipient's side of a transfer",
    file: postgres("statements/Counts"),
    in: "rowOf",
    find: "leg.companyId === companyId",
    replace: "leg.companyId !== companyId",
    test: inSql,
    titles: "transfer: a limit counts"
  }
]
