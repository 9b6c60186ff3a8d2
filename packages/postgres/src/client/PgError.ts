import type { Words } from "@satrail/core/base/Outage"
import { Option, Schema } from "effect"
import { SqlError } from "effect/sql"
import * as SqlState from "./SqlState.ts"

/** A pooler that does not keep a connection's session. */
export class TransactionPooler extends Error {
  override readonly name = "TransactionPooler"
  constructor() {
    super(
      "this is a pooler in transaction mode, which does not keep the settings and prepared statements of a connection"
    )
  }
}

/**
 * Codes of a server that is not running yet: nothing listens, there is no socket or name yet, the host does not respond,
 * or the server is starting (57P03).
 */
const startingCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "ETIMEDOUT",
  "57P03"
])

/** The database did not respond, or refused access, when the program started. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  /** The address, never with a password. */
  where: Schema.String,
  cause: Schema.Defect()
}) {
  get isPooled(): boolean {
    return this.cause instanceof TransactionPooler
  }

  /** Returns whether the server may be starting, so that waiting can help. */
  get isStarting(): boolean {
    return startingCodes.has(codeOf(this.cause))
  }

  /** The remedy for an error that the server returned; undefined if the message has one. */
  get remedy(): string | undefined {
    const code = codeOf(this.cause)
    return SqlState.isState(code) && !/^(?:28|3D)/.test(code) ? SqlState.meaningOf(code).remedy : undefined
  }

  override get message(): string {
    const { where } = this
    if (this.cause instanceof TransactionPooler)
      return `${where}: ${this.cause.message}. Use the direct URL of the database, or the pooler's session mode.`
    const why = messageOf(this.cause)
    const code = codeOf(this.cause)
    if (code?.startsWith("28") === true)
      return `The database at ${where} rejected the login: ${why}. Check the user and password.`
    if (isCertificate(code))
      return `The certificate of the server at ${where} is not trusted: ${why}. Check that sslrootcert is the authority that signed it.`
    if (code === "3D000")
      return `The server at ${where} has no database with this name: ${why}. Create it, or use another name.`
    if (SqlState.isState(code))
      return `${why}: the server at ${where} refused the connection with this error.`
    return `No database responds at ${where}: ${why}. Check that it is running and that the address is right.`
  }
}

const Problem = Schema.Struct({
  code: Schema.optional(Schema.String),
  severity: Schema.optional(Schema.String),
  message: Schema.optional(Schema.String),
  constraint: Schema.optional(Schema.String)
})

const problemOf = (cause: unknown) =>
  Option.getOrElse(Schema.decodeUnknownOption(Problem)({ ...Object(cause) }), () => Problem.make({}))

/** Returns an error's code, which comes from PostgreSQL, Node or the pool. */
export const codeOf = (cause: unknown): string | undefined => problemOf(cause).code

/**
 * Returns what an error means. With severity FATAL or PANIC, the server ended the session. PostgreSQL translates
 * these words into some languages, so while connecting the severity is not compared.
 */
export const meaningOf = (cause: unknown, operation: string): SqlState.Meaning => {
  const { code, severity } = problemOf(cause)
  return SqlState.meaningOf(
    code,
    messageOf(cause),
    operation === "connect" || severity === "FATAL" || severity === "PANIC"
  )
}

// https://nodejs.org/api/tls.html#x509-certificate-error-codes
const isCertificate = (code: string | undefined) => code !== undefined && /CERT|ERR_TLS/.test(code)

// Connecting to a host with several addresses fails with an AggregateError, which contains one error per
// address and no message.
export const messageOf = (cause: unknown): string =>
  cause instanceof AggregateError && cause.message === ""
    ? cause.errors.map(messageOf).join("; ")
    : cause instanceof Error
      ? cause.message
      : String(cause)

const reasons = {
  ConnectionError: SqlError.ConnectionError,
  ConstraintError: SqlError.ConstraintError,
  AuthenticationError: SqlError.AuthenticationError,
  AuthorizationError: SqlError.AuthorizationError,
  DeadlockError: SqlError.DeadlockError,
  SerializationError: SqlError.SerializationError,
  SqlSyntaxError: SqlError.SqlSyntaxError,
  LockTimeoutError: SqlError.LockTimeoutError,
  StatementTimeoutError: SqlError.StatementTimeoutError,
  UnknownError: SqlError.UnknownError
}

/**
 * Returns PostgreSQL's error as one of Effect's reasons:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const reasonOf = (cause: unknown, operation: string): SqlError.SqlError["reason"] => {
  const { constraint } = problemOf(cause)
  const props = { cause, operation, message: messageOf(cause) }
  // A bug in this code, such as a value that cannot be sent. Network and pool errors have other classes.
  if (cause instanceof TypeError || cause instanceof RangeError) return new SqlError.UnknownError(props)
  const { tag } = meaningOf(cause, operation)
  return tag === "UniqueViolation"
    ? new SqlError.UniqueViolation({ ...props, constraint: constraint ?? "unknown" })
    : new reasons[tag](props)
}

/** Returns the message that the operator sees for an error of the database or of the connection to it. */
export const wordsOf = ({ reason: { cause, operation = "query" } }: SqlError.SqlError): Words => {
  const { reason, remedy } = meaningOf(cause, operation)
  return { ...(reason !== undefined && { reason }), ...(remedy !== undefined && { remedy }) }
}
