import { assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { SimulatedDns } from "@satrail/sandbox/SimulatedDns"
import { Context, Effect, Result, Scope } from "effect"
import type { Company } from "../src/accounts/Company.ts"
import { Dns } from "../src/base/Dns.ts"
import { OfferSender } from "../src/nodes/OfferSender.ts"
import { Resolver } from "../src/nodes/Resolver.ts"
import * as Instructions from "../src/sending/Instructions.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { listening } from "./Payments.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  got,
  has,
  invoice,
  lightningAddress,
  mine,
  now,
  onChainAddress,
  outputsOf,
  outside,
  type Ports,
  replace,
  run,
  said,
  scenario,
  standing,
  start,
  step,
  steps,
  unheld
} from "./World.ts"

/** An address at the sandbox's external domain, where `settle` is also a Lightning address. */
const address = "settle@wallet.example"
const name = "settle.user._bitcoin-payment.wallet.example"

const publish = (...records: ReadonlyArray<string>) =>
  Effect.flatMap(SimulatedDns, ({ set }) => set(name, records))
const unsigned = (...records: ReadonlyArray<string>) =>
  Effect.flatMap(SimulatedDns, ({ set }) => set(name, records, false))
const away = (isAway: boolean) => Effect.flatMap(SimulatedDns, ({ setAway }) => setAway(isAway))

const estimate = Effect.fnUntraced(function* (payer: Company, destination: string, sats: number) {
  return yield* (yield* Withdrawals).estimate({ company: payer, asked: yield* asked(sats), destination })
})

const chainAddress = Effect.map(outside({ type: "chain_address" }), ({ destination }) => destination)

const key = new Uint8Array(32).fill(7)
const bolt11 = (fields: Partial<Parameters<typeof Bolt11.encode>[0]>) =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network: "regtest",
        timestampSeconds: 1_700_000_000,
        paymentHash: PaymentHash.make("22".repeat(32)),
        paymentSecret: "33".repeat(32),
        description: "tea",
        ...fields
      },
      Bolt11.signWith(key)
    )
  )
const expired = bolt11({ timestampSeconds: 1_600_000_000 })

