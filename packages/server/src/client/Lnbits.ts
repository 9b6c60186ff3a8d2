import { Console, Effect, Schema } from "effect"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Client from "@satrail/http/commands/Client"
import * as Operator from "./Operator.ts"
import * as Output from "./Output.ts"

/** An LNbits wallet that is not deleted. */
const Wallet = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  user: Schema.String,
  /** The balance as LNbits computes it, in msat. Pending outgoing payments are already subtracted. */
  balance: Schema.BigInt,
  /** Number of outgoing payments without a final result. */
  pending: Schema.BigInt,
  /** The other user's wallet, if this one only gives access to it. */
  shared: Schema.NullOr(Schema.String)
})
type Wallet = typeof Wallet.Type

const Database = Schema.Struct({ wallets: Schema.Array(Wallet), deleted: Schema.BigInt })

const wallets = `
select wallets.id, wallets.name, wallets."user" as "user", coalesce(balances.balance, 0) as balance,
  (select count(*) from apipayments where wallet_id = wallets.id and status = 'pending' and amount < 0) as pending,
  wallets.shared_wallet_id as shared
from wallets left join balances on balances.wallet_id = wallets.id
where wallets.deleted = false
order by wallets.created_at, wallets.id`

// The `balances` view omits deleted wallets.
const deleted = `
select coalesce(sum(amount - abs(fee)), 0) as balance from apipayments join wallets on wallets.id = wallet_id
where wallets.deleted and (status = 'success' or (status = 'pending' and amount < 0))`

/** Reads LNbits' SQLite database, version 1.0 or later, without changing it. */
const read = (file: string) =>
  Effect.gen(function* () {
    const found = yield* Effect.tryPromise(async () => {
      // Loaded here, because Node 22 prints a warning when it loads this module.
      const { DatabaseSync } = await import("node:sqlite")
      const database = new DatabaseSync(file, { readOnly: true })
      try {
        const all = (sql: string) => {
          const statement = database.prepare(sql)
          statement.setReadBigInts(true)
          return statement.all()
        }
        return { wallets: all(wallets), deleted: all(deleted)[0]?.["balance"] }
      } finally {
        database.close()
      }
    })
    return yield* Schema.decodeUnknownEffect(Schema.toType(Database))(found)
  }).pipe(
    Effect.mapError(
      (error) =>
        new CommandFailed({
          message: `${file} must be the SQLite database of LNbits 1.0 or later, usually data/database.sqlite3\n  ${Output.reasonsOf(error).join("\n  ")}`
        })
    )
  )

/** Formats msat as sats, with three decimals if it is not a whole number. */
const sats = (msat: bigint): string => {
  const [sign, size] = msat < 0n ? ["-", -msat] : ["", msat]
  const rest = size % 1000n
  return `${sign}${size / 1000n}${rest === 0n ? "" : `.${String(rest).padStart(3, "0")}`}`
}

/** Returns why a wallet cannot be imported now; undefined if it can be. */
const obstacle = ({ balance, pending, shared }: Wallet): string | undefined =>
  shared !== null
    ? `shares wallet ${shared}`
    : pending > 0n
      ? `${pending} outgoing payments are pending; import again once they have completed`
      : balance < 0n
        ? "its balance is negative"
        : undefined

// Core's limit, repeated here because loading core takes longer than the import itself.
const maxNameCharacters = 200

const Created = Schema.Struct({ id: Schema.String })

/**
 * Opens a company for a wallet and requests the adjustment that credits its balance. The idempotency keys make
 * a repeated import find the records created by an earlier one.
 */
const moved = Effect.fnUntraced(function* ({ id, name, user, balance }: Wallet, plan: string) {
  const create = (route: string, body: Readonly<Record<string, unknown>>, key: string) =>
    Effect.flatMap(Operator.ask("POST", route, body, { "idempotency-key": key }), ({ data }) =>
      Client.read(Created, data)
    )
  const named =
    Array.from(name.trim()).slice(0, maxNameCharacters).join("") || `LNbits wallet ${id.slice(0, 8)}`
  const company = yield* create("/operator/companies", { name: named, plan }, `lnbits-company-${id}`)
  if (balance === 0n) return { company_id: company.id, adjustment_id: null }
  const adjustment = yield* create(
    "/operator/adjustments",
    {
      company_id: company.id,
      amount_sats: Number(sats(balance)),
      reason: "Opening balance from LNbits",
      note: `wallet ${id} of user ${user}`
    },
    `lnbits-balance-${id}`
  )
  return { company_id: company.id, adjustment_id: adjustment.id }
})

const members = ["wallet_id", "name", "balance_sats", "company_id", "adjustment_id", "result"]

export const imported = Effect.fnUntraced(function* (input: {
  readonly file: string
  readonly plan: string
  readonly dryRun: boolean
  readonly json: boolean
}) {
  const { wallets, deleted } = yield* read(input.file)
  const rows = yield* Effect.forEach(
    wallets,
    Effect.fnUntraced(function* (wallet) {
      const row = {
        wallet_id: wallet.id,
        name: wallet.name,
        balance_sats: sats(wallet.balance),
        company_id: null,
        adjustment_id: null
      }
      const skipped = obstacle(wallet)
      if (skipped !== undefined) return { ...row, result: `left out: ${skipped}` }
      if (input.dryRun) return { ...row, result: "can be imported" }
      return { ...row, ...(yield* moved(wallet, input.plan)), result: "imported" }
    })
  )
  const left = wallets.filter((wallet) => obstacle(wallet) !== undefined)
  const total = (of: ReadonlyArray<Wallet>) => of.reduce((sum, { balance }) => sum + balance, 0n)
  const summary = {
    wallets: wallets.length - left.length,
    balance_sats: sats(total(wallets) - total(left)),
    left_out: left.length,
    left_out_sats: sats(total(left)),
    deleted_sats: sats(deleted)
  }
  if (input.json) return yield* Console.log(JSON.stringify({ ...summary, rows }))
  yield* Console.log(
    [
      `${input.dryRun ? "To import" : "Imported"}: ${summary.wallets} wallets with ${summary.balance_sats} sats`,
      `Left out: ${summary.left_out} wallets with ${summary.left_out_sats} sats; deleted wallets hold ${summary.deleted_sats} sats`,
      Output.rows(rows, members),
      ...(input.dryRun
        ? []
        : ["Another operator must approve each adjustment: satrail adjustments list --status pending"])
    ].join("\n")
  )
})
