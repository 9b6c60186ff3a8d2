import { Effect } from "effect"
import * as Bars from "./Bars.ts"
import * as Controls from "./Controls.ts"
import * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import { scripts } from "./Limits.ts"
import * as Requests from "./Requests.ts"
import * as Runs from "./Runs.ts"
import * as Settling from "./Settling.ts"
import type { Server, Settling as SettlingService, Subject, Whole } from "./Subject.ts"
import * as Webhooks from "./Webhooks.ts"

/** The numbers of clients that pgbench tries. */
const tried = [2, 4, 8, 16, 32]

const one = "one company"
const spread = `${Fill.spread} companies`

/** Everything there is to measure on a subject. */
export const make = (
  subject: Subject,
  generator: Generator,
  raw: { readonly server: Server; readonly framework: Server },
  whole: Whole | undefined,
  seconds: number,
  sending?: Webhooks.Sending,
  untraced?: Server,
  settling?: SettlingService
): ReadonlyArray<Runs.Group> => {
  const requests = Requests.make(subject.keys, subject.rows)
  const runs = Runs.make(subject, generator, seconds)
  const { http, inProcess, settle, pg, pgSettle } = runs
  const createInvoice = http("create invoice", one, 64, requests.createInvoice)
  const [pgSpread, pgBusy, ourSpread, ourBusy] = Fill.kinds.opens
  const reported = (pattern: string, companies: number) =>
    settling === undefined ? [] : [Settling.operation(subject, settling, seconds, pattern, companies)]
  return [
    {
      limit: "raw node:http",
      run: () => generator("raw node:http", { port: raw.server.port, clients: 64, ...Runs.times(seconds), requests: [Requests.plain] }),
      operations: [
        http(Bars.framework, one, 64, [Requests.plain], raw.framework),
        http("balance", one, 64, requests.balance),
        http("balance", spread, 64, requests.balanceSpread, subject.shared),
        http("get one invoice", one, 64, requests.invoice),
        http("get one invoice", spread, 64, requests.invoiceSpread, subject.shared)
      ]
    },
    { ...pg(scripts.list), half: true, operations: [http("list of the 50 newest", one, 64, requests.list)] },
    { ...pg(scripts.createInvoice), half: true, operations: [createInvoice] },
    { limit: createInvoice.what.operation, run: createInvoice.run, operations: [http("LNURL callback", one, 64, requests.lnurlCallback)] },
    { ...pg(scripts.confirmSpread), half: true, operations: [http("confirm", spread, 64, requests.confirmSpread, subject.shared)] },
    {
      ...pg(scripts.confirm),
      other: Runs.pgAtBest(subject.pgbench, seconds, scripts.confirm, tried),
      half: true,
      operations: [http("confirm", one, 64, requests.confirm), http("confirm", one, 256, requests.confirm)]
    },
    {
      limit: "confirm, one company",
      run: http("confirm", one, 64, requests.confirm).run,
      operations: [http(Bars.withKey, one, 64, requests.confirmOnce)]
    },
    {
      limit: "confirm, one company",
      run: http("confirm", one, 256, requests.confirm).run,
      operations: [http(Bars.twoProcesses, one, 256, requests.confirm, subject.pairs.api)]
    },
    {
      limit: "confirm, 1000 companies",
      run: http("confirm", spread, 256, requests.confirmSpread, subject.shared).run,
      operations: [http(Bars.twoProcesses, spread, 256, requests.confirmSpread, subject.pairs.shared)]
    },
    ...(whole === undefined
      ? []
      : [
          {
            ...pg(scripts.confirm),
            operations: Runs.untilSettled(subject, generator, seconds, whole)
          }
        ]),
    {
      ...pg(scripts.confirmMany),
      operations: [
        inProcess(
          { operation: "confirm, in process", pattern: one, clients: 256 },
          Effect.succeed({ operation: "confirm", companies: 1, kind: 0, first: 0, end: Drive.endless })
        )
      ]
    },
    { ...pgSettle(scripts.settleSpread, pgSpread), operations: [settle(spread, Fill.spread, ourSpread), ...reported(spread, Fill.spread)] },
    { ...pgSettle(scripts.settle, pgBusy), operations: [settle(one, 1, ourBusy), ...reported(one, 1)] },
    ...Controls.groups(subject, runs, untraced),
    ...(sending === undefined ? [] : Webhooks.groups(http, requests, sending))
  ]
}
