import { assert, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Outbound from "@satrail/web/Outbound"
import { Effect, Option } from "effect"
import * as Customer from "../Customer.ts"
import type { Company } from "../Service.ts"
import * as Pair from "./Pair.ts"

const thanks = "Thank you for the tea"

const run = <A>(use: () => Promise<A>) => Effect.promise(use)

/** A company's Lightning address with a thank-you message. */
const addressOf = async (side: Pair.Side, { key, post }: Company): Promise<string> => {
  const route = "/v1/bitcoin/deposit/lightning-address"
  const { id, address } = await Customer.data(201, post(route, {}))
  await Customer.data(200, side.ask("PUT", `${route}/${id}`, { key, body: { success_message: thanks } }))
  return address
}

/** A company of this service, funded externally with this amount. */
const fundedAt = Effect.fnUntraced(function* (
  side: Pair.Side,
  sandbox: Effect.Success<typeof Pair.make>["sandbox"],
  sats: number
) {
  const company = yield* run(() => side.company("paid"))
  const { payment_request: paymentRequest } = yield* run(() => Customer.invoice(company, sats))
  yield* sandbox.pay({ paymentRequest })
  yield* run(() => Customer.hasBalance(company, sats))
  return company
})

/** The invoice requests a service received, with its responses. */
const callbacks = ({ front }: Pair.Side) =>
  front.asked
    .filter(({ path }) => path.includes("/callback?"))
    .map(({ host, answer }) => ({ host, ...JSON.parse(answer) }))

it.live(
  "LNURL: two services find each other's Lightning addresses by domain, pay them, and obtain proofs of payment",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { first, second, sandbox, allow } = yield* Pair.make
        const sent: Array<
          { readonly payer: Pair.Side; readonly companyId: CompanyId.CompanyId } & Record<
            "id" | "pr" | "preimage",
            string
          >
        > = []
        for (const [payer, payee, domain] of [
          [first, second, "second.example"],
          [second, first, "first.example"]
        ] as const) {
          const [shop, from] = [
            yield* run(() => payee.company("paid")),
            yield* fundedAt(payer, sandbox, 50_000)
          ]
          const address = yield* run(() => addressOf(payee, shop))
          assert.isTrue(address.endsWith(`@${domain}`), address)

          yield* run(() => Customer.estimate(from, address, 1234))
          const [estimated] = callbacks(payee)
          const confirmed = yield* run(() => Customer.data(201, Customer.confirm(from, address, 1234)))
          const { id } = confirmed
          const paid = yield* run(() => Customer.ends(from, id, "settled"))
          const { payment_preimage: preimage } = paid.lightning_payment

          yield* run(() => Customer.hasBalance(shop, 1234))
          const [asked, ...more] = callbacks(payee).slice(1)
          assert.deepStrictEqual(
            [asked?.host, more],
            [domain, []],
            "one invoice, requested at the address's domain"
          )
          assert.notStrictEqual(asked.pr, estimated?.pr, "paying requests a new invoice")
          assert.strictEqual(new URL(asked.verify).host, domain)
          const verified = yield* Outbound.make({ allow }).ask({ url: asked.verify })
          assert.deepStrictEqual(JSON.parse(verified.body), {
            status: "OK",
            settled: true,
            preimage,
            pr: asked.pr
          })

          assert.strictEqual(yield* run(() => Customer.balance(from)), Customer.without(50_000, confirmed))
          sent.push({ payer, companyId: CompanyId.make(from.id), id, pr: asked.pr, preimage })
        }
        for (const { payer, companyId, id, pr, preimage } of sent) {
          const withdrawal = Option.getOrThrow(
            yield* payer.close(({ withdrawal }) => withdrawal(companyId, id))
          )
          assert.deepStrictEqual(withdrawal.successAction, { tag: "message", message: thanks })
          assert.deepStrictEqual(
            [withdrawal.paymentRequest, withdrawal.paymentHash],
            [pr, Customer.hashOf(preimage)]
          )
          assert.isAbove(Number(withdrawal.networkFee), 0, "the payment went through the network")
        }
      })
    )
)

it.live(
  "LNURL: an invoice that differs from the requested one is not paid, and the payer's funds are released",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { first, second, sandbox } = yield* Pair.make
        const [shop, from] = [
          yield* run(() => second.company("paid")),
          yield* fundedAt(first, sandbox, 50_000)
        ]
        const address = yield* run(() => addressOf(second, shop))
        // Use a lower amount, because a node would pay an invoice for less than the requested amount.
        second.front.falsify((path) => path.replace("amount=1234000", "amount=1000000"))
        const { id } = yield* run(() => Customer.data(201, Customer.confirm(from, address, 1234)))
        yield* run(() => Customer.ends(from, id, "failed"))
        assert.lengthOf(callbacks(second), 1)
        assert.strictEqual(yield* run(() => Customer.balance(from)), 50_000)
        assert.strictEqual(yield* run(() => Customer.balance(shop)), 0)
        const withdrawal = Option.getOrThrow(
          yield* first.close(({ withdrawal }) => withdrawal(CompanyId.make(from.id), id))
        )
        assert.isNull(withdrawal.paymentHash, "the node never received it")
        yield* second.close(() => Effect.void)
      })
    )
)