describe("BIP 353, the record", () => {
  it("BIP 353: the record is at user.user._bitcoin-payment.domain", () => {
    assert.strictEqual(
      Instructions.nameOf({ handle: "matt", domain: "mattcorallo.com" }),
      "matt.user._bitcoin-payment.mattcorallo.com"
    )
    for (const handle of ["a..b", ".a", "a.", "a".repeat(64)])
      assert.isUndefined(Instructions.nameOf({ handle, domain: "b.example" }), handle)
    const long = Array.from({ length: 60 }, () => "abc").join(".")
    assert.isUndefined(Instructions.nameOf({ handle: "a", domain: long }))
  })

  const read = (...texts: ReadonlyArray<string>) => Instructions.uriOf({ texts, isSigned: true })
  it("BIP 353: records that do not begin with bitcoin:, in any letter case, are ignored", () => {
    assert.deepStrictEqual(
      read("v=spf1 -all", "BitCoin:?lno=lno1abc", "bitcoin is cool"),
      Result.succeed("BitCoin:?lno=lno1abc")
    )
    assert.deepStrictEqual(read("v=spf1 -all", " bitcoin:?lno=x"), Result.succeed(undefined))
    assert.deepStrictEqual(read(), Result.succeed(undefined))
  })
  it("BIP 353: several records, an unsigned record or an invalid URI cause an error, and do not count as a missing record", () => {
    for (const texts of [
      ["bitcoin:?lno=a", "bitcoin:?lno=b"],
      ["bitcoin:?lno=a", "bitcoin:?lno=a"],
      ["bitcoin:?lno=a", "BITCOIN:"],
      ["bitcoin:?label=a b"],
      ["bitcoin:\u00e9"],
      ["bitcoin:\u0000"],
      [`bitcoin:${"a".repeat(5000)}`]
    ])
      assert.isTrue(Result.isFailure(read(...texts)), JSON.stringify(texts).slice(0, 60))
    assert.isTrue(Result.isFailure(Instructions.uriOf({ texts: ["bitcoin:?lno=a"], isSigned: false })))
    assert.isTrue(Result.isSuccess(Instructions.uriOf({ texts: ["v=spf1"], isSigned: false })))
  })

  const segwit = "bc1qztwy6xen3zdtt7z0vrgapmjtfz8acjkfp5fp7l"
  const ways = (uri: string, sats = 1000) => {
    const found = Instructions.methodsOf(uri, Msat.fromSats(sats), "mainnet")
    return Result.isSuccess(found) ? found.success.map(({ _tag }) => _tag) : found.failure
  }
  it("BIP 353: a record's destinations are its invoice and then its address; a destination that cannot be parsed is left out", () => {
    const mainnet = bolt11({ network: "mainnet" })
    assert.deepStrictEqual(ways(`bitcoin:?bc=${segwit}`), ["ChainAddress"])
    assert.deepStrictEqual(ways(`bitcoin:${segwit}?lightning=${mainnet}&sp=sp1new`), [
      "LightningInvoice",
      "ChainAddress"
    ])
    assert.deepStrictEqual(ways(`bitcoin:${segwit}?lightning=lnbc1nonsense`), ["ChainAddress"])
    assert.deepStrictEqual(ways(`bitcoin:${segwit}?amount=0.00001`), ["ChainAddress"])
  })
  it("BIP 353: a record is refused if it has no supported method, a different amount, or an unknown required parameter", () => {
    for (const uri of [
      `bitcoin:${segwit}?amount=0.00002`,
      `bitcoin:${segwit}?req-new=1`,
      `bitcoin:${segwit}?amount=0.00001&amount=0.00001`,
      "bitcoin:?sp=sp1new",
      "bitcoin:",
      "bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
      "bitcoin:?lightning=lnurlp://wallet.example/pay",
      "bitcoin:?lightning=alice@wallet.example",
      `bitcoin:?lightning=${segwit}`,
      `bitcoin:${bolt11({ network: "mainnet" })}`
    ])
      assert.isString(ways(uri), uri)
  })
})

