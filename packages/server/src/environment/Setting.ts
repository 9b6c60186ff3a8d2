import { Config, Effect, Record, Redacted, Result, Schema, SchemaIssue } from "effect"

/** How a text becomes a value. `wants` completes "NAME wants …"; a secret's text is not repeated where it is wrong. */
export interface Kind<A> {
  readonly wants: string
  readonly isSecret?: true
  /** What is wrong with a text, where more can be said than what is wanted; repeats nothing of a secret. */
  readonly problem?: (text: string) => string | undefined
  /** Undefined where the text is not what is wanted. */
  readonly read: (text: string, name: string) => A | undefined
}

/** One variable. */
export interface Definition<A> extends Kind<A> {
  readonly name: string
  readonly meaning: string
}

/** One variable as effect's `Config`, with what the documentation says of it. A variable that is empty is one that is not given. */
export interface Setting<A> extends Config.Config<A> {
  readonly name: string
  readonly meaning: string
  readonly wants: string
  /** What is read where it is not given; empty where there is no default. */
  readonly fallback: string
  /** The same without being required: it may be missing. */
  readonly unused: Config.Config<unknown>
}

export type Settings = Readonly<Record<string, Setting<unknown>>>

/** What settings are read as. */
export type Values<S extends Readonly<Record<string, Config.Config<unknown>>>> = {
  readonly [K in keyof S]: Config.Success<S[K]>
}

const errorOf = (problems: ReadonlyArray<string>) =>
  new Config.ConfigError(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: problems.join("\n") })))

/** Fails with these problems, a line each. */
export const refused = (...problems: ReadonlyArray<string>): Config.Config<never> => Config.fail(errorOf(problems).cause)

/** What is wrong, a line each. */
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

const given = <A>(definition: Definition<A>) => Config.mapEffect(Config.String(definition.name), parse(definition))

const make = <A, B>(definition: Definition<B>, config: Config.Config<A>, fallback = ""): Setting<A> => {
  const { name, meaning, wants } = definition
  return Object.assign(config, { name, meaning, wants, fallback, unused: Config.option(given(definition)) })
}

/** Undefined where it is not given. */
export const optional = <A>(definition: Definition<A>): Setting<A | undefined> =>
  make(definition, Config.withDefault(given(definition), undefined))

/** Its `fallback`, a text as anybody would give it, where it is not given. */
export const withDefault = <A>(definition: Definition<A> & { readonly fallback: string }): Setting<A> => {
  const text = Config.withDefault(Config.String(definition.name), definition.fallback)
  return make(definition, Config.mapEffect(text, parse(definition)), definition.fallback)
}

/** What cannot be done without, where another setting says so, such as `LIGHTNING=lnd`. */
export const neededWith =
  (other: string) =>
  <A>(definition: Definition<A>): Setting<A> => {
    const { name, meaning, wants } = definition
    const config = Config.flatMap(optional(definition), (value) =>
      value === undefined ? refused(`${name} is needed with ${other}: ${wants}`) : Config.succeed(value)
    )
    return make({ ...definition, meaning: `${meaning}; needed with ${other}` }, config)
  }

/** What it is, or why it is not. */
const attempt = <A>(config: Config.Config<A>): Config.Config<Result.Result<A, Config.ConfigError>> =>
  Config.orElse(Config.map(config, Result.succeed), (error) => Config.succeed(Result.fail(error)))

/** All of them, or every problem that there is with any, each once. `Config.all` stops at the first. */
export const all = <const S extends Readonly<Record<string, Config.Config<unknown>>>>(configs: S): Config.Config<Values<S>> =>
  Config.flatMap(Config.all(Record.map(configs, attempt)), (attempts) => {
    const problems = new Set(Object.values(Record.getFailures(attempts)).flatMap(problemsOf))
    // oxlint-disable-next-line typescript/consistent-type-assertions -- the successes of all of `configs`, by their names
    return problems.size === 0 ? Config.succeed(Record.getSuccesses(attempts) as Values<S>) : refused(...problems)
  })

/** The same, without their types. */
export const right = (configs: ReadonlyArray<Config.Config<unknown>>): Config.Config<void> =>
  Config.map(all(Object.fromEntries(configs.entries())), () => undefined)

/** What can be named in a setting: a member of a table. */
export interface Choice<A> {
  readonly name: string
  readonly settings: Settings
  readonly config: Config.Config<A>
}

/** What `name` names in the table; undefined where it is none of them. Settings of the others are not used, and reported all the same where they are wrong. */
export const chosen = <A>(name: Config.Config<string>, table: ReadonlyArray<Choice<A>>): Config.Config<A | undefined> =>
  Config.flatMap(
    Config.orElse(name, () => Config.succeed("")),
    (given) => {
      const one = table.find(({ name }) => name === given)
      const others = table.filter((other) => other !== one).flatMap(({ settings }) => Object.values(settings))
      const value: Config.Config<A | undefined> = one?.config ?? Config.succeed(undefined)
      return Config.map(all({ name, value, others: right(others.map(({ unused }) => unused)) }), ({ value }) => value)
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

/** A text that is not shown again. */
export const secret = (wants: string, isRight: (text: string) => boolean = () => true): Kind<Redacted.Redacted> => ({
  wants,
  isSecret: true,
  read: (text, name) => (isRight(text) ? Redacted.make(text, { label: name }) : undefined)
})

/** What a node's preimages are derived from. */
export const invoiceSecret = secret("at least 32 characters without spaces, such as `openssl rand -hex 32` prints", (text) =>
  /^[!-~]{32,}$/.test(text)
)

/** Where a node of ours is. Without TLS only on the loopback. */
export const origin = (wants: string): Kind<string> => ({
  wants,
  read: (text) => {
    const url = URL.parse(text)
    const isPlain = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    return (url?.protocol === "https:" || isPlain) && url?.pathname === "/" && url.username === "" ? url.origin : undefined
  }
})

/** Where a server is that may be asked without TLS. */
export const httpUrl: Kind<string> = {
  wants: "an address such as http://127.0.0.1:8332, without a user in it",
  isSecret: true,
  read: (text) => {
    const url = URL.parse(text)
    return /^https?:$/.test(url?.protocol ?? "") && url?.username === "" && url.password === "" ? text : undefined
  }
}

/** Headers as OpenTelemetry writes them: `name=value,name=value`, values escaped as in a URL. */
export const headers: Kind<Readonly<Record<string, Redacted.Redacted>>> = {
  wants: "names and values such as x-api-key=abc,x-team=pay",
  isSecret: true,
  read: (text, label) => {
    const pairs = text.split(",").map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)=((?:[!-$&-+\--~]|%[0-7][\da-f])*)\s*$/i.exec(pair))
    const read = pairs.flatMap((pair) =>
      pair === null ? [] : [[pair[1] ?? "", Redacted.make(decodeURIComponent(pair[2] ?? ""), { label })] as const]
    )
    return read.length === pairs.length ? Object.fromEntries(read) : undefined
  }
}

export const file: Kind<string> = { wants: "a file's path", read: (text) => text }

/** The one version of a node that is used although it is refused (core's `Versions`). */
export const acceptVersion = (name: string, node: string): Setting<string | undefined> =>
  optional({
    name,
    meaning: `A version of ${node} with known faults that is used all the same, as the refusal at the start writes it. It is for the hours until the update: every start goes on saying what the fault is`,
    wants: "one version such as 0.15.1",
    read: (text) => (/^\d+\.\d+\.\d+$/.test(text) ? text : undefined)
  })
