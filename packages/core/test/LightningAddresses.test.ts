import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import type { Company } from "../src/accounts/Company.ts"
import * as CompanyId from "../src/base/CompanyId.ts"
import { cacheMillis } from "../src/base/ReadCache.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import {
  company,
  companyWith,
  confirm,
  everywhere,
  has,
  made,
  type Ports,
  request,
  said,
  scenario,
  start,
  steps
} from "./World.ts"

const create = Effect.fnUntraced(function* (
  company: Company,
  handle: string | null,
  domain: string | null = null,
  key?: string
) {
  const addresses = yield* LightningAddresses
  return yield* addresses.create({
    company,
    handle,
    domain,
    metadata: {},
    ...(key !== undefined && { request: request(key) })
  })
})
const verify = (company: Company, domain: string) =>
  Effect.flatMap(Companies, ({ verifyDomain }) => verifyDomain(company.id, domain))

describe("A Lightning address", () => {
  scenario(
    "Lightning address: a company can create any number of random handles at the service's domain",
    function* () {
      for (const plan of ["free", "paid"] as const) {
        const row = yield* company(plan)
        const handles = new Set<string>()
        for (let i = 0; i < 20; i++) {
          const { handle, domain } = yield* made(create(row, null))
          assert.match(handle, /^[a-z0-9]{12}$/)
          assert.strictEqual(domain, "pay.example")
          handles.add(handle)
        }
        assert.strictEqual(handles.size, 20)
      }
    }
  )

  scenario("Lightning address: a chosen handle requires a paid plan", function* () {
    const row = yield* company("free")
    assert.strictEqual(yield* said(create(row, "shop")), "PlanRequired: a custom handle or domain")
    assert.strictEqual(
      yield* said(create(row, null, "shop.example")),
      "PlanRequired: a custom handle or domain"
    )
    assert.strictEqual(yield* said(create(row, "", "")), "PlanRequired: a custom handle or domain")
    yield* made(create(yield* company("paid"), "shop"))
  })

  scenario(
    "Lightning address: a handle belongs permanently to one company, in any letter case",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      assert.strictEqual((yield* made(create(one, "Shop"))).handle, "shop")
      for (const handle of ["shop", "SHOP"]) {
        assert.strictEqual(yield* said(create(other, handle)), "HandleTaken")
        assert.strictEqual(yield* said(create(one, handle)), "HandleTaken")
      }
    }
  )

  scenario("Lightning address: a handle may contain only characters that a payer can type", function* () {
    const row = yield* company()
    for (const handle of ["a", "0", "a.b", "a_b-c", "-", "x".repeat(64)])
      assert.strictEqual(yield* said(create(row, handle)), "ok", handle)
    for (const handle of [
      "",
      " ",
      ".a",
      "a.",
      "..",
      "a+b",
      "a@b",
      "ä",
      "a b",
      "a/b",
      "x".repeat(65),
      "a\n",
      "ｓhop",
      "\u212aate",
      "%61"
    ]) {
      assert.strictEqual(yield* said(create(row, handle)), "Invalid: handle", handle)
    }
  })

  scenario(
    "Lightning address: a custom domain must be verified, and is always stored in its ASCII form",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      assert.strictEqual(yield* said(create(one, "hi", "bücher.example")), "DomainNotVerified")
      yield* verify(one, "Bücher.example")
      for (const domain of ["bücher.example", "xn--bcher-kva.EXAMPLE"]) {
        assert.strictEqual((yield* made(create(one, null, domain))).domain, "xn--bcher-kva.example")
      }
      assert.strictEqual(yield* said(create(other, "hi", "bücher.example")), "DomainNotVerified")
      assert.strictEqual(yield* said(create(one, "hi", "sub.bücher.example")), "DomainNotVerified")
      for (const domain of ["", "localhost", "127.0.0.1", "a.example:80", "a.example/x", "u@a.example"]) {
        assert.strictEqual(yield* said(create(one, "hi", domain)), "Invalid: domain", domain)
      }
    }
  )

  scenario("Lightning address: a request may name the service's own domain", function* () {
    assert.strictEqual((yield* made(create(yield* company(), "shop", "PAY.example"))).domain, "pay.example")
  })

  scenario("Lightning address: the same handle at two domains belongs to two companies", function* () {
    const [one, other] = [yield* company(), yield* company()]
    yield* verify(other, "other.example")
    yield* made(create(one, "shop"))
    yield* made(create(other, "shop", "other.example"))
  })

  scenario(
    "Lightning address: one address is created per idempotency key, even if the plan has changed since the first request",
    function* () {
      const row = yield* company()
      const first = yield* made(create(row, "shop", null, "k"))
      assert.deepStrictEqual(yield* create({ ...row, plan: "free" }, "shop", null, "k"), {
        _tag: "Replayed",
        answer: first.id
      })
    }
  )
})

