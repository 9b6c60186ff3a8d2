import * as Msat from "@satrail/bitcoin/Msat"
import type { Records as RecordsPort } from "@satrail/core/service/Records"
import type { Fault } from "@satrail/core/reports/Fault"
import * as Verification from "@satrail/core/reports/Verification"
import type { DirectoryLocked, DirectoryUnusable } from "@satrail/postgres/client/DirectoryLock"
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as Records from "@satrail/service/postgres/Records"
import { type Config, Console, Effect, Layer, type Option } from "effect"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Database from "../environment/Database.ts"
import { dataDirectory } from "../environment/Process.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import type { Verified } from "../features/Verifying.ts"
import { verifications } from "../features/verifications.ts"
import * as Output from "../client/Output.ts"

/**
 * Opens the database alone, without the service, so that a restored dump can be verified before a service is
 * started on it.
 */
const database: Effect.Effect<
  Layer.Layer<RecordsPort, PgClient.DatabaseUnreachable | DirectoryLocked | DirectoryUnusable>,
  CommandFailed | Config.ConfigError
> = Effect.gen(function* () {
  const url = yield* Database.settings.databaseUrl
  if (url !== undefined) return Layer.provide(Records.layer, PgClient.layer({ url, maxConnections: 4 }))
  const home = yield* dataDirectory
  const directory = path.join(home, "database")
  if (!existsSync(directory))
    return yield* new CommandFailed({
      message: `There is no database: set DATABASE_URL, or SATRAIL_DATA (looked in ${home})`
    })
  return Layer.provide(Records.layer, PgliteClient.layer({ directory }))
})

const explain = ({ kind, id, account, expected, found }: Fault): string => {
  if (kind === "unreadable") return `unreadable ${id}: its row or its books are malformed`
  const amounts = `expected ${Output.sats(expected === null ? null : Number(expected) / 1000)}, found ${Output.sats(found === null ? null : Number(found) / 1000)}`
  return `${kind}${account === null ? "" : ` (${account})`} ${id}: ${amounts}`
}

/** Verifies the whole ledger from its entries. Exits with 2 if it finds an integrity violation. */
export const verify = Effect.fnUntraced(
  function* ({
    json,
    ofFeatures
  }: {
    readonly json: boolean
    readonly ofFeatures: { readonly [option: string]: Option.Option<string> }
  }) {
    const layer = yield* database
    const wrong: Array<object> = []
    let done = 0
    const verified = yield* Effect.provide(
      Verification.verify((company, faults) =>
        Effect.gen(function* () {
          done++
          for (const fault of faults) {
            const { kind, id, account, expected, found } = fault
            const [expected_sats, found_sats] = [expected, found].map((one) =>
              one === null ? null : Number(one) / 1000
            )
            wrong.push({ company_id: company.id, kind, id, account, expected_sats, found_sats })
            if (!json) yield* Console.log(`${company.id} (${company.name})  ${explain(fault)}`)
          }
          if (process.stderr.isTTY && done % 100 === 0) yield* Console.error(`${done} companies`)
        })
      ),
      layer
    )
    const others: Array<Verified> = []
    for (const check of verifications) {
      others.push(
        yield* Effect.provide(
          check(ofFeatures, (line) => (json ? Effect.void : Console.log(line))),
          layer
        )
      )
    }
    const { companies, faults, stuck } = verified
    const isSound = faults === 0 && stuck === 0n && others.every((one) => one.faults === 0)
    if (json) {
      const report = { sound: isSound, companies, stuck_sats: Number(stuck) / 1000, faults: wrong }
      yield* Console.log(JSON.stringify(Object.assign(report, ...others.map((one) => one.json))))
    } else {
      if (stuck !== 0n)
        yield* Console.log(
          `Stuck between two companies (the account \`internal\`): ${Msat.inSats(Msat.toSats(stuck))}`
        )
      const books = companies === 1 ? "books of one company" : `books of ${companies} companies`
      const words = isSound
        ? [`The ${books} are consistent`, ...others.map(({ sound }) => `and ${sound}`)]
        : [`${faults} integrity violations in the ${books}`, ...others.map(({ faulty }) => faulty)]
      yield* Console.log(words.join(", "))
      for (const note of others.flatMap(({ notes }) => notes)) yield* Console.log(note)
    }
    if (!isSound) yield* Output.somethingIsWrong
  },
  Effect.mapError((error) => (error._tag === "CommandFailed" ? error : Output.failed(error)))
)
