import { parseArgs } from "node:util"

/** The kinds of projects. */
export const kinds = [
  ["shop", "orders with a payment page"],
  ["wallet", "an account for each user"],
  ["payouts", "send to many people"],
  ["bare", "the smallest program"]
] as const
export type Kind = (typeof kinds)[number][0]

export const frameworks = [
  ["none", "Node's own server"],
  ["express", "Express"],
  ["fastify", "Fastify"],
  ["hono", "Hono"],
  ["next", "Next.js"]
] as const
export type Framework = (typeof frameworks)[number][0]

/** The choices that define a project. */
export interface Choices {
  /** The folder, as the user entered it. */
  readonly folder: string
  readonly kind: Kind
  readonly framework: Framework
}

export interface Asked {
  /**
   * The choices that were passed as flags. The program asks for the remaining ones or, with `--yes`, uses their
   * defaults.
   */
  readonly given: { readonly [K in keyof Choices]: Choices[K] | undefined }
  readonly yes: boolean
  readonly json: boolean
  readonly help: boolean
}

export const defaults: Choices = { folder: "my-satrail", kind: "shop", framework: "none" }

const names = <const N extends string>(all: ReadonlyArray<readonly [N, string]>): string =>
  all.map(([name]) => name).join(", ")

export const help = `Usage: npm create satrail [FOLDER] -- [OPTIONS]
  --kind KIND            ${names(kinds)}
  --framework FRAMEWORK  ${names(frameworks)}
  --yes                  ask nothing: ${defaults.folder}, ${defaults.kind} and ${defaults.framework} unless given
  --json                 ask nothing, and print the result as one line of JSON`

/** The command line is invalid. */
export class Refused extends Error {}

/** Returns the name if it is valid, or undefined if none was given. Throws if it is invalid. */
export const oneOf = <N extends string>(
  what: string,
  all: ReadonlyArray<readonly [N, string]>,
  given: string | undefined
): N | undefined => {
  if (given === undefined) return undefined
  const found = all.find(([name]) => name === given)
  if (found === undefined)
    throw new Refused(`${what} must be one of ${names(all)} (got ${JSON.stringify(given)})`)
  return found[0]
}

/**
 * Validates the folder for a project. Its name must be a valid package name.
 */
export const folderOf = (given: string): string => {
  const name =
    given
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1) ?? ""
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || /\p{Cc}/u.test(given))
    throw new Refused(
      `The folder's name must consist of a-z, 0-9, ".", "_" and "-", and its path of printable characters (got ${JSON.stringify(given)})`
    )
  return given
}

/** Parses the command line. */
export const read = (args: ReadonlyArray<string>): Asked => {
  const options = {
    kind: { type: "string" },
    framework: { type: "string" },
    yes: { type: "boolean", short: "y", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false }
  } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [folder, more] = positionals
    if (more !== undefined)
      throw new Refused(
        `Only one folder can be given (got ${positionals.join(", ")}). npm needs -- before options.`
      )
    return {
      given: {
        folder: folder === undefined ? undefined : folderOf(folder),
        kind: oneOf("--kind", kinds, values.kind),
        framework: oneOf("--framework", frameworks, values.framework)
      },
      yes: values.yes || values.json,
      json: values.json,
      help: values.help
    }
  } catch (error) {
    if (error instanceof TypeError) throw new Refused(error.message, { cause: error })
    throw error
  }
}