describe("The owner of a Lightning address", () => {
  const settings = { minSendable: null, maxSendable: null, successMessage: null, splits: null, metadata: {} }

  scenario(
    "Lightning address: limits and texts can be set together, and are returned when the address is read",
    function* () {
      const { change, get } = yield* LightningAddresses
      const row = yield* company()
      const address = yield* made(create(row, "shop"))
      const wanted = {
        minSendable: Msat.fromSats(5),
        maxSendable: Msat.fromSats(5),
        successMessage: "Thanks!",
        splits: null,
        metadata: { a: "b" }
      }
      const changed = yield* everywhere(change(row.id, address.id, wanted))
      assert.deepStrictEqual(changed, { ...address, ...wanted, updatedAtMillis: changed.updatedAtMillis })
      assert.deepStrictEqual(yield* get(row.id, address.id), changed)
      const back = yield* everywhere(change(row.id, address.id, settings))
      assert.deepStrictEqual(back, { ...address, updatedAtMillis: back.updatedAtMillis })
      assert.isAbove(back.updatedAtMillis, changed.updatedAtMillis)
    }
  )

  scenario(
    "Lightning address: limits that no payer can meet and texts that cannot be displayed are refused",
    function* () {
      const { change } = yield* LightningAddresses
      const row = yield* company()
      const { id } = yield* made(create(row, "shop"))
      for (const [wanted, path] of [
        [{ minSendable: Msat.make(999n) }, "min_sats"],
        [{ minSendable: Msat.fromSats(100_000_001n) }, "min_sats"],
        [{ minSendable: Msat.fromSats(6), maxSendable: Msat.fromSats(5) }, "max_sats"],
        [{ maxSendable: Msat.zero }, "max_sats"],
        [{ maxSendable: Msat.fromSats(100_000_001n) }, "max_sats"],
        [{ successMessage: "" }, "success_message"],
        [{ successMessage: " \n" }, "success_message"],
        [{ successMessage: "x".repeat(145) }, "success_message"],
        [{ successMessage: "a\0b" }, "success_message"],
        [{ metadata: { "": "x" } }, "metadata"]
      ] as const) {
        assert.strictEqual(yield* said(change(row.id, id, { ...settings, ...wanted })), `Invalid: ${path}`)
      }
      // An emoji counts as one character.
      yield* everywhere(change(row.id, id, { ...settings, successMessage: "🎉".repeat(144) }))
    }
  )

  scenario(
    "Lightning address: the address's limits also apply to internal payments, even to the address with a tag",
    function* () {
      const [row, payer] = [yield* company(), yield* companyWith(100)]
      const { id } = yield* made(create(row, "shop"))
      const limits = { ...settings, minSendable: Msat.fromSats(5), maxSendable: Msat.fromSats(10) }
      yield* everywhere((yield* LightningAddresses).change(row.id, id, limits))
      for (const sats of [4, 11])
        assert.strictEqual(
          yield* said(confirm(payer, "shop@pay.example", sats)),
          "DestinationRefused: amount_out_of_range"
        )
      yield* confirm(payer, "shop@pay.example", 5)
      yield* confirm(payer, "shop+order.7@pay.example", 10)
      yield* steps(2)
      assert.deepStrictEqual(yield* has(row), { posted: 15, held: 0 })
    }
  )

  scenario(
    "Lightning address: a deleted address stays visible, is never issued again, and cannot be changed",
    function* () {
      const { change, get, remove } = yield* LightningAddresses
      const [row, other] = [yield* company(), yield* company()]
      const address = yield* made(create(row, "shop"))
      const deleted = yield* everywhere(remove(row.id, address.id))
      assert.isNotNull(deleted.deletedAtMillis)
      assert.deepStrictEqual(yield* everywhere(remove(row.id, address.id)), deleted)
      assert.deepStrictEqual(yield* get(row.id, address.id), deleted)
      assert.strictEqual(yield* said(change(row.id, address.id, settings)), "NotFound")
      for (const company of [row, other])
        assert.strictEqual(yield* said(create(company, "shop")), "HandleTaken")
    }
  )

  scenario(
    "Lightning address: once a change or deletion returns, no process accepts payments under the old settings",
    function* () {
      const { change, remove } = yield* LightningAddresses
      const [row, payer] = [yield* company(), yield* companyWith(100)]
      const { id } = yield* made(create(row, "shop"))
      const ports = yield* Effect.context<Ports>()
      const other = Context.merge(ports, yield* start(ports))
      const limits = { ...settings, minSendable: Msat.fromSats(5) }
      for (const [changing, refusal] of [
        [change(row.id, id, limits), "DestinationRefused: amount_out_of_range"],
        [change(row.id, id, settings), "ok"],
        [remove(row.id, id), "DestinationRefused: recipient_not_found"]
      ] as const) {
        const paying = said(confirm(payer, "shop@pay.example", 1))
        const before = yield* Effect.provideContext(paying, other)
        const answer = yield* Effect.forkChild(changing, { startImmediately: true })
        yield* TestClock.adjust(cacheMillis - 1)
        assert.strictEqual(yield* Effect.provideContext(paying, other), before)
        assert.isUndefined(answer.pollUnsafe(), "the change returned before the other process had applied it")
        yield* TestClock.adjust(100)
        yield* Fiber.join(answer)
        assert.strictEqual(yield* Effect.provideContext(paying, other), refusal)
        assert.strictEqual(yield* paying, refusal)
      }
      yield* steps(8)
    }
  )

  scenario(
    "Lightning address: an address that was looked up before it existed can be paid as soon as it is created",
    function* () {
      const [row, payer] = [yield* company(), yield* companyWith(100)]
      const paying = said(confirm(payer, "shop@pay.example", 1))
      assert.strictEqual(yield* paying, "DestinationRefused: recipient_not_found")
      yield* made(create(row, "shop"))
      assert.strictEqual(yield* paying, "ok")
      yield* steps(1)
    }
  )

  scenario("Lightning address: a company lists its addresses, newest first, page by page", function* () {
    const { change, get, list, remove } = yield* LightningAddresses
    const [row, other] = [yield* company(), yield* company()]
    const ids: Array<string> = []
    for (const handle of ["a", "b", "c", "d", "e"]) {
      ids.unshift((yield* made(create(row, handle))).id)
      yield* TestClock.adjust(1)
    }
    const first = yield* list(row.id, { limit: 2, before: null })
    const second = yield* list(row.id, { limit: 2, before: first.next?.id ?? null })
    const last = yield* list(row.id, { limit: 2, before: second.next?.id ?? null })
    assert.deepStrictEqual(
      [first, second, last].flatMap(({ rows }) => rows.map(({ id }) => id)),
      ids
    )
    assert.isUndefined(last.next)
    assert.deepStrictEqual((yield* list(other.id, { limit: 2, before: null })).rows, [])
    for (const limit of [0, 1001, 1.5])
      assert.strictEqual(yield* said(list(row.id, { limit, before: null })), "Invalid: limit")
    const [id = ""] = ids
    for (const theirs of [
      get(other.id, id),
      remove(other.id, id),
      change(other.id, id, settings),
      get(row.id, "nonsense")
    ])
      assert.strictEqual(yield* said(theirs), "NotFound")
  })
})

