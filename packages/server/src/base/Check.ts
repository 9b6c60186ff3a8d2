import * as Hosts from "@satrail/postgres/client/Hosts"
import { Cause, Effect, Redacted, Result } from "effect"
import { isPath } from "./Files.ts"

/** What a check found. Whatever is not right has a remedy: what the operator does about it, in sentences. */
export type Line =
  | { readonly _tag: "Right"; readonly says: string }
  | { readonly _tag: "Warning"; readonly says: string; readonly remedy: string }
  /** `isFinal`: waiting does not help, so that a service does not start with it. The rest is an outage. */
  | { readonly _tag: "Wrong"; readonly says: string; readonly remedy: string; readonly isFinal: boolean }

/** One subject that is looked at. A backend brings its own, and `Checks.ts` lists it. */
export interface Check {
  /** The first word of its lines, such as `database`. */
  readonly subject: string
  /** It asks others about what does not keep a service from starting, and is made when that runs. */
  readonly isLater?: true
  /** Its outages are logged by its callers from then on: a start does not log them twice. */
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
/** It does not get better by waiting. */
export const misconfigured = (says: string, remedy: string): Line => ({ _tag: "Wrong", says, remedy, isFinal: true })
/** It may be right in a moment. */
export const outage = (says: string, remedy: string): Line => ({ _tag: "Wrong", says, remedy, isFinal: false })

/** Removes every secret of a configuration from a text, wherever another server's response repeats one. */
const withoutSecrets = (secrets: ReadonlyArray<string>) => (text: string) =>
  secrets.reduce((all, secret) => all.replaceAll(secret, "…"), text)

/** The secrets in a value: whatever is `Redacted`, however deep, and the password of a URL. Where a secret is kept is none. */
export const secretsIn = (value: unknown): ReadonlyArray<string> => {
  if (Redacted.isRedacted(value)) {
    const text = String(Redacted.value(value))
    // A database's address may name several hosts, which no URL does.
    const hosts = Result.getOrUndefined(Hosts.parse(text))
    const password = hosts === undefined ? (URL.parse(text)?.password ?? "") : Redacted.value(hosts.password)
    // A short one would take pieces out of ordinary words.
    return [text, password, decodeURIComponent(password)].filter((one) => one.length >= 6 && !isPath(one))
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : []
}

/** Makes every check at once, each within the limit. One that breaks is a line like any other. No line has one of the secrets in it. */
export const run = (checks: ReadonlyArray<Check>, limitMillis: number, secrets: ReadonlyArray<string>) => {
  const clean = withoutSecrets(secrets)
  const bounded = ({ subject, isWatched = false, lines }: Check): Effect.Effect<ReadonlyArray<Found>> =>
    lines.pipe(
      Effect.timeoutOrElse({
        duration: limitMillis,
        orElse: () =>
          Effect.succeed([outage(`no answer within ${limitMillis / 1000} s`, "Look whether it is there, and can be reached from here.")])
      }),
      Effect.catchCause((cause) =>
        Effect.succeed([outage(`the check failed: ${messageOf(Cause.squash(cause))}`, "Report it: a check must not break.")])
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

/** Whether a start logs it. */
export const isLogged = ({ line, isWatched }: Found): boolean => line._tag === "Warning" || (line._tag === "Wrong" && !isWatched)

const signs = { Right: "✓", Warning: "!", Wrong: "✗" } as const

/** A sentence that another may follow. */
const sentence = (text: string) => (/[.?!:]$/.test(text) ? text : `${text}.`)

/** One line: a sign, the subject, what was found and what to do. */
export const text = ({ subject, line }: Pick<Found, "subject" | "line">): string => {
  const said = line._tag === "Right" ? line.says : `${sentence(line.says)} ${line.remedy}`
  return `${signs[line._tag]} ${subject}: ${said.replaceAll(/\s*\n\s*/g, " ")}`
}
