import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { type Choices, Refused } from "./Choices.ts"
import { servers } from "./templates/server.ts"

/** The version of this package and of the `satrail` dependency in projects. */
export const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version

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

const env = (more: string) => `# Read by \`npm run dev\`. Settings for mainnet are secrets: keep this file out of version control.
${more}# A PostgreSQL server. Without it, the database is embedded, in .satrail.
# DATABASE_URL=postgres://user:password@localhost:5432/database
`

/** Returns a project's files by path: at most five files, and a .env. */
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
      compilerOptions: { target: "ES2024", strict: true, noEmit: true, skipLibCheck: true, ...server.compilerOptions },
      include: ["**/*.ts"],
      exclude: ["node_modules"]
    }),
    ".gitignore": gitignore,
    ".env": env(server.env),
    ...server.files(kind)
  }
}

/** Writes a project's files. If any of them already exists, writes nothing. */
export const write = (folder: string, all: Readonly<Record<string, string>>): void => {
  const there = Object.keys(all).filter((file) => existsSync(path.join(folder, file)))
  if (there.length > 0) throw new Refused(`Nothing was written, because ${folder} already has ${there.join(", ")}. Choose another folder.`)
  for (const [file, text] of Object.entries(all)) {
    const to = path.join(folder, file)
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, text, { flag: "wx", mode: file === ".env" ? 0o600 : 0o644 })
  }
}

/** The commands to run next. */
export const next = (folder: string): ReadonlyArray<string> => [`cd ${folder}`, "npm install", "npm run dev"]
