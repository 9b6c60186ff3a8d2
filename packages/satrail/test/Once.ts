import { assert } from "@effect/vitest"
import { errors, type Pay, SatrailError } from "../src/index.ts"

const refused = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => error
  )

/** Calls `once` of one or more processes that use one database. Each store must do the same. */
export const calls = async (...processes: ReadonlyArray<Pay>) => {
  const [pay] = processes
  if (pay === undefined) return assert.fail("no process")
  const [ann, bob] = [
    await pay.companies.create({ name: "Ann" }),
    await pay.companies.create({ name: "Bob" })
  ]
  const runs = new Map<string, number>()
  const work = (key: string) => async () => {
    const run = (runs.get(key) ?? 0) + 1
    runs.set(key, run)
    const { id } = await pay.invoices.create({ company: ann, amount: 1_000 })
    return { run, id }
  }
  const keys = ["order-1", "order-2", "order-3"]
  const all = await Promise.all(
    Array.from({ length: 48 }, (_, at) => {
      const key = keys[at % keys.length] ?? ""
      return (processes[at % processes.length] ?? pay).once(ann, key, work(key))
    })
  )
  assert.deepStrictEqual([...runs.values()], [1, 1, 1])
  assert.lengthOf(new Set(all.map(({ id }) => id)), keys.length)
  assert.deepStrictEqual(await pay.once(ann, "order-1", work("order-1")), all[0])
  assert.strictEqual((await pay.once(bob, "order-1", work("order-1"))).run, 2)

  // An error of the work is the caller's own, and the next call runs the work.
  const own = new TypeError("sold out")
  const failing = () => Promise.reject(own)
  assert.strictEqual(await refused(pay.once(ann, "order-4", failing)), own)
  assert.isNull(await pay.once(ann.id, "order-4", () => null))
  assert.isNull(await pay.once(ann.id, "order-4", failing))

  const invalid = async (call: Promise<unknown>) => {
    const error = await refused(call)
    return error instanceof SatrailError ? [error.code, error.paths] : error
  }
  const nothing = () => null
  assert.deepStrictEqual(await invalid(pay.once(ann, "", nothing)), ["malformed", ["key"]])
  assert.deepStrictEqual(await invalid(pay.once(ann, "a b", nothing)), ["malformed", ["key"]])
  assert.deepStrictEqual(await invalid(pay.once(ann, "x".repeat(256), nothing)), ["malformed", ["key"]])
  assert.deepStrictEqual(await invalid(pay.once(undefined as never, "k", nothing)), [
    "malformed",
    ["company"]
  ])
  assert.deepStrictEqual(await invalid(pay.once(ann, "k", "work" as never)), ["malformed", ["work"]])
  const large = pay.once(ann, "k", () => "x".repeat(65_536))
  assert.deepStrictEqual(await invalid(large), ["malformed", ["result"]])
  const unknown = "0b54aa19-6b5c-4a0b-9a4e-8d4f6f7c1042"
  assert.isTrue((await refused(pay.once(unknown, "k", nothing))) instanceof errors.NotFound)
  return { company: ann, first: all[0] }
}