describe("BIP 353, paying a name", () => {
  scenario(
    "BIP 353: the record's address is paid; the name with its ₿ is stored as the payee, and the address as the paid destination",
    function* () {
      const payer = yield* companyWith(50_000)
      const to = yield* chainAddress
      yield* publish("v=spf1", `bitcoin:${to}`)
      for (const destination of [address, `₿${address}`, `₿Settle@Wallet.example`]) {
        const { recipient, recipientType, instructed, successProbability, fee } = yield* estimate(
          payer,
          destination,
          1000
        )
        assert.deepStrictEqual(
          [recipient, recipientType, successProbability],
          [`₿${address}`, "lightning_address", 1]
        )
        assert.strictEqual(instructed?._tag === "ChainAddress" && instructed.address.address, to)
        assert.strictEqual(fee.network, Msat.fromSats(500))
      }
      const row = yield* confirm(payer, address, 20_000)
      assert.deepStrictEqual([row.recipient, row.rail, row.paymentRequest], [`₿${address}`, "on_chain", null])
      yield* step
      yield* step
      const sent = yield* now(row)
      assert.deepStrictEqual([sent.status, sent.paymentRequest, sent.paymentHash], ["pending", to, null])
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* outputsOf({ ...row, recipient: to }), [["mined", 20_000]])
    }
  )

  scenario("BIP 353: a suitable invoice in the record is preferred to the record's address", function* () {
    const payer = yield* companyWith(5000)
    const { destination } = yield* outside({ type: "lightning_invoice", sats: 1000 })
    yield* publish(`bitcoin:${yield* chainAddress}?lightning=${destination}`)
    const row = yield* confirm(payer, address, 1000)
    assert.strictEqual(row.rail, "lightning")
    yield* step
    const paid = yield* now(row)
    assert.deepStrictEqual(
      [paid.status, paid.paymentRequest, paid.recipient],
      ["settled", destination, `₿${address}`]
    )
    assert.deepStrictEqual(yield* got(paid.paymentHash ?? undefined), { times: 1, sats: 1000 })
  })

  scenario(
    "BIP 353: an offer in the record is preferred to the record's invoice and address, and every withdrawal pays that offer",
    function* () {
      const payer = yield* companyWith(5000)
      const [offer, lightning] = [
        yield* outside({ type: "bolt12_offer" }),
        yield* outside({ type: "lightning_invoice", sats: 1000 })
      ]
      yield* publish(
        `bitcoin:${yield* chainAddress}?lightning=${lightning.destination}&lno=${offer.destination}`
      )
      const { instructed, recipientType } = yield* estimate(payer, address, 1000)
      assert.deepStrictEqual([instructed?._tag, recipientType], ["Bolt12Offer", "lightning_address"])
      const rows = [yield* confirm(payer, address, 1000), yield* confirm(payer, `₿${address}`, 1000)]
      yield* steps(2)
      for (const row of rows) {
        const { status, paymentRequest, recipient } = yield* now(row)
        assert.deepStrictEqual(
          [status, paymentRequest, recipient],
          ["settled", offer.destination, `₿${address}`]
        )
      }
    }
  )

  scenario(
    "BIP 353: if the node cannot pay offers, the record's address is paid, and a record with only an offer is refused",
    function* () {
      const payer = yield* companyWith(5000)
      const { destination: offer } = yield* outside({ type: "bolt12_offer" })
      const ports = Context.omit(OfferSender)(yield* Effect.context<Ports>())
      const other = yield* Effect.updateContext(start(ports), (context: Context.Context<Scope.Scope>) =>
        Context.pick(Scope.Scope)(context)
      )
      const ask = { company: payer, asked: yield* asked(1000), destination: address }
      yield* publish(`bitcoin:${yield* chainAddress}?lno=${offer}`)
      assert.strictEqual(
        (yield* Context.get(other, Withdrawals).estimate(ask)).instructed?._tag,
        "ChainAddress"
      )
      yield* publish(`bitcoin:?lno=${offer}`)
      assert.match(
        yield* said(Context.get(other, Withdrawals).estimate(ask)),
        /^DestinationRefused: unsupported/
      )
    }
  )

  for (const [what, lightning] of [
    ["for another amount", bolt11({ amount: Msat.fromSats(999) })],
    ["for a millisatoshi more", bolt11({ amount: Msat.make(1_000_001n) })],
    ["that is expired", expired],
    ["of another network", bolt11({ network: "mainnet" })]
  ] as const) {
    scenario(`C39: BIP 353: an invoice ${what} is skipped and the record's address is used`, function* () {
      const payer = yield* companyWith(5000)
      yield* publish(`bitcoin:${yield* chainAddress}?lightning=${lightning}`)
      assert.strictEqual((yield* estimate(payer, address, 1000)).instructed?._tag, "ChainAddress")
      yield* publish(`bitcoin:?lightning=${lightning}`)
      assert.notStrictEqual(yield* said(estimate(payer, address, 1000)), "ok")
    })
  }

  scenario("BIP 353: an amount below the relay minimum for the record's address is refused", function* () {
    const payer = yield* companyWith(5000)
    yield* publish(`bitcoin:${yield* chainAddress}`)
    assert.strictEqual(yield* said(estimate(payer, address, 200)), "DestinationRefused: dust")
  })

  scenario(
    "BIP 353: a payment to a name whose record has our own address or invoice is settled internally",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      yield* publish(`bitcoin:${(yield* onChainAddress(payee)).address}`)
      const first = yield* confirm(payer, address, 1000)
      yield* publish(`bitcoin:?lightning=${(yield* invoice(payee, 500)).paymentRequest}`)
      const second = yield* confirm(payer, `₿${address}`, 500)
      yield* publish(`bitcoin:${(yield* onChainAddress(payee)).address}`)
      yield* step
      // The first withdrawal was confirmed for an on-chain address, which the record still offers. The second was
      // confirmed for Lightning, which the record no longer offers.
      assert.deepStrictEqual(
        [yield* standing(first), yield* standing(second)],
        ["settled", "failed: recipient_refused"]
      )
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(4000), unheld(1000)])
    }
  )

  scenario(
    "BIP 353: a payment to our own name, with or without ₿, is settled internally and needs no DNS query",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const ours = yield* lightningAddress(payee)
      yield* away(true)
      for (const destination of [`${ours.handle}@${ours.domain}`, `₿${ours.handle}@${ours.domain}`]) {
        const row = yield* confirm(payer, destination, 1000)
        yield* step
        assert.strictEqual(yield* standing(row), "settled")
      }
      assert.deepStrictEqual(yield* has(payee), { posted: 2000, held: 0 })
      assert.strictEqual(
        yield* said(estimate(payer, `₿nobody@${ours.domain}`, 1000)),
        "DestinationRefused: recipient_not_found"
      )
    }
  )
})

