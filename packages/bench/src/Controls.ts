import * as Company from "@satrail/core/accounts/Company"
import { knownMillis } from "@satrail/core/base/Known"
import { Effect, type Scope } from "effect"
import * as Bars from "./Bars.ts"
import * as Drive from "./Drive.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import * as Load from "./Load.ts"
import * as Program from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Report from "./Report.ts"
import * as Requests from "./Requests.ts"
import * as Runs from "./Runs.ts"
import type { Server, Subject } from "./Subject.ts"

// What control costs: limits, the audit log, tracing that is off, and what one company's flood takes from another one.

const one = "one company"
const busy = Fill.id(Fill.kinds.company, Fill.busy)

/** Every process knows of it by then. */
const known = Effect.sleep(knownMillis * 2)

/** While `run` runs, the busy company has a limit that it does not reach. */
const limited = (subject: Subject, operation: Runs.Operation): Runs.Operation => {
  const set = (limits: string | null) =>
    subject.sql.unsafe(`update ${`satrail.${Company.members.name}`} set limits = $1::json where id = $2::uuid`, [limits, busy]).pipe(
      Effect.mapError(({ message }) => new Program.BenchFailed({ message })),
      Effect.andThen(known)
    )
  // A limit that no process knows of costs nothing.
  const counted = subject.sql.unsafe<object>("select from satrail.spent where company_id = $1::uuid", [busy]).pipe(
    Effect.mapError(({ message }) => new Program.BenchFailed({ message })),
    Effect.filterOrFail(
      (rows) => rows.length > 0,
      () => new Program.BenchFailed({ message: "nothing was counted against the limit" })
    )
  )
  return {
    ...operation,
    run: (perSecond) =>
      Effect.acquireUseRelease(
        set(JSON.stringify({ monthSats: 1_000_000_000_000 })),
        () => Effect.tap(operation.run(perSecond), () => counted),
        () => Effect.orDie(set(null))
      )
  }
}

/** Each beside the same without it, in the same round. `untraced` is the same service without the code of tracing. */
export const groups = (
  subject: Subject,
  { http, inProcess }: ReturnType<typeof Runs.make>,
  untraced: Server | undefined
): ReadonlyArray<Runs.Group> => {
  const requests = Requests.make(subject.keys)
  const confirm = (audited: boolean) =>
    inProcess(
      { operation: audited ? Bars.audited : "confirm, in process", pattern: one, clients: 256 },
      Effect.succeed({ operation: "confirm", companies: 1, kind: 0, first: 0, end: Drive.endless, audited })
    )
  const plain = http("confirm", one, 64, requests.confirm)
  return [
    {
      limit: "confirm without a limit",
      run: plain.run,
      operations: [limited(subject, http(Bars.limited, one, 64, requests.confirm))]
    },
    { limit: "confirm, in process, without an entry", run: confirm(false).run, operations: [confirm(true)] },
    ...(untraced === undefined
      ? []
      : [
          {
            limit: "the same without the code of tracing",
            run: http("confirm", one, 64, requests.confirm, untraced).run,
            operations: [http(Bars.untraced, one, 64, requests.confirm)]
          },
          {
            limit: "the same without the code of tracing",
            run: http("balance", one, 64, requests.balance, untraced).run,
            operations: [http(Bars.untracedRead, one, 64, requests.balance)]
          }
        ])
  ]
}

/** The service without the code of tracing, over the same database. */
export const withoutTracing = (subject: Subject) =>
  subject.another({
    nodeArgs: ["--import", new URL(`./withoutTracing.${import.meta.filename.slice(-2)}`, import.meta.url).href]
  })

export const flood = "flood, confirm beside it"
const victimPerSecond = 100
const flooders = 256

/** What a company's confirms take while another one asks as fast as it can, beside what they take alone. The service limits requests as it does by default. */
export const flooded = (
  subject: Subject,
  generator: Generator,
  seconds: number,
  { rounds, tell }: Options
): Effect.Effect<Report.Half, Program.BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { port } = yield* subject.another({ env: { SATRAIL_REQUESTS_PER_KEY: undefined } })
    const flooder = yield* Program.fork("loadProgram")
    const { confirm } = Requests.make(subject.keys)
    const victim = Requests.confirm(subject.keys[0] ?? "")
    const times = Runs.times(seconds)
    const alone = generator(flood, { port, clients: 16, perSecond: victimPerSecond, requests: [victim], ...times })
    // Most of it is refused: that is what the limit is for.
    const flooding = Effect.suspend(() => {
      flooder.child.send({ port, clients: flooders, requests: confirm, ...times } satisfies Load.Load)
      return Program.message(flooder, Load.Outcome)
    })
    yield* alone
    const found: Array<{ readonly ours: Load.Outcome; readonly limit: Load.Outcome }> = []
    for (let round = 1; round <= rounds; round++) {
      const limit = yield* alone
      const [ours, { answered, bad }] = yield* Effect.all([alone, flooding], { concurrency: 2 })
      found.push({ ours, limit })
      tell(
        `flood: round ${round} of ${rounds}, ${answered} answered and ${bad} refused of who floods; p50 ${ours.p50Millis.toFixed(1)} ms beside it, ${limit.p50Millis.toFixed(1)} alone; p99 ${ours.p99Millis.toFixed(1)} and ${limit.p99Millis.toFixed(1)}`
      )
    }
    return Report.half({ operation: flood, pattern: `${flooders} clients of another company`, clients: 16 }, found, Bars.maxFloodedTimes)
  })
