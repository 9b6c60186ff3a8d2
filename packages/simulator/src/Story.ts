import * as Msat from "@satrail/bitcoin/Msat"
import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import * as Domain from "@satrail/core/accounts/Domain"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Behaviour, SandboxRefused } from "@satrail/sandbox/Sandbox"
import { type Effect, type Exit, HashMap } from "effect"
import * as Customers from "./Customers.ts"
import { text } from "./Customers.ts"
import { operatorToken } from "./Front.ts"
import type { Act, Operation, To } from "./Operation.ts"
import type { Seen } from "./Seen.ts"
import type { Stage } from "./Stage.ts"

/** A story that is being told: does what was drawn, with what there is by then. */
export interface Story {
  readonly tell: (operation: Operation) => Promise<void>
  /** Everybody asks again what was not answered, and so many times what is held is let go and blocks come. */
  readonly finish: (rounds: number) => Promise<void>
}

/** The one that is `which` places before the latest. */
const latest = <A>(items: ReadonlyArray<A>, which: number): A | undefined =>
  items.length === 0 ? undefined : items.at(-1 - (which % items.length))

const paths = {
  invoice: "/v1/bitcoin/deposit/lightning-invoice",
  address: "/v1/bitcoin/deposit/lightning-address",
  chain: "/v1/bitcoin/deposit/on-chain",
  withdraw: ["/v1/bitcoin/withdraw/confirm", "/v1/bitcoin/send/confirm"],
  vouchers: "/v1/vouchers"
} as const

/** Bodies that cannot be taken, of every kind there is. */
const malformed: ReadonlyArray<readonly [path: string, body: string]> = [
  [paths.invoice, "{"],
  [paths.invoice, '{"amount": -1, "currency": "sats"}'],
  [paths.invoice, '{"amount": 1e400, "currency": "sats"}'],
  [paths.invoice, '{"amount": 1, "currency": "doubloons"}'],
  [paths.invoice, '{"amount": 1, "currency": "sats", "metdata": {}}'],
  [paths.invoice, '{"amount": 1, "currency": "sats", "expiry_seconds": 1}'],
  [paths.withdraw[0], '{"destination": ""}'],
  [paths.withdraw[0], '{"destination": "lnbc1pvjluez", "amount": 1, "currency": "sats"}'],
  [paths.withdraw[0], '{"destination": "nobody@nowhere.example", "amount": 1, "currency": "sats"}'],
  [paths.withdraw[1], '{"amount": 1, "currency": "sats"}'],
  [paths.withdraw[1], '{"destination": "settle@wallet.example", "amount": 99999999999, "currency": "sats"}'],
  [paths.withdraw[1], '{"destination": "settle@wallet.example", "amount": 0, "currency": "sats"}'],
  [paths.vouchers, '{"amount": 1, "currency": "sats", "expiry_seconds": 59}'],
  [paths.vouchers, '{"amount": 50000000, "currency": "sats"}'],
  [paths.address, '{"handle": "Not A Handle"}'],
  [paths.chain, '{"address_type": "legacy"}']
]

