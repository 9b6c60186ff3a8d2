import * as Msat from "@satrail/bitcoin/Msat"
import type { Records as RecordsPort } from "@satrail/core/Records"
import type { Fault } from "@satrail/core/reports/Fault"
import * as Verification from "@satrail/core/reports/Verification"
import type { DirectoryLocked, DirectoryUnusable } from "@satrail/postgres/DirectoryLock"
import * as PgClient from "@satrail/postgres/PgClient"
import * as PgliteClient from "@satrail/postgres/PgliteClient"
import * as Records from "@satrail/postgres/Records"
import { type Config, Console, Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { existsSync } from "node:fs"
import path from "node:path"
import { CommandFailed } from "./CommandFailed.ts"
import * as Database from "./environment/Database.ts"
import { dataDirectory } from "./environment/Process.ts"
import * as Operate from "./Operate.ts"

/** What a command that found something wrong ends with: it did what it was asked, and that is no success. */
export const wrongCode = 2

const somethingIsWrong = Effect.sync(() => {
  process.exitCode = wrongCode
})

const Sats = Schema.Finite
const SatsOrNull = Schema.NullOr(Sats)
const Side = Schema.Struct({
  owned_sats: Sats,
  own_sats: SatsOrNull,
  ledger_sats: Sats,
  on_its_way_sats: Schema.Tuple([Sats, Sats]),
  unexplained_sats: Sats
})
const Answer = Schema.Struct({
  report: Schema.NullOr(
    Schema.Struct({
      reconciled_at: Schema.String,
      is_behind: Schema.Boolean,
      assets_sats: Sats,
      liabilities_sats: Sats,
      node: Side,
      chain: Side,
      accounts: Schema.Record(Schema.String, Sats),
      differences_by_cause: Schema.Record(Schema.String, Schema.Int),
      differences: Schema.Array(
        Schema.Struct({ cause: Schema.String, about: Schema.String, ours_sats: SatsOrNull, theirs_sats: SatsOrNull, since: Schema.String })
      )
    })
  ),
  waiting: Schema.Record(Schema.String, Schema.Struct({ count: Schema.Int, oldest_at: Schema.NullOr(Schema.String), amount_sats: Sats }))
})

/** Columns that stand below each other. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows.reduce<ReadonlyArray<number>>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd()).join("\n")
}

const sats = (amount: number | null) => (amount === null ? "-" : String(amount))

const sideRow = (name: string, one: typeof Side.Type) => [
  name,
  sats(one.owned_sats),
  sats(one.own_sats),
  sats(one.ledger_sats),
  one.on_its_way_sats.join(" … "),
  sats(one.unexplained_sats)
]

const forPeople = ({ report, waiting }: typeof Answer.Type): string => {
  const waits = Object.entries(waiting).map(([kind, { count, oldest_at, amount_sats }]) => [
    kind,
    String(count),
    sats(amount_sats),
    oldest_at ?? "-"
  ])
  const waitingTable = table([["waiting", "count", "sats", "oldest"], ...waits])
  if (report === null) return waitingTable
  const found = report.differences.map((one) => [one.cause, sats(one.ours_sats), sats(one.theirs_sats), one.since, one.about])
  return [
    `Compared at ${report.reconciled_at}${report.is_behind ? ", and not everything was read yet" : ""}`,
    table([["", "owned", "own", "ledger", "on its way", "unexplained"], sideRow("node", report.node), sideRow("chain", report.chain)]),
    table([
      ["assets", sats(report.assets_sats)],
      ["liabilities", sats(report.liabilities_sats)],
      ...Object.entries(report.accounts).map(([account, amount]) => [account, sats(amount)])
    ]),
    waitingTable,
    ...(found.length === 0 ? [] : [table([["difference", "ours", "theirs", "since", "about"], ...found])])
  ].join("\n\n")
}

/** Shows what the last comparison came to. Ends with 2 where there are differences. */
export const reconcile = Command.make("reconcile", { json: Operate.json }, ({ json }) =>
  Effect.gen(function* () {
    const { message, data } = yield* Operate.ask("GET", "/operator/reconciliation")
    const answer = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Answer)(data),
      () => new CommandFailed({ message: "The service is of another version than this program." })
    )
    yield* Console.log(json ? JSON.stringify(data) : `${message}\n\n${forPeople(answer)}`)
    if ((answer.report?.differences.length ?? 0) > 0) yield* somethingIsWrong
  })
).pipe(Command.withDescription("Show whether our books agree with the node's and the chain's"))

const amount = (of: string) =>
  Flag.Finite(`${of}-sats`).pipe(Flag.withDescription(`What of the ${of}'s money is yours, in sats to three decimals`), Flag.optional)

/** States what is the operator's own. */
export const ownFunds = Command.make(
  "own-funds",
  { json: Operate.json, node: amount("node"), chain: amount("chain") },
  ({ json, node, chain }) =>
    Option.isNone(node) && Option.isNone(chain)
      ? Effect.fail(new CommandFailed({ message: "Nothing was changed. own-funds needs --node-sats N, --chain-sats N, or both." }))
      : Operate.call(json, "PUT", "/operator/reconciliation/own-funds", {
          ...(Option.isSome(node) && { node_sats: node.value }),
          ...(Option.isSome(chain) && { chain_sats: chain.value })
        })
).pipe(Command.withDescription("State what of the node's and the wallet's money is your own"))

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

const explain = ({ kind, id, account, expected, found }: Fault): string => {
  const amounts = `expected ${sats(expected === null ? null : Number(expected) / 1000)}, found ${sats(found === null ? null : Number(found) / 1000)}`
  return `${kind}${account === null ? "" : ` (${account})`} ${id}: ${amounts}`
}

/** Checks the whole ledger from its entries. Ends with 2 where something is wrong. */
export const verify = Command.make("verify", { json: Operate.json }, ({ json }) =>
  Effect.gen(function* () {
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
    const { companies, faults, stuck } = verified
    const isSound = faults === 0 && stuck === 0n
    if (json) {
      yield* Console.log(JSON.stringify({ sound: isSound, companies, stuck_sats: Number(stuck) / 1000, faults: wrong }))
    } else {
      if (stuck !== 0n) yield* Console.log(`${Msat.toSats(stuck)} sats are stuck between two companies (the account \`internal\`)`)
      yield* Console.log(
        isSound ? `The books of ${companies} companies are sound` : `${faults} faults in the books of ${companies} companies`
      )
    }
    if (!isSound) yield* somethingIsWrong
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "CommandFailed" ? error : new CommandFailed({ message: Operate.reasonsOf(error).join("\n  ") })
    )
  )
).pipe(Command.withDescription("Check the whole ledger of DATABASE_URL, or of SATRAIL_DATA, from its entries"))
