import { assert } from "@effect/vitest"
import { Context, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys } from "../src/accounts/ApiKeys.ts"
import { Cells } from "../src/accounts/Cells.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import {
  company,
  companyWith,
  confirm,
  everywhere,
  has,
  lightningAddress,
  made,
  type Ports,
  replace,
  said,
  scenario,
  standing,
  steps,
  working
} from "./World.ts"

/** A cell `b` of two, with a registry that notes what it is asked. */
const cell = () => {
  const handles = new Map([["taken", "a"]])
  const asked: Array<string> = []
  const store = { isAway: false }
  const registry = {
    claim: (claimed: ReadonlyArray<string>, letter: string) =>
      Effect.sync(() => {
        asked.push(`claim ${claimed.join()}`)
        for (const handle of claimed) if (!handles.has(handle)) handles.set(handle, letter)
        return claimed.filter((handle) => handles.get(handle) !== letter)
      }),
    holder: (handle: string) =>
      Effect.sync(() => {
        asked.push(`holder ${handle}`)
        return Option.fromUndefinedOr(handles.get(handle))
      })
  }
  const origins = new Map([
    ["a", "https://a.pay.example"],
    ["b", "https://b.pay.example"]
  ])
  const away = replace(Journal, ({ commit }) =>
    Journal.of({
      commit: (change) =>
        store.isAway && change._tag === "LightningAddressCreated"
          ? Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("away") }))
          : commit(change)
    })
  )
  const change = (ports: Context.Context<Ports>) => Context.add(away(ports), Cells, { letter: "b", origins, registry })
  return { handles, asked, store, change }
}

scenario(
  "cells: a handle of another cell is taken, and a new one is claimed before there is an address",
  cell,
  function* ({ handles, asked, store }) {
    const row = yield* company()
    assert.strictEqual(yield* said(lightningAddress(row, "taken")), "HandleTaken")
    store.isAway = true
    assert.strictEqual(yield* said(lightningAddress(row, "tea")), "StoreUnavailable")
    assert.strictEqual(handles.get("tea"), "b", "whoever dies in between has it for good")
    store.isAway = false
    const { handle } = yield* lightningAddress(row, "tea")
    assert.strictEqual(handle, "tea")
    assert.deepStrictEqual(asked, ["claim taken", "claim tea", "claim tea"])
  }
)

scenario("cells: a payment within a cell asks the registry nothing", cell, function* ({ asked }) {
  const [payer, payee] = [yield* companyWith(1000), yield* company()]
  const { handle, domain } = yield* lightningAddress(payee, "tea")
  asked.length = 0
  const withdrawal = yield* confirm(payer, `${handle}@${domain}`, 100)
  yield* steps(2)
  assert.strictEqual(yield* standing(withdrawal), "settled")
  assert.deepStrictEqual([(yield* has(payee)).posted, asked], [100, []])
})

scenario(
  "cells: a key begins with its cell's letter, and one of another cell is told where it belongs, but not who nobody knows",
  cell,
  function* () {
    const { issue, check } = yield* ApiKeys
    const { id } = yield* company()
    const { apiKey, text } = yield* made(issue({ companyId: id, name: "shop", scopes: ["read"], expiresAtMillis: null }))
    assert.strictEqual(apiKey.id.charAt(0), "b")
    assert.strictEqual((yield* check(Redacted.value(text))).apiKey.id, apiKey.id)
    const of = (letter: string) => Redacted.value(text).replace(`_${apiKey.id}_`, `_${letter}${apiKey.id.slice(1)}_`)
    const refused = (letter: string) =>
      Effect.map(Effect.flip(check(of(letter))), (error) => (error._tag === "Unauthorized" ? [error.reason, error.origin] : []))
    assert.deepStrictEqual(yield* refused("a"), ["other_cell", "https://a.pay.example"])
    assert.deepStrictEqual(yield* refused("c"), ["unknown", undefined], "there is no such cell")
  }
)

scenario(
  "cells: what a service gave out before it was a cell is claimed when it starts, deleted addresses too",
  cell,
  function* ({ handles, asked }) {
    const [one, other] = [yield* company(), yield* company()]
    const { remove } = yield* LightningAddresses
    for (const [row, handle] of [
      [one, "tea"],
      [other, "coffee"],
      [other, "cake"]
    ] as const)
      yield* lightningAddress(row, handle)
    const { id } = yield* lightningAddress(one, "gone")
    yield* everywhere(remove(one.id, id))
    handles.clear()
    asked.length = 0
    yield* working()
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(
      [...handles].toSorted(([a], [b]) => a.localeCompare(b)),
      ["cake", "coffee", "gone", "tea"].map((handle) => [handle, "b"])
    )
    assert.lengthOf(asked, 2, "together, for each company")
  }
)
