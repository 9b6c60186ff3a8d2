import { assert, describe } from "@effect/vitest"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Companies } from "../src/accounts/Companies.ts"
import * as Answer from "../src/ledger/Answer.ts"
import type { Company } from "../src/accounts/Company.ts"
import * as Domain from "../src/accounts/Domain.ts"
import { Domains, maxDomains } from "../src/accounts/Domains.ts"
import { LightningAddresses } from "../src/receiving/LightningAddresses.ts"
import { PayRequests } from "../src/receiving/PayRequests.ts"
import { Records } from "../src/service/Records.ts"
import {
  company,
  companyWith,
  confirm,
  has,
  lightningAddress,
  made,
  said,
  scenario,
  steps,
  unheld
} from "./World.ts"

const name = "xn--bcher-kva.example"
const verify = (company: Company, domain: string = name) =>
  Effect.flatMap(Domains, ({ verify }) => Effect.flatMap(verify(company, domain), Answer.made))
const check = Effect.flatMap(Domains, ({ check }) => check)

/** Publishes the DNS records that verify the domain for these companies. */
const show = Effect.fnUntraced(function* (...companies: ReadonlyArray<Company>) {
  const values = companies.map(({ id }) => Domain.record({ domain: name, companyId: id }).value)
  yield* (yield* SimulatedDns.SimulatedDns).set(`_satrail-verify.${name}`, ["v=spf1 -all", ...values])
})
const answers = (handle: string) =>
  Effect.flatMap(PayRequests, ({ offer }) =>
    Effect.map(said(offer({ host: name, domain: null, user: handle })), (word) => word === "ok")
  )
const isServed = (domain: string) => Effect.flatMap(Domains, ({ isServed }) => isServed(domain))
/** Lets `count` hours pass, checking the records after each. */
const hours = Effect.fnUntraced(function* (count: number) {
  for (let n = 0; n < count; n++) {
    yield* TestClock.adjust("1 hour")
    yield* check
  }
})
const lostAt = Effect.gen(function* () {
  return Option.getOrThrow(yield* (yield* Records).domain(name)).lostAtMillis
})

