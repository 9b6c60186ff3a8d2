import * as Msat from "@satrail/bitcoin/Msat"
import type { Records as RecordsPort } from "@satrail/core/service/Records"
import type { Fault } from "@satrail/core/reports/Fault"
import * as Audit from "@satrail/core/ledger/Audit"
import * as AuditVerification from "@satrail/core/features/audit/AuditVerification"
import * as Verification from "@satrail/core/reports/Verification"
import type { DirectoryLocked, DirectoryUnusable } from "@satrail/postgres/client/DirectoryLock"
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as Records from "@satrail/postgres/Records"
import { type Config, Console, Effect, Layer, Option, Result } from "effect"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Database from "../environment/Database.ts"
import { dataDirectory } from "../environment/Process.ts"
import { Variables } from "../environment/Unknown.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import * as Environment from "../deployment/Environment.ts"
import * as Server from "../serving/Server.ts"
import * as Output from "../client/Output.ts"

/** The database itself, without a service: one that was restored from a dump can be checked before anything starts on it. */
const database: Effect.Effect<
  Layer.Layer<RecordsPort, PgClient.DatabaseUnreachable | DirectoryLocked | DirectoryUnusable>,
  CommandFailed | Config.ConfigError
> = Effect.gen(function* () {
  const url = yield* Database.settings.databaseUrl
  if (url !== undefined) return Layer.provide(Records.layer, PgClient.layer({ url, maxConnections: 4 }))
  const home = yield* dataDirectory
  const directory = path.join(home, "database")
  if (!existsSync(directory))
    return yield* new CommandFailed({ message: `There is no database: set DATABASE_URL, or SATRAIL_DATA (looked in ${home})` })
  return Layer.provide(Records.layer, PgliteClient.layer({ directory }))
})

/** The secret of the service's heads, where this command has the settings of a node as the service does. A dump can be checked without them. */
const headKey = Effect.map(Variables, (variables) => {
  const read = Environment.read(variables)
  return Result.isSuccess(read) && read.success.node !== undefined ? Server.auditKeyOf(read.success) : undefined
})

const explain = ({ kind, id, account, expected, found }: Fault): string => {
  const amounts = `expected ${Output.sats(expected === null ? null : Number(expected) / 1000)}, found ${Output.sats(found === null ? null : Number(found) / 1000)}`
  return `${kind}${account === null ? "" : ` (${account})`} ${id}: ${amounts}`
}

const nouns: Readonly<Record<string, string>> = {
  api_keys: "API key",
  operator_tokens: "Operator token",
  companies: "Company",
  webhook_endpoints: "Webhook endpoint",
  wallet_connections: "Wallet connection"
}

const evidence = ({ kind, id, record = "", field, problem }: AuditVerification.Fault): string => {
  const name = `${nouns[record] ?? record} ${id}`
  if (problem === undefined) return `audit log: ${kind} ${id}`
  if (problem === "differs") return `${name}: \`${field}\` differs from the audit log`
  return problem === "unknown" ? `${name}: is not in the audit log` : `${name}: is in the audit log, and not in the database`
}

/** Checks the whole ledger from its entries. Ends with 2 where something is wrong. */
export const verify = Effect.fnUntraced(
  function* ({ json, auditHead }: { readonly json: boolean; readonly auditHead: Option.Option<string> }) {
    const layer = yield* database
    const wrong: Array<object> = []
    let done = 0
    const verified = yield* Effect.provide(
      Verification.verify((company, faults) =>
        Effect.gen(function* () {
          done++
          for (const fault of faults) {
            const { kind, id, account, expected, found } = fault
            const [expected_sats, found_sats] = [expected, found].map((one) => (one === null ? null : Number(one) / 1000))
            wrong.push({ company_id: company.id, kind, id, account, expected_sats, found_sats })
            if (!json) yield* Console.log(`${company.id} (${company.name})  ${explain(fault)}`)
          }
          if (process.stderr.isTTY && done % 100 === 0) yield* Console.error(`${done} companies`)
        })
      ),
      layer
    )
    const forged: Array<AuditVerification.Fault> = []
    const audited = yield* Effect.provide(
      AuditVerification.verify(Option.getOrNull(auditHead), (fault) => {
        forged.push(fault)
        return json ? Effect.void : Console.log(evidence(fault))
      }),
      layer
    ).pipe(Effect.provideService(Audit.HeadKey, yield* headKey))
    const { companies, faults, stuck } = verified
    const isSound = faults === 0 && stuck === 0n && audited.faults === 0
    if (json) {
      yield* Console.log(
        JSON.stringify({
          sound: isSound,
          companies,
          stuck_sats: Number(stuck) / 1000,
          faults: wrong,
          audit: { entries: audited.entries, records: audited.records, signatures_checked: audited.isSigned, faults: forged }
        })
      )
    } else {
      if (stuck !== 0n) yield* Console.log(`${Msat.toSats(stuck)} sats are stuck between two companies (the account \`internal\`)`)
      yield* Console.log(
        isSound
          ? `The books of ${companies} companies are sound, and so is the audit log (${audited.entries} entries; ${audited.records} records are as it says)`
          : `${faults} faults in the books of ${companies} companies, ${audited.faults} in the audit log`
      )
    }
    if (!json && !audited.isSigned)
      yield* Console.log(
        "Signatures of the audit log's heads were not checked. Run this with the settings of the service, which its secret follows from"
      )
    if (!isSound) yield* Output.somethingIsWrong
  },
  Effect.mapError((error) => (error._tag === "CommandFailed" ? error : Output.failed(error)))
)
