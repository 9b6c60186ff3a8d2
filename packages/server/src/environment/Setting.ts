import { Config, Effect, Record, Redacted, Result, Schema, SchemaIssue } from "effect"

/**
 * A parser that turns a setting's text into a value. `wants` completes "NAME must be …". An invalid secret is
 * never repeated.
 */
export interface Kind<A> {
  readonly wants: string
  readonly isSecret?: true
  /** Returns a more precise description of the problem than `wants`, if there is one. Never repeats a secret. */
  readonly problem?: (text: string) => string | undefined
  /** Returns undefined if the text is invalid. */
  readonly read: (text: string, name: string) => A | undefined
}

/** A variable. */
export interface Definition<A> extends Kind<A> {
  readonly name: string
  readonly meaning: string
}

/** A variable as Effect's `Config`, with its documentation. An empty variable counts as missing. */
export interface Setting<A> extends Config.Config<A> {
  readonly name: string
  readonly meaning: string
  readonly wants: string
  /** The default as text; empty if there is none. */
  readonly fallback: string
  /** Parses the same variable, but as optional. Used for the settings of backends that were not chosen. */
  readonly unused: Config.Config<unknown>
}

export type Settings = Readonly<Record<string, Setting<unknown>>>

/** The values of settings. */
export type Values<S extends Readonly<Record<string, Config.Config<unknown>>>> = {
  readonly [K in keyof S]: Config.Success<S[K]>
}

const errorOf = (problems: ReadonlyArray<string>) =>
  new Config.ConfigError(
    new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: problems.join("\n") }))
  )

/** Returns a config that fails with these problems, one line each. */
export const refused = (...problems: ReadonlyArray<string>): Config.Config<never> =>
  Config.fail(errorOf(problems).cause)

/** Returns the problems, one line each. */
export const problemsOf = ({ cause }: Config.ConfigError): ReadonlyArray<string> => cause.message.split("\n")

const parse =
  <A>({ name, wants, isSecret, problem, read }: Definition<A>) =>
  (text: string): Effect.Effect<A, Config.ConfigError> => {
    const value = read(text, name)
    const why = value === undefined ? problem?.(text) : undefined
    const got = isSecret ? "something else (not shown, it is a secret)" : JSON.stringify(text)
    return value === undefined
      ? Effect.fail(errorOf([`${name} must be ${wants}, got ${got}${why === undefined ? "" : `: ${why}`}`]))
      : Effect.succeed(value)
  }

const given = <A>(definition: Definition<A>) =>
  Config.mapEffect(Config.String(definition.name), parse(definition))

const make = <A, B>(definition: Definition<B>, config: Config.Config<A>, fallback = ""): Setting<A> => {
  const { name, meaning, wants } = definition
  return Object.assign(config, { name, meaning, wants, fallback, unused: Config.option(given(definition)) })
}

/** A setting that is undefined if the variable is missing. */
export const optional = <A>(definition: Definition<A>): Setting<A | undefined> =>
  make(definition, Config.withDefault(given(definition), undefined))

/** A setting that uses `fallback` if the variable is missing. The fallback is parsed like any other text. */
export const withDefault = <A>(definition: Definition<A> & { readonly fallback: string }): Setting<A> => {
  const text = Config.withDefault(Config.String(definition.name), definition.fallback)
  return make(definition, Config.mapEffect(text, parse(definition)), definition.fallback)
}

/** A setting required by another setting, such as `LIGHTNING=lnd`. */
export const neededWith =
  (other: string) =>
  <A>(definition: Definition<A>): Setting<A> => {
    const { name, meaning, wants } = definition
    const config = Config.flatMap(optional(definition), (value) =>
      value === undefined ? refused(`${name} is required with ${other}: ${wants}`) : Config.succeed(value)
    )
    return make({ ...definition, meaning: `${meaning}; required with ${other}` }, config)
  }

/** Returns the value or the error. */
const attempt = <A>(config: Config.Config<A>): Config.Config<Result.Result<A, Config.ConfigError>> =>
  Config.orElse(Config.map(config, Result.succeed), (error) => Config.succeed(Result.fail(error)))

/** Returns all values, or every distinct problem. `Config.all` stops at the first. */
export const all = <const S extends Readonly<Record<string, Config.Config<unknown>>>>(
  configs: S
): Config.Config<Values<S>> =>
  Config.flatMap(Config.all(Record.map(configs, attempt)), (attempts) => {
    const problems = new Set(Object.values(Record.getFailures(attempts)).flatMap(problemsOf))
    if (problems.size > 0) return refused(...problems)
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the successes of all `configs`, by their names
    return Config.succeed(Record.getSuccesses(attempts) as Values<S>)
  })