export const make = (stage: Stage, seen: Seen): Story => {
  const { world, coverage } = stage
  const { sandbox } = world
  const customers = Customers.make(stage, seen)
  const invoices: Array<string> = []
  const addresses: Array<string> = []
  const addressIds: Array<{ readonly id: string; readonly bearer: string }> = []
  const chainAddresses: Array<string> = []
  const destinations: Array<string> = []
  const vouchers: Array<{ readonly id: string; readonly k1: string; readonly sats: number; readonly bearer: string }> = []
  const transactions: Array<TxId.TxId> = []

  let hasLied = false

  const outside = <A>(what: string, effect: Effect.Effect<A, SandboxRefused>): A | undefined => {
    const exit: Exit.Exit<A, SandboxRefused> = world.now(effect)
    stage.note(`outside ${what} ${exit._tag}`)
    return exit._tag === "Success" ? exit.value : undefined
  }

  const sats = (amount: number) => ({ amount, currency: "sats" })
  const post = (
    { slot, company, isOnce }: { readonly slot: number; readonly company: number; readonly isOnce: boolean },
    path: string,
    body: object,
    made?: (data: unknown, bearer: string) => void
  ): void => {
    const asker = latest(customers.companies, company)
    if (asker === undefined) return
    const once = isOnce ? customers.freshKey() : undefined
    const { bearer } = asker
    const metadata = once === undefined ? {} : { once }
    customers.ask({ slot, method: "POST", path, bearer, once, body: JSON.stringify({ ...body, metadata }) }, (data) => made?.(data, bearer))
  }

  const recipient = (
    type: "lightning_invoice" | "lightning_address" | "lnurl" | "chain_address",
    behaviour: Behaviour,
    amount?: number
  ) => {
    const found = outside(
      `asks for ${type}`,
      sandbox.destination({ type, behaviour, ...(amount !== undefined && { amount: Msat.fromSats(amount) }) })
    )
    return found?.destination
  }

  /** A destination, and whether it leaves the amount to whoever pays. */
  const destinationOf = (to: To, amount: number): { readonly destination: string | undefined; readonly isOpen: boolean } => {
    switch (to._tag) {
      case "Invoice":
        return { destination: recipient("lightning_invoice", to.behaviour, amount), isOpen: false }
      case "OpenInvoice":
        return { destination: recipient("lightning_invoice", to.behaviour), isOpen: true }
      case "Address":
        return { destination: recipient("lightning_address", to.behaviour), isOpen: true }
      case "Lnurl":
        return { destination: recipient("lnurl", to.behaviour), isOpen: true }
      case "Chain":
        return { destination: recipient("chain_address", "settle"), isOpen: true }
      case "OwnInvoice":
        return { destination: latest(invoices, to.which), isOpen: false }
      case "OwnAddress":
        return { destination: latest(addresses, to.which), isOpen: true }
      case "OwnChain":
        return { destination: latest(chainAddresses, to.which), isOpen: true }
      case "Again": {
        const destination = latest(destinations, to.which)
        return { destination, isOpen: destination?.startsWith("ln") !== true || destination.startsWith("lnurl") }
      }
    }
  }

  const payTo = (paymentRequest: string, how: "exact" | "more" | "double", isHeld: boolean): void => {
    const asked = /^lnbcrt(\d+)([munp]?)1/.exec(paymentRequest)
    const unit = { "": 100_000_000_000n, m: 100_000_000n, u: 100_000n, n: 100n, p: 0n }[asked?.[2] ?? ""] ?? 0n
    const exact = asked?.[2] === "p" ? BigInt(asked[1] ?? 0) / 10n : BigInt(asked?.[1] ?? 0) * unit
    const amount = how === "exact" ? undefined : Msat.make(how === "more" ? exact + 1n : exact * 2n)
    outside(`pays ${how} ${isHeld ? "and holds" : ""}`, sandbox.pay({ paymentRequest, amount, hold: isHeld }))
  }

  /** What is on its way and waits for somebody outside, by hash. */
  const held = (): ReadonlyArray<PaymentHash> => {
    const now = outside("looks", sandbox.state)
    if (now === undefined) return []
    const outgoing = HashMap.toValues(now.lightning.sent).filter(({ stage }) => stage._tag === "pending")
    const incoming = HashMap.toValues(now.lightning.invoices).filter(({ stage }) => stage._tag === "accepted")
    return [...outgoing, ...incoming].map(({ paymentHash }) => paymentHash).toSorted()
  }

  const bech = (lnurlw: string): string => new URL(lnurlw.replace(/^lnurlw:/, "https:")).searchParams.get("k1") ?? ""

  /** What an operator does, and what a company does about its addresses. */
  const administer = ({ company, slot, what, which }: Extract<Act, { readonly _tag: "Administer" }>): void => {
    const one = latest(customers.companies, company)
    if (one === undefined) return
    const operator = { slot, method: "POST", bearer: operatorToken } as const
    const domain = `d${which}.example`
    const path = `/operator/companies/${one.id}`
    switch (what) {
      case "plan":
        return customers.ask({ ...operator, path: `${path}/plan`, body: JSON.stringify({ plan: which % 2 === 0 ? "paid" : "free" }) })
      case "vouch":
        return customers.ask({ ...operator, path: `${path}/domains`, body: JSON.stringify({ domain: `v${domain}` }) })
      case "domain": {
        const { name, value } = Domain.record({ domain, companyId: one.id })
        world.now(world.names.set(name, [value]))
        return customers.ask({ ...operator, bearer: one.bearer, path: "/v1/domains", body: JSON.stringify({ domain }) })
      }
      case "address":
      case "delete": {
        const address = latest(addressIds, which)
        if (address === undefined) return
        const path = `${paths.address}/${address.id}`
        return what === "delete"
          ? customers.ask({ slot, method: "DELETE", bearer: address.bearer, path })
          : customers.ask({
              slot,
              method: "PUT",
              bearer: address.bearer,
              path,
              body: JSON.stringify({ min_sats: 1, max_sats: 1000, success_message: "thanks" })
            })
      }
      case "revoke": {
        const body = JSON.stringify({ name: "another", scopes: ["admin"] })
        return customers.ask({ ...operator, path: `${path}/api-keys`, body }, (data) => {
          const [id, key] = [text(data, "id"), text(data, "key")]
          customers.ask({ slot, method: "DELETE", bearer: operatorToken, path: `/operator/api-keys/${id}` }, () =>
            customers.isClosed(key, slot)
          )
        })
      }
    }
  }

  const act = (act: Act): Promise<void> | void => {
    switch (act._tag) {
      case "OpenCompany": {
        const ask = { slot: act.slot, bearer: operatorToken, method: "POST" } as const
        const body = JSON.stringify({ name: "Acme", plan: act.plan })
        return customers.ask({ ...ask, path: "/operator/companies", body }, (data) => {
          const id = text(data, "id")
          const key = JSON.stringify({ name: "key", scopes: ["admin"] })
          customers.ask({ ...ask, path: `/operator/companies/${id}/api-keys`, body: key }, (data) => {
            customers.companies.push({ id: CompanyId.make(id), bearer: text(data, "key") })
          })
        })
      }
      case "CreateInvoice": {
        const body = { ...sats(act.sats), description: "tea", expiry_seconds: act.expirySeconds }
        return post(act, paths.invoice, body, (data) => void invoices.push(text(data, "payment_request")))
      }
      case "CreateAddress":
        return post(act, paths.address, {}, (data, bearer) => {
          addresses.push(text(data, "address"))
          addressIds.push({ id: text(data, "id"), bearer })
        })
      case "CreateChainAddress":
        return post(act, paths.chain, { address_type: act.type }, (data) => void chainAddresses.push(text(data, "address", "address")))
      case "Withdraw": {
        const { destination, isOpen } = destinationOf(act.to, act.sats)
        if (destination === undefined) return
        destinations.push(destination)
        const path = paths.withdraw[act.sats % 2] ?? paths.withdraw[0]
        return post(act, path, { destination, ...(isOpen && sats(act.sats)) })
      }
      case "CreateVoucher": {
        const body = { ...sats(act.sats), description: "a gift", expiry_seconds: act.expirySeconds }
        return post(act, paths.vouchers, body, (data, bearer) => {
          vouchers.push({ id: text(data, "id"), k1: bech(text(data, "lnurlw")), sats: act.sats, bearer })
        })
      }
      case "ClaimVoucher": {
        const voucher = latest(vouchers, act.which)
        if (voucher === undefined) return
        const pr =
          act.into === "own"
            ? latest(invoices, act.which)
            : recipient("lightning_invoice", act.behaviour, act.into === "wrong" ? voucher.sats + 1 : voucher.sats)
        if (pr === undefined) return
        const query = new URLSearchParams({ k1: voucher.k1, pr })
        return customers.ask({ slot: act.slot, method: "GET", path: `/lnurlw/callback?${query.toString()}` })
      }
      case "CancelVoucher": {
        const voucher = latest(vouchers, act.which)
        if (voucher === undefined) return
        return customers.ask({ slot: act.slot, method: "DELETE", path: `${paths.vouchers}/${voucher.id}`, bearer: voucher.bearer })
      }
      case "Repeat": {
        const request = latest(customers.requests, act.which)
        if (request === undefined) return
        if (!act.isOther || request.ask.once === undefined) return customers.repeat(request, act.slot)
        return customers.misuse(request, act.slot)
      }
      case "Malformed": {
        const [path, body] = latest(malformed, act.which) ?? [paths.invoice, ""]
        const bearer = latest(customers.companies, act.company)?.bearer
        return customers.ask({ slot: act.slot, method: "POST", path, body, bearer: act.which % 7 === 0 ? "nobody's" : bearer })
      }
      case "Look": {
        const bearer = latest(customers.companies, act.company)?.bearer
        const path = latest(
          ["/v1/transactions/balance", "/v1/transactions", "/v1/vouchers", "/v1/transactions?limit=3&type=deposit"],
          act.which
        )
        return customers.ask({ slot: act.slot, method: "GET", path: path ?? "", bearer })
      }
      case "Pay": {
        const paymentRequest = latest(invoices, act.which)
        return paymentRequest === undefined ? undefined : payTo(paymentRequest, act.how, act.isHeld)
      }
      case "PayAddress": {
        const [handle, domain] = latest(addresses, act.which)?.split("@") ?? []
        if (domain === undefined) return
        const wallet = { slot: act.slot, method: "GET" } as const
        return customers.ask({ ...wallet, path: `/.well-known/lnurlp/${handle}` }, (offer) => {
          const { pathname } = new URL(text(offer, "callback"))
          customers.ask({ ...wallet, path: `${pathname}?amount=${act.sats * 1000}` }, (answer) => payTo(text(answer, "pr"), "exact", false))
        })
      }
      case "Release": {
        const paymentHash = latest(held(), act.which)
        if (paymentHash === undefined) return
        return void outside(`lets ${act.outcome}`, sandbox.release({ paymentHash, outcome: act.outcome }))
      }
      case "Send": {
        const payments = act.outputs.flatMap(({ which, sats }) => {
          const address = latest(chainAddresses, which)
          return address === undefined ? [] : [{ address, amount: Msat.fromSats(sats) }]
        })
        const txId = payments.length === 0 ? undefined : outside("sends", sandbox.sendMany(payments))
        if (txId !== undefined) transactions.push(txId)
        return
      }
      case "Mine":
        return void outside("mines", sandbox.mine(act.blocks))
      case "Reorg":
        return void outside("reorganises", sandbox.reorg(act.depth))
      case "DoubleSpend": {
        const txId = latest(transactions, act.which)
        return txId === undefined ? undefined : void outside("spends twice", sandbox.doubleSpend(txId))
      }
      case "FeeRate":
        return world.setFeeRate(act.satsPerVbyte)
      case "Wait":
        return stage.pass(act.millis)
      case "Jump":
        return stage.jump(act.millis)
      case "Kill":
        return stage.kill(act.slot, act.backAfterMillis)
      case "Freeze":
        return stage.freeze(act.slot, act.millis)
      case "Skew":
        return stage.skew(act.slot, act.millis)
      case "TakeAway":
        return stage.takeAway(act.port, act.millis)
      case "IndexBehind":
        world.now(sandbox.pause("index"))
        return void world.time.after(act.millis, () => void world.now(sandbox.resume("index")))
      case "Lay":
        return stage.traps.set(act.trap)
      case "LoseNotice":
        // That somebody paid what it said was closed, a node has to tell: nobody asks about that any more.
        return hasLied ? undefined : void outside("loses a notice", sandbox.loseNextNotice)
      case "RepeatNotices":
        return stage.tellNotices(act.times)
      case "Forget":
        return world.forget()
      case "RoutesDown":
        return world.setRoutesDown(act.areDown)
      case "LieOnce":
        if (outside("looks", sandbox.state)?.lightning.losesNextNotice === true) return
        hasLied = true
        return world.lieOnce()
      case "Administer":
        return administer(act)
    }
  }

  const faults = new Set<Act["_tag"]>([
    "Kill",
    "Freeze",
    "Skew",
    "TakeAway",
    "IndexBehind",
    "LoseNotice",
    "Forget",
    "RoutesDown",
    "LieOnce",
    "Reorg",
    "DoubleSpend",
    "Jump"
  ])

  /** Everybody looks once, this often; a shorter time apart than any role lasts without being renewed. */
  const looks = async (times: number) => {
    for (let at = 0; at < times; at++) await stage.jump(9_500)
  }

  /** Until nothing is on its way: what is held ends, blocks come, time passes. */
  const finish = async (rounds: number) => {
    await stage.calm()
    world.now(sandbox.resume("index"))
    world.setRoutesDown(false)
    world.setFeeRate(2)
    for (let round = 0; round < Math.min(rounds, 3); round++) {
      for (const request of customers.requests) {
        if (request.success === undefined && request.ask.once !== undefined) customers.repeat(request, round)
      }
      await looks(4)
    }
    for (let round = 0; round < rounds; round++) {
      for (const [at, paymentHash] of held().entries())
        outside("lets go", sandbox.release({ paymentHash, outcome: (at + round) % 2 === 0 ? "settle" : "fail" }))
      outside("mines", sandbox.mine(7))
      await looks(7)
      await stage.jump(3_700_000)
    }
    await stage.jump(90_000_000)
    await looks(2 * rounds)
    await customers.compare()
  }

  return {
    tell: async ({ act: what, seed, rushes }) => {
      world.reseed(seed)
      stage.note(`# ${JSON.stringify(what)}`)
      coverage.count("operation", what._tag)
      if (faults.has(what._tag)) coverage.count("fault", what._tag === "TakeAway" ? `${what.port}: away` : what._tag)
      await act(what)
      if (!rushes) await stage.pass(0)
    },
    finish
  }
}
