import { assert } from "@effect/vitest"
import type { Heir, Registry } from "@satrail/core/accounts/Cells"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Context, Effect, Option } from "effect"
import * as Contract from "./Contract.ts"
import { hex } from "./Fixtures.ts"

/** What all cells of a service share. */
export class CellRegistry extends Context.Service<CellRegistry, Registry>()("@satrail/contracts/CellRegistry") {}

/** A handle that nobody has. */
const fresh = Effect.map(hex(8), (one) => `tea${one}`)
const someCompany = Effect.map(hex(16), (one) => CompanyId.make(one))

/** A handle of cell a. */
const given = Effect.fnUntraced(function* () {
  const handle = yield* fresh
  assert.deepStrictEqual(yield* (yield* CellRegistry).claim([handle], "a", yield* someCompany), [])
  return handle
})

const heir = Effect.fnUntraced(function* (letter: string) {
  return { letter, companyId: yield* someCompany } satisfies Heir
})

/** What keeps a payment from reaching somebody else. */
export const money = {
  "a handle is the first cell's that claims it, also for its companies to come": Effect.gen(function* () {
    const { claim, holder } = yield* CellRegistry
    const handle = yield* given()
    assert.deepStrictEqual(yield* claim([handle], "b", yield* someCompany), [handle])
    assert.deepStrictEqual(yield* claim([handle], "b", null), [handle])
    assert.deepStrictEqual(yield* claim([handle], "a", yield* someCompany), [], "which company it is, the cell knows")
    assert.deepStrictEqual(yield* holder(handle), Option.some("a"))
  }),
  "of many handles those of others are refused": Effect.gen(function* () {
    const { claim, holder } = yield* CellRegistry
    const [theirs, free] = [yield* given(), yield* fresh]
    assert.deepStrictEqual(yield* claim([theirs, free], "b", null), [theirs])
    assert.deepStrictEqual(yield* holder(free), Option.some("b"))
  }),
  "one that was handed over is for that company alone": Effect.gen(function* () {
    const { claim, handOver, holder } = yield* CellRegistry
    const [handle, to] = [yield* given(), yield* heir("b")]
    assert.isTrue(yield* handOver(handle, "a", to))
    assert.deepStrictEqual(yield* holder(handle), Option.some("b"))
    assert.deepStrictEqual(yield* claim([handle], "b", yield* someCompany), [handle])
    assert.deepStrictEqual(yield* claim([handle], "c", to.companyId), [handle])
    for (const _ of ["made", "again"]) assert.deepStrictEqual(yield* claim([handle], "b", to.companyId), [])
    assert.deepStrictEqual(yield* claim([handle], "b", yield* someCompany), [handle], "also when it has it")
  }),
  "only the cell that has it hands it over": Effect.gen(function* () {
    const { handOver, holder } = yield* CellRegistry
    const [handle, to] = [yield* given(), yield* heir("b")]
    assert.isFalse(yield* handOver(handle, "c", to))
    assert.isFalse(yield* handOver(yield* fresh, "a", to))
    assert.deepStrictEqual(yield* holder(handle), Option.some("a"))
  }),
  "until the company has it, and no longer, it can be handed to another one instead": Effect.gen(function* () {
    const { claim, handOver } = yield* CellRegistry
    const [handle, mistaken, other, late] = [yield* given(), yield* heir("b"), yield* heir("c"), yield* heir("b")]
    assert.isTrue(yield* handOver(handle, "a", mistaken))
    assert.isTrue(yield* handOver(handle, "a", other))
    assert.deepStrictEqual(yield* claim([handle], "b", mistaken.companyId), [handle])
    assert.deepStrictEqual(yield* claim([handle], "c", other.companyId), [])
    assert.isFalse(yield* handOver(handle, "a", late))
    assert.isTrue(yield* handOver(handle, "a", other), "which is as it was asked")
    assert.deepStrictEqual(yield* claim([handle], "b", late.companyId), [handle])
  }),
  "it goes on from cell to cell, and never back": Effect.gen(function* () {
    const { claim, handOver, holder } = yield* CellRegistry
    const [handle, second, third] = [yield* given(), yield* heir("b"), yield* heir("c")]
    yield* handOver(handle, "a", second)
    yield* claim([handle], "b", second.companyId)
    assert.isTrue(yield* handOver(handle, "b", third))
    assert.isFalse(yield* handOver(handle, "c", yield* heir("a")))
    assert.isFalse(yield* handOver(handle, "c", yield* heir("b")))
    assert.deepStrictEqual(yield* holder(handle), Option.some("c"))
  })
} satisfies Contract.Promises<CellRegistry>

/** The rest. */
export const other = {
  "what nobody has is nobody's, and somebody's as soon as it is claimed": Effect.gen(function* () {
    const { claim, holder } = yield* CellRegistry
    const handle = yield* fresh
    assert.deepStrictEqual(yield* holder(handle), Option.none())
    yield* claim([handle], "a", null)
    assert.deepStrictEqual(yield* holder(handle), Option.some("a"))
  }),
  "to claim what it had and handed over is no news to a cell": Effect.gen(function* () {
    const { claim, handOver } = yield* CellRegistry
    const handle = yield* given()
    yield* handOver(handle, "a", yield* heir("b"))
    assert.deepStrictEqual(yield* claim([handle], "a", null), [])
  })
} satisfies Contract.Promises<CellRegistry>

/** What every registry promises. */
export const promises = { ...money, ...other }

/** Holds a registry to every promise. */
export const suite = Contract.suite<CellRegistry, typeof money, typeof other>("Cell registry", { money, other })
