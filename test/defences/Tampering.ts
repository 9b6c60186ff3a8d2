/**
 * Manipulations of the tables that bypass the service: with the service's own role, and as the tables' owner.
 */
export interface Tampering {
  readonly what: string
  readonly application: string
  readonly owner: string
}

const refused = "Refused by PostgreSQL: the role lacks the privilege"
const compared = "Found by `satrail verify` (it compares records with the audit log and names this one), at its next run"
const seal = "Found by `satrail verify` (the entry is unsigned or a copy), at its next run"
const end = "Found by `satrail verify` (the chain's last hash and length are stored separately), at its next run"
const logged =
  "If an older last hash was restored too, `verify` alone names only records that the removed entries had changed. With `--audit-head` and a head that was logged or sent to the operator's webhooks after the removed entries (hourly), it also finds the removal"

/** The page's table, in its order. */
export const tamperings: ReadonlyArray<Tampering> = [
  { what: "audit entries changed", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "audit entries removed at the end", application: refused, owner: `${end}. ${logged}` },
  { what: "audit entries removed in the middle", application: refused, owner: "Found by `satrail verify` (hashes), at its next run" },
  { what: "all audit entries removed", application: refused, owner: `${end}. ${logged}` },
  { what: "the links removed", application: refused, owner: `${end}; entries without a link are a violation after a minute` },
  { what: "an audit entry appended", application: seal, owner: seal },
  { what: "a key's hash or scopes changed", application: refused, owner: compared },
  { what: "an operator token inserted", application: compared, owner: compared },
  { what: "a limit raised", application: compared, owner: compared },
  { what: "a webhook URL changed", application: compared, owner: compared },
  {
    what: "a ledger posting changed",
    application: refused,
    owner: "Found by `satrail verify` (it recomputes the books from the entries), at its next run"
  }
]
