/** What somebody does to the tables, past the service: as its own role, and as the tables' owner. */
export interface Tampering {
  readonly what: string
  readonly application: string
  readonly owner: string
}

const refused = "Refused by PostgreSQL: the role has no right to it"
const compared = "Found by `satrail verify` (the record is compared with the audit log, and named), at its next run"
const seal = "Found by `satrail verify` (the entry is not signed, or is a copy of another one), at its next run"
const end = "Found by `satrail verify` (the end of the chain and its length are stored outside it), at its next run"
const logged =
  "Not found by `verify` alone where an older stored end was restored with it, because that was valid once; except that records which the removed entries changed are named. Found by `--audit-head` with a head that was logged, or sent to the operator's webhooks, after the entries were written, each hour"

/** The table of the page, in the order in which it is read. */
export const tamperings: ReadonlyArray<Tampering> = [
  { what: "audit entries changed", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "audit entries removed at the end", application: refused, owner: `${end}. ${logged}` },
  { what: "audit entries removed in the middle", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "all audit entries removed", application: refused, owner: `${end}. ${logged}` },
  { what: "the links removed", application: refused, owner: `${end}; and entries without a link are a fault after a minute` },
  { what: "an audit entry appended", application: seal, owner: seal },
  { what: "a key's hash or scopes changed", application: refused, owner: compared },
  { what: "an operator token inserted", application: compared, owner: compared },
  { what: "a limit raised", application: compared, owner: compared },
  { what: "a webhook URL changed", application: compared, owner: compared },
  {
    what: "a ledger posting changed",
    application: refused,
    owner: "Found by `satrail verify` (the books are counted again from their entries), at its next run"
  }
]
