import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  type Stats,
  writeFileSync
} from "node:fs"
import path from "node:path"
import { type Choices, Refused } from "./Choices.ts"
import { servers } from "./templates/server.ts"

/** The version of this package and of the `satrail` dependency in projects. */
export const version: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
).version

/** The minimum Node version, the same as in `@satrail/bitcoin`, on which this package does not depend. */
const minimumNode = "22.19.0"

/** Throws if this Node cannot run the project. An older one would fail only at `npm run dev`, on the first `.ts` file. */
export const checkNode = (version: string): void => {
  if (version.localeCompare(minimumNode, "en", { numeric: true }) < 0)
    throw new Refused(
      `satrail requires Node ${minimumNode} or later, but this is Node ${version}. Install a newer version from https://nodejs.org.`
    )
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const gitignore = "node_modules\n.env\n.satrail\n.next\n"

const env = (
  more: string
) => `# Read by \`npm run dev\`. Settings for mainnet are secrets: keep this file out of version control.
${more}# A PostgreSQL server. Without it, the database is embedded, in .satrail.
# DATABASE_URL=postgres://user:password@localhost:5432/database
`

/** Returns the page that says what to do with the project. */
const readme = (name: string, pay: string, company: string) => `# ${name}

A payments project with [satrail](https://github.com/satrail/satrail). It starts in a sandbox, in which no money is real.

## Next steps

1. Start it and open http://localhost:3000. Each visit creates a checkout, which the sandbox's wallet can pay.

   \`\`\`sh
   npm install
   npm run dev
   \`\`\`

2. Sign in to the console. Add this line above \`return { pay, checkout }\` in \`${pay}\`, start once, copy the key, and delete the line:

   \`\`\`ts
   console.log((await pay.companies.issueKey(${company}.id, { name: "me", scopes: ["admin"] })).key)
   \`\`\`

   Then open http://localhost:3000/console and enter the key.

3. Connect your Lightning node and a bitcoin node: pass \`lightning\` and \`chain\` to \`satrail()\` in the same file, and delete the sandbox's payment. The guides [lnd](https://github.com/satrail/satrail/blob/HEAD/docs/guides/lnd.md), [LDK](https://github.com/satrail/satrail/blob/HEAD/docs/guides/ldk.md) and [chain](https://github.com/satrail/satrail/blob/HEAD/docs/guides/chain.md) show how.
`

/** Returns a project's files by path: at most six files, and a .env. */
export const files = ({ folder, kind, framework }: Choices): Readonly<Record<string, string>> => {
  const server = servers[framework]
  return {
    "package.json": json({
      name: path.basename(path.resolve(folder)),
      private: true,
      type: "module",
      scripts: server.scripts,
      dependencies: { satrail: `^${version}`, ...server.dependencies },
      devDependencies: { "@types/node": "^24.0.0", typescript: "^5.9.0", ...server.devDependencies },
      engines: { node: `>=${minimumNode}` }
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "ES2024",
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        ...server.compilerOptions
      },
      include: ["**/*.ts"],
      exclude: ["node_modules"]
    }),
    ".gitignore": gitignore,
    ".env": env(server.env),
    "README.md": readme(
      path.basename(path.resolve(folder)),
      framework === "next" ? "app/[[...path]]/route.ts" : "src/pay.ts",
      kind === "wallet" ? "ann" : "company"
    ),
    ...server.files(kind)
  }
}

const refuse = (because: string): never => {
  throw new Refused(`Nothing was written, because ${because}. Choose another folder.`)
}

/** Returns what is at a path without following a link; undefined if nothing is. */
const at = (file: string): Stats | undefined => {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch (cause) {
    return refuse(cause instanceof Error ? cause.message : String(cause))
  }
}

/** Throws unless files can be created in this folder, or in the nearest one above that exists. */
const checkWritable = (folder: string): void => {
  try {
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found === undefined && path.dirname(folder) !== folder) return checkWritable(path.dirname(folder))
    if (found?.isDirectory() !== true) refuse(`${folder} is not a folder`)
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    if (cause instanceof Refused) throw cause
    refuse(cause instanceof Error ? cause.message : String(cause))
  }
}

/** Throws unless every file can be created. Nothing is created through a link below or at `folder`. */
const check = (folder: string, files: ReadonlyArray<string>): void => {
  const within = (one: string): ReadonlyArray<string> =>
    one === "." ? [one] : [...within(path.dirname(one)), one]
  for (const one of new Set(files.flatMap((file) => within(path.dirname(file))))) {
    const found = at(path.join(folder, one))
    if (found?.isDirectory() === false)
      refuse(`${path.join(folder, one)} is not a folder${found.isSymbolicLink() ? ", but a link" : ""}`)
    checkWritable(path.resolve(folder, one))
  }
  const there = files.filter((file) => at(path.join(folder, file)) !== undefined)
  if (there.length > 0) refuse(`${folder} already has ${there.join(", ")}`)
}

/** Writes a project's files. If any of them already exists or cannot be created, writes nothing. */
export const write = (folder: string, all: Readonly<Record<string, string>>): void => {
  check(folder, Object.keys(all))
  for (const [file, text] of Object.entries(all)) {
    const to = path.join(folder, file)
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, text, { flag: "wx", mode: file === ".env" ? 0o600 : 0o644 })
  }
}

/** Quotes a path for a shell, if necessary. Windows' shells have no single quotes, and its paths no double ones. */
const quoted = (given: string): string => {
  const folder = given.startsWith("-") ? `./${given}` : given
  if (/^[\w./:@%+=,-]+$/.test(folder)) return folder
  return process.platform === "win32" ? `"${folder}"` : `'${folder.replaceAll("'", `'\\''`)}'`
}

/** The commands to run next. */
export const next = (folder: string): ReadonlyArray<string> => [
  `cd ${quoted(folder)}`,
  "npm install",
  "npm run dev"
]
