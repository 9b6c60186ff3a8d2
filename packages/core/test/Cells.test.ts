import { assert } from "@effect/vitest"
import * as CellRegistry from "@satrail/memory/CellRegistry"
import { Context, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import * as Id from "../src/base/Id.ts"
import { PayRequests } from "../src/receiving/PayRequests.ts"
import * as Destination from "../src/sending/Destination.ts"
import { Recipients } from "../src/sending/Recipients.ts"
import { ApiKeys } from "../src/accounts/ApiKeys.ts"
import { Cells, type Registry } from "../src/accounts/Cells.ts"
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
  let shared = CellRegistry.make()
  const asked: Array<string> = []
  /** What is away: the registry, or the store where it has to commit this. */
  const store: { away: string | undefined } = { away: undefined }
  const registry: Registry = {
    claim: (handles, ...by) => {
      asked.push(`claim ${handles.join()}`)
      return shared.claim(handles, ...by)
    },
    handOver: (handle, ...to) => {
      asked.push(`hand over ${handle}`)
      if (store.away === "registry") return Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("away") }))
      return shared.handOver(handle, ...to)
    },
    holder: (handle) => {
      asked.push(`holder ${handle}`)
      return shared.holder(handle)
    }
  }
  const origins = new Map([
    ["a", "https://a.pay.example"],
    ["b", "https://b.pay.example"]
  ])
  const away = replace(Journal, ({ commit }) =>
    Journal.of({
      commit: (change) =>
        change._tag === store.away ? Effect.fail(new StoreUnavailable({ operation: "test", cause: new Error("away") })) : commit(change)
    })
  )
  const change = (ports: Context.Context<Ports>) => Context.add(away(ports), Cells, { letter: "b", origins, registry })
  const forget = () => {
    shared = CellRegistry.make()
    asked.length = 0
  }
  return { registry, forget, asked, store, change }
}

const someCompany = CompanyId.make(Id.nil)

scenario(
  "cells: a handle of another cell is taken, and a new one is claimed before there is an address",
  cell,
  function* ({ registry, asked, store }) {
    const row = yield* company()
    yield* registry.claim(["taken"], "a", null)
    assert.strictEqual(yield* said(lightningAddress(row, "taken")), "HandleTaken")
    store.away = "LightningAddressCreated"
    assert.strictEqual(yield* said(lightningAddress(row, "tea")), "StoreUnavailable")
    assert.deepStrictEqual(yield* registry.holder("tea"), Option.some("b"), "whoever dies in between has it for good")
    store.away = undefined
    const { handle } = yield* lightningAddress(row, "tea")
    assert.strictEqual(handle, "tea")
    assert.deepStrictEqual(asked, ["claim taken", "claim taken", "claim tea", "holder tea", "claim tea"])
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
  function* ({ registry, forget, asked }) {
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
    forget()
    yield* working()
    yield* TestClock.adjust("1 second")
    assert.lengthOf(asked, 2, "together, for each company")
    assert.deepStrictEqual(yield* registry.claim(["cake", "coffee", "gone", "tea", "new"], "a", null), ["cake", "coffee", "gone", "tea"])
  }
)

scenario(
  "cells: an address that was handed over is for one company of the other cell, and who asks here is led there",
  cell,
  function* ({ registry, store }) {
    const [from, neighbour] = [yield* company(), yield* company()]
    const { id } = yield* lightningAddress(from, "tea")
    const { handOver } = yield* LightningAddresses
    const { offer } = yield* PayRequests
    const { host } = yield* Recipients
    const to = { letter: "a", companyId: CompanyId.make(neighbour.id) }
    const place = { host: "pay.example", domain: null, user: "tea" }
    const destination = yield* Effect.fromResult(Destination.parse("tea@pay.example", "regtest"))

    for (const away of ["registry", "LightningAddressDeleted"]) {
      store.away = away
      assert.strictEqual(yield* said(everywhere(handOver(from.id, id, to))), "StoreUnavailable")
      yield* offer(place)
      assert.strictEqual(yield* host(destination), undefined, "what broke off in between is still paid here")
    }
    store.away = undefined
    assert.isNotNull((yield* everywhere(handOver(from.id, id, to))).deletedAtMillis)
    const moved = yield* Effect.flip(offer(place))
    assert.deepStrictEqual(moved._tag === "AnsweredElsewhere" && moved.origin, "https://a.pay.example")
    assert.strictEqual(yield* host(destination), "a.pay.example")

    assert.deepStrictEqual(yield* registry.claim(["tea"], "a", someCompany), ["tea"])
    assert.deepStrictEqual(yield* registry.claim(["tea"], "a", to.companyId), [])
    for (const row of [from, neighbour]) assert.strictEqual(yield* said(lightningAddress(row, "tea")), "HandleTaken")
    assert.strictEqual(yield* said(handOver(from.id, id, { ...to, companyId: someCompany })), "Invalid: cell")
    assert.isNotNull((yield* everywhere(handOver(from.id, id, to))).deletedAtMillis)
  }
)

scenario("cells: an address can be handed over to another cell that there is, and by its company's operator alone", cell, function* () {
  const [from, neighbour] = [yield* company(), yield* company()]
  yield* (yield* Companies).verifyDomain(from.id, "shop.example")
  const { handOver } = yield* LightningAddresses
  const [tea, own] = [yield* lightningAddress(from, "tea"), yield* lightningAddress(from, "tea", "shop.example")]
  const to = (letter: string) => ({ letter, companyId: someCompany })
  assert.strictEqual(yield* said(handOver(from.id, tea.id, to("b"))), "Invalid: cell")
  assert.strictEqual(yield* said(handOver(from.id, tea.id, to("c"))), "Invalid: cell")
  assert.strictEqual(yield* said(handOver(from.id, own.id, to("a"))), "Invalid: id")
  assert.strictEqual(yield* said(handOver(neighbour.id, tea.id, to("a"))), "NotFound")
  yield* (yield* PayRequests).offer({ host: "pay.example", domain: null, user: "tea" })
})

scenario(
  "cells: an address that was handed over to a company of this cell is created by it, and by nobody else",
  cell,
  function* ({ registry }) {
    const [heir, neighbour] = [yield* company(), yield* company()]
    yield* registry.claim(["tea"], "a", null)
    assert.isTrue(yield* registry.handOver("tea", "a", { letter: "b", companyId: heir.id }))
    assert.strictEqual(yield* said(lightningAddress(neighbour, "tea")), "HandleTaken")
    assert.strictEqual((yield* lightningAddress(heir, "tea")).companyId, heir.id)
    yield* (yield* PayRequests).offer({ host: "pay.example", domain: null, user: "tea" })
  }
)