/** Like `all`, but returns no values. */
export const right = (configs: ReadonlyArray<Config.Config<unknown>>): Config.Config<void> =>
  Config.map(all(Object.fromEntries(configs.entries())), () => undefined)

/** A table entry that a setting can name. */
export interface Choice<A> {
  readonly name: string
  readonly settings: Settings
  readonly config: Config.Config<A>
}

/**
 * Returns the entry called `name`; undefined if there is none. Settings of other entries are ignored, but
 * invalid ones are still reported.
 */
export const chosen = <A>(
  name: Config.Config<string>,
  table: ReadonlyArray<Choice<A>>
): Config.Config<A | undefined> =>
  Config.flatMap(
    Config.orElse(name, () => Config.succeed("")),
    (given) => {
      const one = table.find(({ name }) => name === given)
      const others = table.filter((other) => other !== one).flatMap(({ settings }) => Object.values(settings))
      const value: Config.Config<A | undefined> = one?.config ?? Config.succeed(undefined)
      return Config.map(
        all({ name, value, others: right(others.map(({ unused }) => unused)) }),
        ({ value }) => value
      )
    }
  )

export const whole = (minimum: number, maximum: number): Kind<number> => ({
  wants: `a whole number from ${minimum} to ${maximum}`,
  read: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= minimum && value <= maximum ? value : undefined
  }
})

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>): Kind<A> => ({
  wants: `one of ${values.join(", ")}`,
  read: (text) => values.find((value) => value === text)
})

const answers: ReadonlyMap<string, boolean> = new Map([
  ["yes", true],
  ["no", false]
])

export const yesOrNo: Kind<boolean> = { wants: "one of yes, no", read: (text) => answers.get(text) }

/** A string that is never displayed or logged. */
export const secret = (
  wants: string,
  isRight: (text: string) => boolean = () => true
): Kind<Redacted.Redacted> => ({
  wants,
  isSecret: true,
  read: (text, name) => (isRight(text) ? Redacted.make(text, { label: name }) : undefined)
})

/** The secret from which a node's preimages are derived. */
export const invoiceSecret = secret(
  "at least 32 characters without spaces, such as the output of `openssl rand -hex 32`",
  (text) => /^[!-~]{32,}$/.test(text)
)

/** The address of our node. An address without TLS is accepted only on the loopback interface. */
export const origin = (wants: string): Kind<string> => ({
  wants,
  read: (text) => {
    const url = URL.parse(text)
    const isPlain = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    return (url?.protocol === "https:" || isPlain) && url?.pathname === "/" && url.username === ""
      ? url.origin
      : undefined
  }
})

/** The address of a server that may be called without TLS. */
export const httpUrl: Kind<string> = {
  wants: "a URL such as http://127.0.0.1:8332, without a user name",
  isSecret: true,
  read: (text) => {
    const url = URL.parse(text)
    return /^https?:$/.test(url?.protocol ?? "") && url?.username === "" && url.password === ""
      ? text
      : undefined
  }
}

/** Headers in OpenTelemetry's format: `name=value,name=value`, with values escaped as in a URL. */
export const headers: Kind<Readonly<Record<string, Redacted.Redacted>>> = {
  wants: "names and values such as x-api-key=abc,x-team=pay",
  isSecret: true,
  read: (text, label) => {
    const pairs = text
      .split(",")
      .map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)=((?:[!-$&-+\--~]|%[0-7][\da-f])*)\s*$/i.exec(pair))
    const read = pairs.flatMap((pair) =>
      pair === null
        ? []
        : [[pair[1] ?? "", Redacted.make(decodeURIComponent(pair[2] ?? ""), { label })] as const]
    )
    return read.length === pairs.length ? Object.fromEntries(read) : undefined
  }
}

export const file: Kind<string> = { wants: "a file's path", read: (text) => text }

/** The one node version that is accepted despite known bugs (core's `Versions`). */
export const acceptVersion = (name: string, node: string): Setting<string | undefined> =>
  optional({
    name,
    meaning: `Allows a version of ${node} with known bugs. Copy it exactly from the startup error. Use it only until you can update. The bug is still reported at every startup`,
    wants: "one version such as 0.15.1",
    read: (text) => (/^\d+\.\d+\.\d+$/.test(text) ? text : undefined)
  })
