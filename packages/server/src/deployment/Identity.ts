import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Effect, Layer, Option, Schema } from "effect"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"

/**
 * The database and the sandbox don't belong together: each may contain addresses and payments that the other
 * lacks.
 */
export class SandboxChanged extends Schema.TaggedError<SandboxChanged>()("SandboxChanged", {
  directory: Schema.String
}) {
  override get message(): string {
    return (
      `The database belongs to a sandbox other than the one in ${this.directory}. ` +
      "Restore the directory of the database's sandbox (or set SATRAIL_DATA to it), or start with an empty database."
    )
  }
}

/** The sandbox's identity cannot be read from or stored in its directory. */
export class IdentityUnusable extends Schema.TaggedError<IdentityUnusable>()("IdentityUnusable", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The sandbox in ${this.directory} cannot be identified: ${why}`
  }
}

// If a sandbox is deleted and started again with the same seed, it has the same node and wallet but no history,
// so neither the node nor the wallet identifies the sandbox. Each sandbox therefore has a random name, which
// the database stores with its cursors.
const source = "sandbox"
export const file = "identity"
const fileIn = (directory: string) => path.join(directory, file)

/** Returns the name of the sandbox in a directory; undefined before its first start. */
export const read = (directory: string): string | undefined => {
  const name = fileIn(directory)
  return existsSync(name) ? readFileSync(name, "utf8").trim() : undefined
}

/** Writes a temporary file and renames it, so that the identity file is either complete or missing. */
const write = (directory: string, identity: string): string => {
  mkdirSync(directory, { recursive: true })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${identity}\n`)
  renameSync(beside, fileIn(directory))
  return identity
}

/**
 * Fails unless the sandbox in `directory` is the one that the database was created with. The first start binds
 * the database and the sandbox to each other.
 */
const check = Effect.fnUntraced(function* (directory: string) {
  const attempt = <A>(run: () => A) =>
    Effect.try({ try: run, catch: (cause) => new IdentityUnusable({ directory, cause }) })
  const records = yield* LedgerReads
  const known = Option.getOrUndefined(yield* records.cursor(source))
  const found = yield* attempt(() => read(directory))
  if (known !== undefined) return known === found ? undefined : yield* new SandboxChanged({ directory })
  const id = yield* Id.make
  const value = found ?? (yield* attempt(() => write(directory, id)))
  yield* Cursor.store(yield* Journal, { source, value })
})

/** Fails to build if the database belongs to a sandbox other than the one in `directory`. */
export const layer = (directory: string) => Layer.effectDiscard(check(directory))
