import { assert } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { root } from "./Machine.ts"

// `*` also matches folders, so this includes the migrations of features.
const migrations = ["packages/*/src/*/Baseline.ts", "packages/*/src/*/Migration0*.ts"]

/**
 * Returns the commit before the newest migration, or undefined in a shallow clone or without git. The
 * commit before the first release has the same tables, because its migrations ended at that number.
 */
const earlier = (): string | undefined => {
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" }).trim()
  try {
    const newest = git("log", "-1", "--format=%H", "-M70%", "--diff-filter=A", "--", ...migrations)
    return newest === "" ? undefined : git("rev-parse", `${newest}~1`)
  } catch {
    return undefined
  }
}

/**
 * Builds the service as of the commit before the newest migration, in the same way as the image. If there is no
 * such commit, logs a line and returns undefined.
 */
export const before = (home: string): string | undefined => {
  const commit = earlier()
  if (commit === undefined) {
    console.error("deployed: git has no earlier version here, so the process is upgraded to its own version")
    return undefined
  }
  const tree = path.join(home, "earlier")
  const app = path.join(home, "earlier-app")
  mkdirSync(tree)
  const archive = execFileSync("git", ["-C", root, "archive", commit], { maxBuffer: 256 * 1024 * 1024 })
  execFileSync("tar", ["-x", "-C", tree], { input: archive })
  const env = { ...process.env, CI: "true", npm_config_prefer_offline: "true" }
  const sh = (step: string) => execFileSync("sh", ["-c", step], { cwd: tree, env, stdio: "pipe" })
  sh("npx -y pnpm@12.21.0 install --frozen-lockfile")
  sh("node_modules/.bin/tsc -b packages/server --noCheck") // types were checked when this was committed
  sh(`npx -y pnpm@12.21.0 --filter @satrail/server --prod --config.node-linker=hoisted deploy ${app}`)
  assert.isTrue(existsSync(path.join(app, "dist/main.js")))
  // The current systemd unit starts this bundle, which older versions don't have.
  if (existsSync(path.join(tree, "packages/server/build/main.ts")))
    sh(`node packages/server/build/main.ts ${app}`)
  else {
    mkdirSync(path.join(app, "bundle"))
    writeFileSync(path.join(app, "bundle/main.mjs"), 'import "../dist/main.js"\n')
  }
  return app
}

/** A copy of the current build. */
export const copy = (app: string, home: string): string => {
  const to = path.join(home, "same-app")
  cpSync(app, to, { recursive: true })
  return to
}