describe("BIP 353, limits to certain payees", () => {
  scenario(
    "BIP 353: a limit to the payee user@domain also allows its record; a limit to ₿user@domain allows only the record",
    function* () {
      const company = yield* companyWith(50_000)
      const limitedTo = (recipient: string) => ({ ...company, limits: { recipients: [recipient] } })
      yield* publish(`bitcoin:${yield* chainAddress}`)
      for (const [recipient, outcome] of [
        [address, "ok"],
        [`₿${address}`, "ok"],
        ["fail@wallet.example", "LimitExceeded"]
      ] as const)
        assert.strictEqual(yield* said(confirm(limitedTo(recipient), address, 1000)), outcome, recipient)
      yield* publish()
      assert.strictEqual(yield* said(confirm(limitedTo(`₿${address}`), address, 1000)), "LimitExceeded")
      assert.strictEqual(yield* said(confirm(limitedTo(address), address, 1000)), "ok")
      yield* publish(`bitcoin:${yield* chainAddress}`)
      yield* steps(2)
      yield* mine(1)
      yield* steps(2)
    }
  )
})

describe("BIP 353, without a record", () => {
  scenario(
    "BIP 353: without a record, user@domain is a Lightning address and ₿user@domain is not found",
    function* () {
      const payer = yield* companyWith(5000)
      for (const records of [[], ["v=spf1 -all"]]) {
        yield* publish(...records)
        const { recipient, instructed } = yield* estimate(payer, address, 1000)
        assert.deepStrictEqual([recipient, instructed], [address, undefined])
        assert.strictEqual(
          yield* said(estimate(payer, `₿${address}`, 1000)),
          "DestinationRefused: recipient_not_found"
        )
      }
      const row = yield* confirm(payer, address, 1000)
      assert.strictEqual(row.recipient, address)
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  it.effect(
    "BIP 353: without a resolver, user@domain is a Lightning address and ₿user@domain is refused",
    () =>
      run(
        { change: (ports) => Context.add(ports, Dns, Dns.of({ txt: Context.get(ports, Dns).txt })) },
        function* () {
          const payer = yield* companyWith(5000)
          yield* publish(`bitcoin:${yield* chainAddress}`)
          assert.strictEqual((yield* estimate(payer, address, 1000)).recipient, address)
          assert.strictEqual(
            yield* said(estimate(payer, `₿${address}`, 1000)),
            "DestinationRefused: unsupported"
          )
        }
      )
  )
})

/** Makes the test fail if a payee's server is contacted. */
const withoutServers = {
  change: replace(Resolver, () => ({
    offer: () => Effect.die("the payee's server was contacted"),
    invoice: () => Effect.die("the domain's server was contacted")
  }))
}

describe("BIP 353, no fallback to the Lightning address", () => {
  for (const [what, spoil, refusal] of [
    [
      "two records",
      publish("bitcoin:?lno=a", "bitcoin:?lno=b"),
      "RecipientRefused: its domain's DNS has more than one bitcoin: record for it (BIP 353)"
    ],
    [
      "a record that is not signed",
      unsigned(`bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080`),
      "RecipientRefused: its domain's DNS has a bitcoin: record for it that is not signed (DNSSEC)"
    ],
    [
      "a record with nothing that can be paid here",
      publish("bitcoin:?lno=lno1abc&req-x=1"),
      `RecipientRefused: its domain's DNS record cannot be paid: The bitcoin: URI requires "req-x", which this service does not support`
    ],
    ["no answer", away(true), "RecipientUnreachable: its domain's DNS gave no conclusive response (BIP 353)"]
  ] as const) {
    scenario(
      `BIP 353: the domain's server is not contacted if DNS returns ${what}`,
      withoutServers,
      function* () {
        const payer = yield* companyWith(5000)
        yield* spoil
        for (const destination of [address, `₿${address}`]) {
          assert.strictEqual(yield* said(estimate(payer, destination, 1000)), refusal)
          assert.strictEqual(yield* said(confirm(payer, destination, 1000)), refusal)
        }
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      }
    )
  }

  for (const [what, later] of [
    ["is missing", publish()],
    ["is no longer signed", unsigned("bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080")],
    ["is one of two", publish("bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", "bitcoin:?lno=b")],
    ["has only an invoice", publish(`bitcoin:?lightning=${bolt11({})}`)]
  ] as const) {
    scenario(
      `BIP 353: if a withdrawal's record ${what} at the time of sending, nothing is paid, no server is contacted, and the withdrawal fails with its funds released`,
      () => {
        const { calls, change } = listening()
        return {
          calls,
          change: (ports: Parameters<typeof change>[0]) => withoutServers.change(change(ports))
        }
      },
      function* ({ calls }) {
        const payer = yield* companyWith(5000)
        yield* publish(`bitcoin:${yield* chainAddress}`)
        const row = yield* confirm(payer, address, 1000)
        yield* later
        yield* step
        yield* step
        assert.strictEqual(yield* standing(row), "failed: recipient_refused")
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
        assert.notInclude(calls, "pay")
        assert.notInclude(calls, "WithdrawalDispatched")
      }
    )
  }

  scenario(
    "BIP 353: a withdrawal waits while DNS is unavailable; after five minutes it fails, and its funds are released",
    withoutServers,
    function* () {
      const payer = yield* companyWith(50_000)
      const to = yield* chainAddress
      yield* publish(`bitcoin:${to}`)
      const [first, second] = [yield* confirm(payer, address, 1000), yield* confirm(payer, address, 2000)]
      yield* away(true)
      yield* steps(10)
      assert.deepStrictEqual([yield* standing(first), yield* standing(second)], ["pending", "pending"])
      yield* away(false)
      yield* steps(4)
      assert.strictEqual((yield* now(first)).paymentRequest, to)
      yield* mine(1)
      yield* steps(2)
      const third = yield* confirm(payer, address, 3000)
      yield* away(true)
      yield* steps(24)
      assert.strictEqual(yield* standing(third), "failed: recipient_unreachable")
    }
  )

  scenario(
    "BIP 353: a payee who rotates the address is paid at the address that is current when the payment is sent",
    function* () {
      const payer = yield* companyWith(50_000)
      const [before, after] = [yield* chainAddress, yield* chainAddress]
      yield* publish(`bitcoin:${before}`)
      const row = yield* confirm(payer, address, 1000)
      yield* publish(`bitcoin:${after}`)
      yield* step
      yield* step
      assert.strictEqual((yield* now(row)).paymentRequest, after)
      yield* mine(1)
      yield* steps(2)
      assert.deepStrictEqual(
        [yield* outputsOf({ ...row, recipient: before }), yield* outputsOf({ ...row, recipient: after })],
        [[], [["mined", 1000]]]
      )
    }
  )

  scenario(
    "BIP 353: a payment fails and its funds are released if the address was ours at confirmation but is no longer ours when the payment is sent",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      yield* publish(`bitcoin:${(yield* onChainAddress(payee)).address}`)
      const row = yield* confirm(payer, address, 1000)
      yield* publish(`bitcoin:${yield* chainAddress}`)
      yield* step
      yield* step
      assert.strictEqual(yield* standing(row), "failed: recipient_refused")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    }
  )
})
