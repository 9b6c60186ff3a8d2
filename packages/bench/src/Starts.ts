import { Effect, type Scope } from "effect"
import path from "node:path"
import type { Missing, Postgres } from "./Postgres.ts"
import * as Program from "./Program.ts"
import * as Report from "./Report.ts"
import * as Service from "./Service.ts"

/** A store to run the service on, and what is asked of it. */
export interface Store extends Service.Options {
  readonly pattern: "postgres" | "embedded"
  readonly startTargetMillis: number
  readonly memoryTargetMebibytes: number
}

/** The stores that the service can be started on here. */
export const stores = (
  postgres: Postgres | Missing,
  directory: string,
  profileDirectory: string | undefined
): Effect.Effect<ReadonlyArray<Store>, Program.BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const embedded: Store = {
      pattern: "embedded",
      directory: path.join(directory, "embedded"),
      databaseUrl: undefined,
      profileDirectory,
      startTargetMillis: 3000,
      memoryTargetMebibytes: 500
    }
    if ("missing" in postgres) return [embedded]
    const own: Store = {
      pattern: "postgres",
      directory: path.join(directory, "postgres"),
      databaseUrl: yield* postgres.database,
      profileDirectory,
      startTargetMillis: 1500,
      memoryTargetMebibytes: 150
    }
    return [own, embedded]
  })

const idleMillis = 5000

interface Started {
  readonly healthzMillis: number
  readonly readyzMillis: number
  readonly idleMebibytes: number | undefined
}

const once = (store: Store, idles: boolean): Effect.Effect<Started, Program.BenchFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { pid, healthzMillis, readyzMillis } = yield* Service.start(store)
      if (idles) yield* Effect.sleep(idleMillis)
      return { healthzMillis, readyzMillis, idleMebibytes: idles ? Program.residentMebibytes(pid) : undefined }
    })
  )

/** Starts the service again and again: the very first time on nothing, then on what that left. */
export const measure = (
  stores: ReadonlyArray<Store>,
  rounds: number,
  tell: (line: string) => void
): Effect.Effect<ReadonlyArray<Report.Size>, Program.BenchFailed> =>
  Effect.gen(function* () {
    const firsts = yield* Effect.forEach(stores, (store) => once(store, false))
    const again: Array<ReadonlyArray<Started>> = []
    for (let round = 1; round <= rounds; round++) {
      again.push(yield* Effect.forEach(stores, (store) => once(store, true)))
      tell(`starts: round ${round} of ${rounds}`)
    }
    return stores.flatMap((store, i) => {
      const { pattern, startTargetMillis, memoryTargetMebibytes } = store
      const first = firsts[i]
      const runs = again.flatMap((round) => round[i] ?? [])
      const memory = runs.flatMap(({ idleMebibytes }) => idleMebibytes ?? [])
      const ms = { pattern, unit: "ms", target: startTargetMillis } as const
      return [
        Report.size(
          { ...ms, operation: "start to 200 of /healthz", first: first?.healthzMillis ?? null },
          runs.map((run) => run.healthzMillis)
        ),
        Report.size(
          { ...ms, operation: "start to 200 of /readyz", first: first?.readyzMillis ?? null },
          runs.map((run) => run.readyzMillis)
        ),
        ...(memory.length === 0
          ? []
          : [Report.size({ operation: "memory after 5 s idle", pattern, unit: "MiB", target: memoryTargetMebibytes, first: null }, memory)])
      ]
    })
  })
