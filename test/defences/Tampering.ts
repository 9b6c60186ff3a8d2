/** What somebody does to the tables, past the service: as its own role, and as the tables' owner. */
export interface Tampering {
  readonly what: string
  readonly application: string
  readonly owner: string
}

const refused = "Refused by PostgreSQL: the role has no right to it"
const end = "Found by `satrail verify` (the end of the chain and its length are stored outside it), at its next run"
const logged =
  "Not found by `verify` alone where an older stored end was restored with it, because that was valid once. Found by `--audit-head` with a head logged after it was written, each hour"

/** The table of the page, in the order in which it is read. */
export const tamperings: ReadonlyArray<Tampering> = [
  { what: "audit entries changed", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "audit entries removed at the end", application: refused, owner: `${end}. ${logged}` },
  { what: "audit entries removed in the middle", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "all audit entries removed", application: refused, owner: `${end}. ${logged}` },
  {
    what: "the links removed",
    application: refused,
    owner: `${end}; and entries without a link are a fault after a minute`
  },
  {
    what: "a key's hash or scopes changed",
    application: refused,
    owner:
      "Not found, because `verify` does not compare records with the log yet. The log has the fingerprint of the hash and the scopes that were given"
  },
  {
    what: "an operator token inserted",
    application: "Not found, because the application may issue tokens, and `verify` does not compare records with the log yet",
    owner: "Not found, for the same reason. `satrail operators list` shows it"
  },
  {
    what: "a limit raised",
    application:
      "Not found, because limits change, and `verify` does not compare records with the log yet. The log has the value it was given",
    owner: "Not found, for the same reason"
  },
  {
    what: "a webhook URL changed",
    application:
      "Not found, because URLs change, and `verify` does not compare records with the log yet. The log has the value it was given",
    owner: "Not found, for the same reason"
  },
  {
    what: "a ledger posting changed",
    application: refused,
    owner: "Found by `satrail verify` (the books are counted again from their entries), at its next run"
  }
]
