import { Redacted } from "effect"

/** One variable: what it means, what it is without one, and how its text is read. `wants` completes "… wants". */
export interface Variable<A> {
  readonly name: string
  readonly meaning: string
  readonly fallback: string
  readonly wants: string
  readonly secret?: true
  readonly read: (text: string) => A | undefined
}

/** Where variables are: a process's environment. */
export type Source = Readonly<Record<string, string | undefined>>

/** Reads variables, and gathers what is wrong with them. A secret's value is not repeated. */
export interface Reader {
  /** Undefined where it is not given, and where it is wrong: then there is a problem more. */
  readonly optional: <A>(variable: Variable<A>) => A | undefined
  /** The same of a variable that has a default. */
  readonly required: <A>(variable: Variable<A>) => A
  /** Needed with a setting of another variable, such as `LIGHTNING=lnd`, where `isAsked`. */
  readonly neededFor: <A>(isAsked: boolean, setting: string, variable: Variable<A>) => A
  readonly problem: (text: string) => void
}

export const reader = (env: Source, problems: Array<string>): Reader => {
  const optional = <A>({ name, fallback, wants, secret, read }: Variable<A>): A | undefined => {
    const given = env[name] ?? ""
    const text = given === "" ? fallback : given
    if (text === "") return undefined
    const value = read(text)
    if (value === undefined)
      problems.push(`${name} wants ${wants}, and got ${secret ? "something else (not shown, it is a secret)" : JSON.stringify(text)}`)
    return value
  }
  const required = <A>(variable: Variable<A>): A =>
    // oxlint-disable-next-line typescript/consistent-type-assertions -- undefined only together with a problem, and then nobody gets to see the value
    optional(variable) as A
  return {
    optional,
    required,
    neededFor: (isAsked, setting, variable) => {
      if (isAsked && (env[variable.name] ?? "") === "") problems.push(`${variable.name} is needed with ${setting}: ${variable.wants}`)
      return required(variable)
    },
    problem: (text) => void problems.push(text)
  }
}

export const whole = (minimum: number, maximum: number) => ({
  wants: `a whole number from ${minimum} to ${maximum}`,
  read: (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= minimum && value <= maximum ? value : undefined
  }
})

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>) => ({
  wants: `one of ${values.join(", ")}`,
  read: (text: string) => values.find((value) => value === text)
})

/** A text that is not shown again. */
export const secret = (name: string, isRight: RegExp = /^[^]+$/) => ({
  name,
  fallback: "",
  secret: true as const,
  read: (text: string) => (isRight.test(text) ? Redacted.make(text, { label: name }) : undefined)
})

/** Where a node of ours is. Without TLS only on the loopback. */
export const origin = {
  fallback: "",
  read: (text: string) => {
    const url = URL.parse(text)
    const isPlain = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    return (url?.protocol === "https:" || isPlain) && url?.pathname === "/" && url.username === "" ? url.origin : undefined
  }
}

export const file = { fallback: "", wants: "a file's path", read: (text: string) => text } as const