describe("A company's domain", () => {
  scenario(
    "domain: a domain is verified by its DNS record, and until then the response contains the record to set",
    function* () {
      const row = yield* company()
      const refusal = yield* Effect.flip(verify(row, "Bücher.example"))
      assert.deepInclude(refusal, {
        _tag: "DomainNotShown",
        domain: name,
        name: `_satrail-verify.${name}`,
        value: `satrail-verify=${row.id}`
      })
      assert.strictEqual(yield* said(lightningAddress(row, "hi", name)), "DomainNotVerified")
      yield* show(row)
      const { domain, shownBy } = yield* verify(row, "BÜCHER.example")
      assert.deepStrictEqual({ domain, shownBy }, { domain: name, shownBy: "dns" })
      yield* lightningAddress(row, "hi", "bücher.example")
      assert.isTrue(yield* answers("hi"))
      assert.deepStrictEqual(yield* verify(row), (yield* (yield* Domains).list(row.id))[0])
    }
  )

  scenario(
    "domain: a company can verify a limited number of domains itself, and the operator can verify more",
    function* () {
      const row = yield* company()
      const { verifyDomain } = yield* Companies
      yield* show(row)
      for (let n = 1; n < maxDomains; n++) yield* verifyDomain(row.id, `d${n}.example`)
      yield* verify(row)
      assert.strictEqual(yield* said(verify(row, "another.example")), "Invalid: domain")
      assert.strictEqual(yield* said(verify(row)), "ok")
      assert.strictEqual(yield* said(verifyDomain(row.id, "another.example")), "ok")
    }
  )

  scenario("domain: the owner's record does not verify the domain for another company", function* () {
    const [owner, other] = [yield* company(), yield* company()]
    yield* show(owner)
    assert.strictEqual(yield* said(verify(other)), "DomainNotShown")
    yield* verify(owner)
    yield* show(owner, other)
    assert.strictEqual(yield* said(verify(other)), "DomainTaken")
    assert.deepStrictEqual(yield* (yield* Domains).list(other.id), [])
  })

  scenario(
    "domain: a custom domain requires a paid plan, and must be a public name other than the service's",
    function* () {
      const row = yield* company()
      assert.strictEqual(yield* said(verify(yield* company("free"))), "PlanRequired: a custom domain")
      assert.strictEqual(yield* said(verify(row, "PAY.example")), "DomainTaken")
      for (const domain of ["", "localhost", "127.0.0.1", "a.example/x", "a.example:80"])
        assert.strictEqual(yield* said(verify(row, domain)), "Invalid: domain", domain)
      yield* (yield* SimulatedDns.SimulatedDns).setAway(true)
      assert.strictEqual(yield* said(verify(row)), "DnsUnavailable")
    }
  )

  scenario(
    "domain: a domain is checked once a day; after three days without the DNS record, the domain's addresses can no longer be paid",
    function* () {
      const row = yield* company()
      yield* show(row)
      yield* verify(row)
      yield* lightningAddress(row, "hi", name)
      yield* hours(48)
      assert.isNull(yield* lostAt)
      yield* show()
      let missedAfterHours = 0
      for (; (yield* lostAt) === null; missedAfterHours++) yield* hours(1)
      assert.isAtMost(missedAfterHours, 25)
      yield* hours(71)
      assert.isTrue(yield* answers("hi"))
      assert.isTrue(yield* isServed(name))
      yield* hours(2)
      assert.isFalse(yield* answers("hi"))
      assert.isFalse(yield* isServed(name))
      assert.strictEqual(yield* said(lightningAddress(row, "more", name)), "DomainNotVerified")
      yield* show(row)
      yield* hours(25)
      assert.isNull(yield* lostAt)
      assert.isTrue(yield* answers("hi"))
    }
  )

  scenario("domain: a lost domain is restored immediately when its owner requests it", function* () {
    const row = yield* company()
    yield* show(row)
    yield* verify(row)
    yield* show()
    yield* hours(24 * 5)
    yield* show(row)
    assert.isNull((yield* verify(row)).lostAtMillis)
    assert.isNull(yield* lostAt)
  })

  scenario("domain: a domain is not lost while its name servers do not respond", function* () {
    const row = yield* company()
    yield* show(row)
    yield* verify(row)
    yield* (yield* SimulatedDns.SimulatedDns).setAway(true)
    yield* hours(24 * 5)
    assert.isNull(yield* lostAt)
    assert.isTrue(yield* isServed(name))
  })

  scenario(
    "domain: the next owner of a lost domain can create new addresses there, but gets none of the old ones",
    function* () {
      const [before, after] = [yield* company(), yield* company()]
      yield* show(before)
      yield* verify(before)
      yield* lightningAddress(before, "hi", name)
      yield* show(after)
      assert.strictEqual(yield* said(verify(after)), "DomainTaken")
      yield* hours(24 + 71)
      assert.strictEqual(yield* said(verify(after)), "DomainTaken")
      yield* hours(3)
      yield* verify(after)
      assert.isFalse(yield* answers("hi"))
      assert.strictEqual(yield* said(lightningAddress(after, "hi", name)), "HandleTaken")
      yield* lightningAddress(after, "hello", name)
      assert.isTrue(yield* answers("hello"))
      assert.strictEqual(yield* said(lightningAddress(before, "more", name)), "DomainNotVerified")
      assert.deepStrictEqual(yield* (yield* Domains).list(before.id), [])
    }
  )

  scenario("domain: internal payments to a lost domain are refused too", function* () {
    const [before, after, payer] = [yield* company(), yield* company(), yield* companyWith(100)]
    yield* show(before)
    yield* verify(before)
    yield* lightningAddress(before, "hi", name)
    yield* confirm(payer, `hi@${name}`, 10)
    yield* steps(2)
    assert.strictEqual((yield* has(before)).posted, 10)
    yield* show(after)
    yield* hours(24 * 5)
    // The address now resolves to the domain's own server, which doesn't exist.
    assert.match(yield* said(confirm(payer, `hi@${name}`, 10)), /^Recipient/)
    yield* verify(after)
    assert.strictEqual(
      yield* said(confirm(payer, `hi@${name}`, 10)),
      "DestinationRefused: recipient_not_found"
    )
    assert.deepStrictEqual([yield* has(before), yield* has(after)], [unheld(10), unheld(0)])
  })

  scenario("domain: a domain that the operator vouches for needs no DNS record", function* () {
    const row = yield* company()
    yield* (yield* Companies).verifyDomain(row.id, name)
    assert.strictEqual((yield* verify(row)).shownBy, "operator")
    yield* hours(24 * 5)
    assert.isTrue(yield* isServed(name))
    yield* made(
      (yield* LightningAddresses).create({ company: row, handle: "hi", domain: name, metadata: {} })
    )
    assert.isTrue(yield* answers("hi"))
  })

  scenario("domain: certificates are issued only for served domains", function* () {
    const row = yield* company()
    yield* show(row)
    assert.isFalse(yield* isServed(name))
    yield* verify(row)
    for (const domain of [name, "Bücher.example", "pay.example", "PAY.EXAMPLE"])
      assert.isTrue(yield* isServed(domain), domain)
    for (const domain of ["", "example", "sub.pay.example", "other.example", "127.0.0.1"])
      assert.isFalse(yield* isServed(domain), domain)
  })
})
