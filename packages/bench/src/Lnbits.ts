import { Effect, Schedule, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { globSync, mkdirSync } from "node:fs"
import path from "node:path"
import * as Caller from "./Caller.ts"
import type { Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Requests from "./Requests.ts"
import type { Side } from "./Side.ts"

// LNbits as its package has it, in a virtual environment that somebody made.

const Token = Schema.Struct({ access_token: Schema.String })
const Wallet = Schema.Struct({ id: Schema.String, adminkey: Schema.String, inkey: Schema.String })
const Balance = Schema.Struct({ balance: Schema.Finite })
const Payment = Schema.Struct({ bolt11: Schema.String })

/** What its payer begins with: the most that one of its invoices may be, as it is set by default. */
const funds = 10_000_000
const maxStartMillis = 120_000

/** The folder of its modules, whose name has the version beside it. */
const installed = (environment: string) => {
  const [found] = globSync(path.join(environment, "lib/python3*/site-packages/lnbits-*.dist-info"))
  const version = /^lnbits-(.+)\.dist-info$/.exec(path.basename(found ?? ""))?.[1]
  return found === undefined || version === undefined
    ? Effect.fail(new Program.BenchFailed({ message: `There is no LNbits in ${environment}: docs/performance.md says how to install it` }))
    : Effect.succeed({ version, modules: path.dirname(found) })
}

/** Starts it over a database of its own on the same server, with a wallet that has money and one that has none. */
export const start = (environment: string, postgres: Postgres, directory: string): Effect.Effect<Side, Program.BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { version, modules } = yield* installed(environment)
    const name = `LNbits ${version}`
    const port = yield* Program.freePort
    mkdirSync(directory, { recursive: true })
    const env = {
      PATH: process.env["PATH"],
      HOME: directory,
      LNBITS_DATABASE_URL: yield* postgres.database,
      LNBITS_DATA_FOLDER: directory,
      LNBITS_EXTENSIONS_PATH: directory,
      LNBITS_BACKEND_WALLET_CLASS: "FakeWallet",
      // Without it nobody could give a wallet money.
      LNBITS_ADMIN_UI: "true",
      // Neither side's limits for each caller are measured, nor what it logs.
      LNBITS_RATE_LIMIT_NO: "1000000000",
      ENABLE_LOG_TO_FILE: "false"
    }
    // The application that its own command starts, without the process around it that restarts it.
    const args = ["lnbits.__main__:app", "--host", "127.0.0.1", "--port", String(port), "--loop", "uvloop", "--no-access-log"]
    // It finds its pages below where it runs.
    const { died } = yield* Program.start(name, path.join(environment, "bin/uvicorn"), args, { env, cwd: modules })
    const anyone = Caller.make(port, {})
    // Until it has an operator, it answers nothing else.
    const password = randomUUID()
    const operator = { username: "operator", password, password_repeat: password }
    const ready = Effect.retry(anyone("PUT", "/api/v1/auth/first_install", Token, operator), Schedule.spaced(100))
    const { access_token } = yield* Effect.raceFirst(ready, died).pipe(
      Effect.timeoutOrElse({
        duration: maxStartMillis,
        orElse: () => Effect.fail(new Program.BenchFailed({ message: `${name} was not ready after ${maxStartMillis / 1000} s` }))
      })
    )
    // Unless told otherwise, it asks the web for a price with every invoice and every payment.
    const wallet = (name: string) =>
      Effect.tap(anyone("POST", "/api/v1/account", Wallet, { name }), ({ adminkey }) =>
        Caller.make(port, { "x-api-key": adminkey })("PATCH", "/api/v1/wallet", Schema.Unknown, { currency: "" })
      )
    const [payer, payee] = [yield* wallet("payer"), yield* wallet("payee")]
    const asOperator = Caller.make(port, { authorization: `Bearer ${access_token}` })
    yield* asOperator("PUT", "/users/api/v1/balance", Schema.Unknown, { id: payer.id, amount: funds })

    const asPayee = Caller.make(port, { "x-api-key": payee.inkey })
    const payments = "/api/v1/payments"
    const ask = (sats: number, memo: string) => ({ out: false, amount: sats, memo })
    return {
      name,
      port,
      balance: Requests.raw("GET", "/api/v1/wallet", [`X-Api-Key: ${payer.inkey}`]),
      createInvoice: Requests.raw("POST", payments, [`X-Api-Key: ${payer.inkey}`], ask(1000, "one of many")),
      invoice: (sats) => Effect.map(asPayee("POST", payments, Payment, ask(sats, "one of many")), ({ bolt11 }) => bolt11),
      pay: (invoice) => Requests.raw("POST", payments, [`X-Api-Key: ${payer.adminkey}`], { out: true, bolt11: invoice }),
      received: Effect.map(asPayee("GET", "/api/v1/wallet", Balance), ({ balance }) => balance / 1000)
    }
  })
