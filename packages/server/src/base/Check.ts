import * as Hosts from "@satrail/postgres/client/Hosts"
import { Cause, Effect, Redacted, Result } from "effect"
import { isPath } from "./Files.ts"

/** One finding of a check. Every problem has a remedy, which tells the operator in full sentences what to do. */
export type Line =
  | { readonly _tag: "Right"; readonly says: string }
  | { readonly _tag: "Warning"; readonly says: string; readonly remedy: string }
  /** If `isFinal` is set, waiting doesn't help, so the service doesn't start. Otherwise the problem is an outage. */
  | { readonly _tag: "Wrong"; readonly says: string; readonly remedy: string; readonly isFinal: boolean }

/** A check of one subject. Each backend defines its own checks, and `Checks.ts` lists all of them. */
export interface Check {
  /** The first word of the check's lines, such as `database`. */
  readonly subject: string
  /**
   * Set for a check that calls other servers and cannot prevent startup. The check runs after the service has
   * started.
   */
  readonly isLater?: true
  /** Set if the code that calls this subject logs its outages, so that startup doesn't log them as well. */
  readonly isWatched?: boolean
  readonly lines: Effect.Effect<ReadonlyArray<Line>>
}

export interface Found {
  readonly subject: string
  readonly isWatched: boolean
  readonly line: Line
}

export const right = (says: string): Line => ({ _tag: "Right", says })
export const warning = (says: string, remedy: string): Line => ({ _tag: "Warning", says, remedy })
/** A problem that waiting doesn't solve. */
export const misconfigured = (says: string, remedy: string): Line => ({
  _tag: "Wrong",
  says,
  remedy,
  isFinal: true
})
/** A problem that may be temporary. */
export const outage = (says: string, remedy: string): Line => ({
  _tag: "Wrong",
  says,
  remedy,
  isFinal: false
})

/** Leaves out what does not apply. */
export const applying = <A extends object>(all: ReadonlyArray<A | false>): ReadonlyArray<A> =>
  all.filter((one) => one !== false)

/**
 * Redacts all secrets of a configuration in a string. Another server's response could contain one.
 */
const withoutSecrets = (secrets: ReadonlyArray<string>) => (text: string) =>
  secrets.reduce((all, secret) => all.replaceAll(secret, "…"), text)

/**
 * Returns the secrets in a value: every `Redacted`, at any depth, and the password of a URL. The path of a file
 * that contains a secret is not a secret.
 */
export const secretsIn = (value: unknown): ReadonlyArray<string> => {
  if (Redacted.isRedacted(value)) {
    const text = String(Redacted.value(value))
    // A database address may name several hosts, which `URL` doesn't support.
    const hosts = Result.getOrUndefined(Hosts.parse(text))
    const password = hosts === undefined ? (URL.parse(text)?.password ?? "") : Redacted.value(hosts.password)
    // Skip short secrets, because redacting them would mangle ordinary words.
    return [text, password, Hosts.decoded(password) ?? password].filter(
      (one) => one.length >= 6 && !isPath(one)
    )
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : []
}

/**
 * Runs all checks concurrently, each with the time limit. A check that crashes is reported as a line. No line
 * contains any of the secrets.
 */
export const run = (checks: ReadonlyArray<Check>, limitMillis: number, secrets: ReadonlyArray<string>) => {
  const clean = withoutSecrets(secrets)
  const bounded = ({ subject, isWatched = false, lines }: Check): Effect.Effect<ReadonlyArray<Found>> =>
    lines.pipe(
      Effect.timeoutOrElse({
        duration: limitMillis,
        orElse: () =>
          Effect.succeed([
            outage(
              `no response within ${limitMillis / 1000} s`,
              "Check that it is running and reachable from this machine."
            )
          ])
      }),
      Effect.catchCause((cause) =>
        Effect.succeed([
          outage(
            `the check failed: ${messageOf(Cause.squash(cause))}`,
            "This is a bug in satrail, please report it."
          )
        ])
      ),
      Effect.map((lines) =>
        lines.map((line) => {
          const cleaned = line._tag === "Right" ? line : { ...line, remedy: clean(line.remedy) }
          return { subject, isWatched, line: { ...cleaned, says: clean(line.says) } }
        })
      )
    )
  return Effect.map(Effect.forEach(checks, bounded, { concurrency: "unbounded" }), (found) => found.flat())
}

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

export const isWrong = ({ line }: Found): boolean => line._tag === "Wrong"
export const isFinal = ({ line }: Found): boolean => line._tag === "Wrong" && line.isFinal

/** Returns whether a finding is logged at startup. */
export const isLogged = ({ line, isWatched }: Found): boolean =>
  line._tag === "Warning" || (line._tag === "Wrong" && !isWatched)

const signs = { Right: "✓", Warning: "!", Wrong: "✗" } as const

/** Ends a string with a period, so that another sentence can follow. */
const sentence = (text: string) => (/[.?!:]$/.test(text) ? text : `${text}.`)

/** Formats a finding as one line: a sign, the subject, the finding and the remedy. */
export const text = ({ subject, line }: Pick<Found, "subject" | "line">): string => {
  const said = line._tag === "Right" ? line.says : `${sentence(line.says)} ${line.remedy}`
  return `${signs[line._tag]} ${subject}: ${said.replaceAll(/\s*\n\s*/g, " ")}`
}
