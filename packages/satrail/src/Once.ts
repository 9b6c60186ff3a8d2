import { idOf } from "@satrail/client/Client"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as RunOnce from "@satrail/core/ledger/RunOnce"
import { Effect } from "effect"
import type { Pay } from "./Pay.ts"
import { invalid } from "./Refusals.ts"

/** What `work` threw, so that its error is not converted to one of the service. */
class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

const tooLarge = `must be at most ${RunOnce.maxResultBytes} bytes of JSON`

const once = Effect.fnUntraced(function* (company: unknown, key: unknown, work: () => unknown) {
  const id = idOf(company)
  if (id === undefined) throw invalid("company", "is required")
  if (typeof key !== "string" || !/^[!-~]{1,255}$/.test(key))
    throw invalid("key", "must be 1 to 255 visible ASCII characters")
  if (typeof work !== "function") throw invalid("work", "must be a function")
  const { id: companyId } = yield* (yield* Companies).get(CompanyId.make(id))
  const working = Effect.tryPromise({
    try: async () => JSON.stringify(await work()) ?? "null",
    catch: (error) => new Thrown(error)
  })
  return yield* RunOnce.run(companyId, key, Effect.uninterruptible(working))
})

type Running = Effect.Effect<string | Thrown, unknown, Effect.Services<ReturnType<typeof once>>>

/** Returns the method `once`, and a function that waits for the calls that work. */
export const make = (run: (effect: Running) => Promise<string | Thrown>) => {
  const working = new Set<Promise<unknown>>()
  const call = async (company: unknown, key: unknown, work: () => unknown): Promise<unknown> => {
    const result = await run(
      once(company, key, work).pipe(
        Effect.catchIf((error) => error instanceof Thrown, Effect.succeed),
        Effect.catchTag("ResultTooLarge", () => Effect.die(invalid("result", tooLarge)))
      )
    )
    if (result instanceof Thrown) throw result.error
    return JSON.parse(result)
  }
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- what JSON represents is read as it was written
    once: ((company, key, work) => {
      const begun = () => {
        working.add(called)
        return work()
      }
      const called = Promise.resolve()
        .then(() => call(company, key, typeof work === "function" ? begun : work))
        .finally(() => working.delete(called))
      return called
    }) as Pay["once"],
    ended: () => Promise.allSettled(working)
  }
}
