import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Bars from "./Bars.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import * as Program from "./Program.ts"
import * as Requests from "./Requests.ts"
import * as Runs from "./Runs.ts"
import type { Server, Subject } from "./Subject.ts"

/** The HTTP side of the service as another checkout has it, over the same database. That must be built, and have the same migrations. */
export const start = (subject: Subject, directory: string): Effect.Effect<Server, Program.BenchFailed, Scope.Scope> => {
  const sources = path.join(directory, "packages", "bench", "src")
  return existsSync(path.join(directory, "packages", "server", "dist", "main.js"))
    ? subject.another({ sources })
    : Effect.fail(new Program.BenchFailed({ message: `${directory} is no checkout that was built: run npm run build there` }))
}

/** Each operation over HTTP, of the two builds in turns, and nothing else between them. */
export const groups = (subject: Subject, generator: Generator, seconds: number, other: Server): ReadonlyArray<Runs.Group> => {
  const { http } = Runs.make(subject, generator, seconds)
  const requests = Requests.make(subject.keys, subject.rows)
  const [one, spread] = ["one company", `${Fill.spread} companies`]
  const asked: ReadonlyArray<readonly [string, string, number, ReadonlyArray<string>]> = [
    ["balance", one, 64, requests.balance],
    ["balance", spread, 64, requests.balanceSpread],
    ["get one invoice", one, 64, requests.invoice],
    ["get one invoice", spread, 64, requests.invoiceSpread],
    ["list of the 50 newest", one, 64, requests.list],
    ["create invoice", one, 64, requests.createInvoice],
    ["LNURL callback", one, 64, requests.lnurlCallback],
    ["confirm", spread, 64, requests.confirmSpread],
    ["confirm", one, 64, requests.confirm],
    ["confirm", one, 256, requests.confirm]
  ]
  return asked.map((ask) => ({ limit: Bars.otherBuild, run: http(...ask, other).run, operations: [http(...ask)] }))
}
