import type { Words } from "@satrail/core/base/Outage"
import type { SqlError } from "effect/sql"

// What each SQLSTATE means to us, decided once: https://www.postgresql.org/docs/current/errcodes-appendix.html. A code goes before its class, the first two
// characters; what is in no line is our own mistake.

type Tag = SqlError.SqlError["reason"]["_tag"]

export interface Meaning extends Words {
  readonly tag: Tag
  /** The connection is not used again: `this` one, or `all` that are open, since each leads to the same place. */
  readonly drops?: "this" | "all"
}

const restart = "It recovers by itself after a restart; if not, start it and check its log."
const full = "Free some space on the disk of the database, or enlarge it: nothing is lost, and the service recovers by itself."
const letIn = "Are user and password in DATABASE_URL right, and does pg_hba.conf let them in?"
const damaged =
  "Stop the service. Copy the data directory before anything else, and restore the last backup beside it (docs/guides/deploy.md)."

const pooled: Meaning = {
  tag: "ConnectionError",
  drops: "this",
  reason: "this is a pooler in transaction mode, which does not keep the prepared statements of a connection",
  remedy: "Use the direct URL of the database in DATABASE_URL, or the pooler's session mode (docs/guides/database.md)."
}

const states: { readonly [codeOrClass: string]: Meaning } = {
  // Connection exception. A protocol violation would be ours.
  "08": { tag: "ConnectionError", drops: "this", reason: "the connection to the database broke", remedy: restart },
  "08P01": { tag: "UnknownError" },
  // Data exception: a value that we should not have sent.
  "22": { tag: "UnknownError" },
  "23": { tag: "ConstraintError" },
  "23505": { tag: "UniqueViolation" },
  // Invalid transaction state: ours, but for a server that only reads, or that ended the session of a transaction that stood still.
  "25": { tag: "UnknownError" },
  "25006": {
    tag: "ConnectionError",
    drops: "all",
    reason: "the database takes no writes: it is a replica, or was the primary before a failover",
    remedy:
      "Name all hosts in DATABASE_URL, or the primary; behind a proxy wait until that has found it. If it is the primary, look at default_transaction_read_only."
  },
  "25P03": { tag: "ConnectionError", drops: "this", reason: "the database ended a transaction that stood still" },
  "25P04": { tag: "ConnectionError", drops: "this", reason: "the database ended a transaction that took too long" },
  // A prepared statement is not there, or is there already: the session is not the one that it was prepared in.
  "26000": pooled,
  "28": { tag: "AuthenticationError", reason: "the database does not let us in", remedy: letIn },
  // Transaction rollback: another transaction was faster. With 40003 it is unknown whether it was committed.
  "40": { tag: "SerializationError", reason: "the database is too busy" },
  "40003": { tag: "ConnectionError", drops: "this", reason: "the connection to the database broke", remedy: restart },
  "40P01": { tag: "DeadlockError", reason: "the database is too busy" },
  "42": { tag: "SqlSyntaxError" },
  "42P05": pooled,
  "42501": {
    tag: "AuthorizationError",
    reason: "the database denies us a right",
    remedy: "Run `satrail migrate` as the owner of the tables: it gives the service its rights again (docs/guides/database.md)."
  },
  // Insufficient resources. The connection is as good as before.
  "53": { tag: "ConnectionError", reason: "the database is out of resources", remedy: "Look into its log." },
  "53100": { tag: "ConnectionError", reason: "the disk of the database is full", remedy: full },
  "53200": {
    tag: "ConnectionError",
    reason: "the database is out of memory",
    remedy: "Give it more, or fewer connections (max_connections, work_mem)."
  },
  "53300": {
    tag: "ConnectionError",
    reason: "the database has no connection to spare",
    remedy: "Raise max_connections, or lower SATRAIL_DATABASE_CONNECTIONS of each process."
  },
  "55P03": { tag: "LockTimeoutError", reason: "the database is too busy" },
  // Operator intervention.
  "57": { tag: "ConnectionError", drops: "this", reason: "the database is being stopped or started", remedy: restart },
  "57014": { tag: "StatementTimeoutError", reason: "the database takes too long" },
  "57P04": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the database was dropped",
    remedy: "Restore it from a backup, or name another in DATABASE_URL."
  },
  // System error: the machine under the database.
  "58": {
    tag: "ConnectionError",
    reason: "the machine of the database has an error",
    remedy: "Look into the log of the database and of its machine, and at its disks."
  },
  // Internal error: a bug, theirs or ours, and nothing that waiting mends. Damage is for a person.
  XX: { tag: "UnknownError" },
  XX001: { tag: "ConnectionError", reason: "the data of the database is damaged", remedy: damaged },
  XX002: { tag: "ConnectionError", reason: "an index of the database is damaged", remedy: damaged }
}

/** The database's codes are five digits and capital letters. Others are the network's: ECONNRESET, SELF_SIGNED_CERT_IN_CHAIN. */
export const isState = (code: string | undefined): code is string =>
  code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code)

const mistake: Meaning = { tag: "UnknownError" }

/** What a code means; what has none broke on the way. */
export const meaningOf = (code: string | undefined, message = ""): Meaning => {
  if (isState(code)) return states[code] ?? states[code.slice(0, 2)] ?? mistake
  const remedy = `${message === "" ? "" : `${message}. `}Is the database running, and is its address right?`
  return { tag: "ConnectionError", drops: "this", reason: "the database does not answer", remedy }
}
