/**
 * Manipulations of the tables that bypass the service: with the service's own role, and as the tables' owner.
 */
export interface Tampering {
  readonly what: string
  readonly application: string
  readonly owner: string
}

const refused = "Refused by PostgreSQL: the role lacks the privilege"
const compared = "Found by `satrail verify` (it compares records with the audit log and names this one)"
const seal = "Found by `satrail verify` (the entry is unsigned or a copy)"
const end = "Found by `satrail verify` (the log's last hash and length are stored separately)"
const logged =
  "If an older last hash was restored too, `verify` names only the records that the removed entries had changed. It also finds the removal if `--audit-head` gives it a head that is newer than the removed entries. A head is logged and sent to the operator's webhooks every hour"

/** The rows of the page's table, in order. */
export const tamperings: ReadonlyArray<Tampering> = [
  { what: "audit entries changed", application: refused, owner: "Found by `satrail verify` (the hashes no longer match)" },
  { what: "audit entries removed at the end", application: refused, owner: `${end}. ${logged}` },
  { what: "audit entries removed in the middle", application: refused, owner: "Found by `satrail verify` (the hashes no longer match)" },
  { what: "all audit entries removed", application: refused, owner: `${end}. ${logged}` },
  { what: "the links removed", application: refused, owner: `${end}; an entry still unlinked after a minute is a violation` },
  { what: "an audit entry appended", application: seal, owner: seal },
  { what: "a key's hash or scopes changed", application: refused, owner: compared },
  { what: "an operator token inserted", application: compared, owner: compared },
  { what: "a limit raised", application: compared, owner: compared },
  { what: "a company's fees replaced by malformed data", application: compared, owner: compared },
  { what: "a webhook URL changed", application: compared, owner: compared },
  {
    what: "a ledger posting changed",
    application: refused,
    owner: "Found by `satrail verify` (it recomputes the books from the entries)"
  }
]
