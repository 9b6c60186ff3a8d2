// `npm run site`: makes the site of the documentation from docs/, into packages/server/site, where the service finds it. Its generator is installed
// in site/node_modules, once, and nowhere else: nobody who starts the service needs it (docs/decisions/0077-the-site.md).
import { Effect, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as DirectoryLock from "../../packages/postgres/src/DirectoryLock.ts"

const root = path.join(import.meta.dirname, "../..")
const generator = path.join(root, "site")
const site = path.join(root, "packages/server/site")

const run = (command: string, args: ReadonlyArray<string>, cwd: string): void => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
  if (status === 0) return
  throw new Error(`\`${command} ${args.join(" ")}\` failed.\n${error?.message ?? ""}${stdout}${stderr}`)
}

/** The name of what is in these files. */
const hashOf = (files: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(path.join(root, file)))
  return hash.digest("hex")
}

/** Whether what is there was made of these inputs: a file beside it says of which. */
const isMadeOf = (made: string, inputs: string): boolean => {
  const mark = `${made}.made-of`
  return existsSync(made) && existsSync(mark) && readFileSync(mark, "utf8") === inputs
}

/** pnpm, in the version that installs everything else. */
const pnpm = (): string => {
  const [, version] = /^const PNPM = "([\d.]+)"$/m.exec(readFileSync(path.join(root, "scripts/run.mjs"), "utf8")) ?? []
  if (version === undefined) throw new Error("scripts/run.mjs names no version of pnpm")
  return `pnpm@${version}`
}

const install = (): void => {
  const modules = path.join(generator, "node_modules")
  const inputs = hashOf(["site/package.json", "site/pnpm-lock.yaml"])
  if (isMadeOf(modules, inputs)) return
  process.stdout.write("site: fetching its generator into site/node_modules (once)\n")
  run("npx", ["-y", pnpm(), "install", "--frozen-lockfile", "--ignore-workspace", "--ignore-scripts"], generator)
  writeFileSync(`${modules}.made-of`, inputs)
}

/** What the site is made of. Links lead to other files too, of which only the names count. */
const sources = (): ReadonlyArray<string> =>
  globSync(
    ["docs/**/*.*", "site/.vitepress/{config.ts,theme/*}", "site/package.json", "site/pnpm-lock.yaml", "scripts/site/*.ts", "package.json"],
    {
      cwd: root
    }
  ).toSorted()

const build = (): void => {
  const inputs = hashOf(sources())
  if (isMadeOf(site, inputs)) return void process.stdout.write("site: packages/server/site is up to date\n")
  const startedMillis = Date.now()
  install()
  // Beside its place: what is there stays whole until the new one is.
  const made = mkdtempSync(`${site}-`)
  try {
    run(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build", ".", "--outDir", made], generator)
    rmSync(site, { recursive: true, force: true })
    renameSync(made, site)
    writeFileSync(`${site}.made-of`, inputs)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  const files = globSync("**/*.*", { cwd: site }).map((file) => statSync(path.join(site, file)).size)
  const kilobytes = Math.ceil(files.reduce((sum, bytes) => sum + bytes, 0) / 1024)
  process.stdout.write(
    `site: ${files.length} files, ${kilobytes} kB in packages/server/site after ${((Date.now() - startedMillis) / 1000).toFixed(1)} s\n`
  )
}

/** One process builds, and others that want to at the same time wait, and find what it made. */
const alone = Effect.scoped(
  Effect.andThen(
    Effect.retry(DirectoryLock.hold(`${site}.building`), {
      schedule: Schedule.spaced("500 millis"),
      while: ({ _tag }) => _tag === "DirectoryLocked"
    }),
    Effect.try({ try: build, catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))) })
  )
)

await Effect.runPromise(alone).catch(({ message }: Error) => {
  process.stderr.write(`site: ${message}\n`)
  process.exitCode = 1
})
