import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"

/** The database and the sandbox do not belong together: one of them knows addresses and payments that the other has never seen. */
export class SandboxChanged extends Schema.TaggedError<SandboxChanged>()("SandboxChanged", { directory: Schema.String }) {
  override get message(): string {
    return (
      `The database was begun with another sandbox than the one in ${this.directory}. ` +
      "Put that sandbox's directory back (or name it with SATRAIL_DATA), or begin with an empty database."
    )
  }
}

/** The sandbox's own identity cannot be kept where the sandbox is. */
export class IdentityUnusable extends Schema.TaggedError<IdentityUnusable>()("IdentityUnusable", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The sandbox in ${this.directory} cannot be identified: ${why}`
  }
}

// A sandbox that was wiped and begun again with its seed has the node and the wallet it had, and has forgotten what they did: neither
// tells the two apart. So each has a name, which the database keeps where it keeps how far the sandbox was read.
const source = "sandbox"
export const file = "identity"
const fileIn = (directory: string) => path.join(directory, file)

/** Which sandbox is in a directory; nothing before its first start. */
export const read = (directory: string): string | undefined => {
  const name = fileIn(directory)
  return existsSync(name) ? readFileSync(name, "utf8").trim() : undefined
}

/** Written beside and moved into place, so that it is whole or not there. */
const write = (directory: string, identity: string): string => {
  mkdirSync(directory, { recursive: true })
  const beside = `${fileIn(directory)}.new`
  writeFileSync(beside, `${identity}\n`)
  renameSync(beside, fileIn(directory))
  return identity
}

/** Fails unless the sandbox in `directory` is the one that the database was begun with. The first start with both makes them belong together. */
const check = Effect.fnUntraced(function* (directory: string) {
  const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: (cause) => new IdentityUnusable({ directory, cause }) })
  const records = yield* LedgerReads
  const journal = yield* Journal
  const known = Option.getOrUndefined(yield* records.cursor(source))
  const found = yield* attempt(() => read(directory))
  if (known !== undefined) return known === found ? undefined : yield* new SandboxChanged({ directory })
  const id = yield* Id.make
  const value = found ?? (yield* attempt(() => write(directory, id)))
  yield* journal.commit(Cursor.moved({ source, value }, id, yield* Clock.currentTimeMillis))
})

/** Refuses to be built over a database that belongs to another sandbox than the one in `directory`. */
export const layer = (directory: string) => Layer.effectDiscard(check(directory))
