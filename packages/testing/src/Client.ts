import { execFileSync } from "node:child_process"
import path from "node:path"
import type { Installation } from "./PostgresServer.ts"

/**
 * Runs one of PostgreSQL's client programs and returns its output. PostgreSQL variables in the environment have
 * no effect.
 */
export const run = (
  { folder }: Installation,
  program: "psql" | "pg_dump" | "pg_restore",
  args: ReadonlyArray<string>
): string =>
  execFileSync(path.join(folder, program), args, {
    encoding: "utf8",
    env: { LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"]
  })

/** Runs a script on the database at `url`. The script stops at the first statement that fails. */
export const script = (installation: Installation, url: string, file: string): string =>
  run(installation, "psql", ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", `--file=${file}`, url])

/** Runs a query and returns its rows, one per line. */
export const query = (installation: Installation, url: string, text: string): string =>
  run(installation, "psql", [
    "--no-psqlrc",
    "--quiet",
    "--tuples-only",
    "--no-align",
    "--set=ON_ERROR_STOP=1",
    `--command=${text}`,
    url
  ])
