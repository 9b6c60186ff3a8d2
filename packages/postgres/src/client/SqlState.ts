import type { Words } from "@satrail/core/base/Outage"
import type { SqlError } from "effect/sql"

// Defines the meaning of each SQLSTATE once: https://www.postgresql.org/docs/current/errcodes-appendix.html. A
// code takes precedence over its class, which is the code's first two characters. A code that isn't listed is
// our bug, unless it ends the session.

type Tag = SqlError.SqlError["reason"]["_tag"]

export interface Meaning extends Words {
  readonly tag: Tag
  /**
   * Connections that are not used again: `this` one, or `all` open ones, because all lead to the same server.
   */
  readonly drops?: "this" | "all"
}

const restart = "If it is restarting, it recovers automatically. Otherwise, start it and check its log."
const full =
  "Free some space on the database's disk, or enlarge it. Nothing is lost, and the service recovers automatically."
const letIn = "Check the user and password in DATABASE_URL, and that pg_hba.conf allows them."
const damaged =
  "Stop the service. Copy the data directory first, then restore the last backup next to it (docs/guides/deploy.md)."

const pooled: Meaning = {
  tag: "ConnectionError",
  drops: "this",
  reason: "this is a pooler in transaction mode, which does not keep the prepared statements of a connection",
  remedy:
    "Use the direct URL of the database in DATABASE_URL, or the pooler's session mode (docs/guides/database.md)."
}

/** The code of a commit that was not sent, because others still wait for the standby. */
export const unconfirmed = "SR001"

/** The code of a row that a table's check refused. */
export const checkViolation = "23514"

const states: { readonly [codeOrClass: string]: Meaning } = {
  // Connection exception. A protocol violation is our bug.
  "08": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the connection to the database broke",
    remedy: restart
  },
  "08P01": { tag: "UnknownError" },
  // Data exception: a value that we should not have sent.
  "22": { tag: "UnknownError" },
  "23": { tag: "ConstraintError" },
  "23505": { tag: "UniqueViolation" },
  "3D000": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the database does not exist",
    remedy: "Create it or restore it from a backup, or set DATABASE_URL to another one."
  },
  // Invalid transaction state: our bug, unless the server is read-only or ended an idle transaction's
  // session.
  "25": { tag: "UnknownError" },
  "25006": {
    tag: "ConnectionError",
    drops: "all",
    reason: "the database accepts no writes: it is a replica, or was the primary before a failover",
    remedy:
      "List all hosts in DATABASE_URL, or the primary. Behind a proxy, wait until the proxy has found the primary. If it is the primary, check default_transaction_read_only."
  },
  "25P03": { tag: "ConnectionError", drops: "this", reason: "the database ended an idle transaction" },
  "25P04": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the database ended a transaction that took too long"
  },
  // A prepared statement is missing or already exists, so this is not the session in which it was prepared.
  "26000": pooled,
  "28": { tag: "AuthenticationError", reason: "the database rejected the login", remedy: letIn },
  // Transaction rollback: another transaction was faster. With 40003 it is unknown whether it was committed.
  "40": { tag: "SerializationError", reason: "the database is too busy" },
  "40003": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the connection to the database broke",
    remedy: restart
  },
  "40P01": { tag: "DeadlockError", reason: "the database is too busy" },
  "42": { tag: "SqlSyntaxError" },
  "42P05": pooled,
  "42501": {
    tag: "AuthorizationError",
    reason: "the database denies a privilege",
    remedy:
      "Run `satrail migrate` as the owner of the tables, which grants the service its privileges again (docs/guides/database.md)."
  },
  // Insufficient resources. The connection is still usable.
  "53": { tag: "ConnectionError", reason: "the database is out of resources", remedy: "Check its log." },
  "53100": { tag: "ConnectionError", reason: "the disk of the database is full", remedy: full },
  "53200": {
    tag: "ConnectionError",
    reason: "the database is out of memory",
    remedy: "Give it more memory, or allow fewer connections (max_connections, work_mem)."
  },
  "53300": {
    tag: "ConnectionError",
    reason: "the database has no free connection",
    remedy: "Raise max_connections, or lower SATRAIL_DATABASE_CONNECTIONS of each process."
  },
  "55P03": { tag: "LockTimeoutError", reason: "the database is too busy" },
  // Operator intervention.
  "57": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the database is being stopped or started",
    remedy: restart
  },
  "57014": { tag: "StatementTimeoutError", reason: "the database takes too long" },
  "57P04": {
    tag: "ConnectionError",
    drops: "this",
    reason: "the database was dropped",
    remedy: "Restore it from a backup, or set DATABASE_URL to another one."
  },
  // System error of the database's machine.
  "58": {
    tag: "ConnectionError",
    reason: "the machine of the database has an error",
    remedy: "Check the logs of the database and its machine, and the disks."
  },
  // Our own code: sent by no server.
  [unconfirmed]: {
    tag: "ConnectionError",
    reason: "the database confirms no commits, because its standby is away",
    remedy:
      "Start the standby, or another one (docs/guides/high-availability.md). Until then no write is sent. The service recovers automatically."
  },
  // Internal error: a bug in PostgreSQL or satrail that doesn't go away. Damage requires an operator.
  XX: { tag: "UnknownError" },
  XX001: { tag: "ConnectionError", reason: "the data of the database is damaged", remedy: damaged },
  XX002: { tag: "ConnectionError", reason: "an index of the database is damaged", remedy: damaged }
}

/**
 * Returns whether a code is an SQLSTATE: five digits and capital letters. Other codes come from the network:
 * ECONNRESET, SELF_SIGNED_CERT_IN_CHAIN.
 */
export const isState = (code: string | undefined): code is string =>
  code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code)

const mistake: Meaning = { tag: "UnknownError" }

/**
 * Returns the meaning of a code. Errors without a code are connection errors. So is a bug's code if the session
 * ended, or never began: poolers use XX000 for all failures, and PgBouncer 08P01.
 */
export const meaningOf = (code: string | undefined, message = "", isEnded = false): Meaning => {
  const said = message === "" ? "" : `${message}. `
  if (isState(code)) {
    const meaning = states[code] ?? states[code.slice(0, 2)] ?? mistake
    if (meaning.reason !== undefined || !isEnded) return meaning
    const remedy = `${said}Check the log of the database, and of its pooler if there is one.`
    return {
      tag: "ConnectionError",
      drops: "this",
      reason: "the database or its pooler ended the session",
      remedy
    }
  }
  const remedy = `${said}Check that the database is running and that its address is right.`
  return { tag: "ConnectionError", drops: "this", reason: "the database does not respond", remedy }
}