describe("A domain", () => {
  scenario("domain: a domain belongs to one company, and verifying it again changes nothing", function* () {
    const [one, other] = [yield* company(), yield* company()]
    yield* verify(one, "shop.example")
    yield* verify(one, "SHOP.example")
    assert.strictEqual(yield* said(verify(other, "shop.example")), "DomainTaken")
    assert.strictEqual(yield* said(verify(other, "pay.example")), "DomainTaken")
    assert.strictEqual(yield* said(verify(other, "localhost")), "Invalid: domain")
    assert.strictEqual(
      yield* said(
        Effect.flatMap(Companies, ({ verifyDomain }) => verifyDomain(CompanyId.make("nobody"), "a.example"))
      ),
      "NotFound"
    )
  })
})

describe("A company", () => {
  scenario(
    "company: a company has a name and a plan, both of which the operator may change, and is created once per idempotency key",
    function* () {
      const { open, get, changePlan } = yield* Companies
      for (const name of ["", "  ", "x".repeat(201), "a\0b"])
        assert.strictEqual(yield* said(open({ name, plan: "free" })), "Invalid: name")
      const row = yield* made(open({ name: "x".repeat(200), plan: "free", request: request("k") }))
      assert.deepStrictEqual(yield* open({ name: "x".repeat(200), plan: "free", request: request("k") }), {
        _tag: "Replayed",
        answer: row.id
      })
      assert.deepStrictEqual(yield* get(row.id), row)
      yield* everywhere(changePlan(row.id, "paid"))
      assert.strictEqual((yield* get(row.id)).plan, "paid")
      assert.strictEqual(yield* said(changePlan(CompanyId.make("nobody"), "paid")), "NotFound")
    }
  )
})
