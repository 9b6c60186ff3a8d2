import type { Async, Commented } from "./Method.ts"
import type { Settled } from "./Settled.ts"

/**
 * The methods with the comments that editors show. They are repeated here because not every editor shows the
 * core's comments through a mapped type.
 */
export interface Documented<M> {
  readonly companies: {
    /**
     * Opens an account. Every invoice, payout and balance belongs to a company. A shop needs one company, and a
     * platform needs one for each customer.
     *
     * @example
     * const shop = await pay.companies.create({ name: "Shop" })
     */
    readonly create: Async<"companies", "create", M>
  }
  readonly apiKeys: {
    /**
     * Issues a key for the HTTP API. `key` is the key, which is shown once.
     *
     * @example
     * const { key } = await pay.apiKeys.create({ company: shop.id, name: "website", scopes: ["read", "receive"] })
     */
    readonly create: Async<"apiKeys", "create", M>
  }
  readonly invoices: {
    /**
     * Creates a Lightning invoice. Show `paymentRequest` to the payer as text or as a QR code, and wait for
     * `deposit.settled`. Without an `amount`, the payer decides.
     *
     * @example
     * const invoice = await pay.invoices.create({ company: shop.id, amount: 21_000, description: "Two coffees" })
     */
    readonly create: Commented<"invoices", "create", M>
    /**
     * Returns an invoice in its current state. `status` is `settled` once it is paid.
     *
     * @example
     * const { status } = await pay.invoices.get(shop.id, invoice.id)
     */
    readonly get: Async<"invoices", "get", M>
    /**
     * Lists invoices, newest first. `await` returns the first page, whose `next` is the `cursor` of the next
     * page.
     *
     * @example
     * for await (const invoice of pay.invoices.list(shop, { status: "settled" })) console.log(invoice.id)
     */
    readonly list: Async<"invoices", "list", M>
  }
  readonly checkouts: {
    /**
     * Creates a payment page that accepts Lightning and on-chain payments. Redirect the payer to its `url`.
     *
     * @example
     * const checkout = await pay.checkouts.create({ company: shop.id, amount: "12.50 eur", description: "Order 1042" })
     */
    readonly create: Commented<"checkouts", "create", M>
  }
  readonly lightningAddresses: {
    /**
     * Creates a Lightning address, such as `k3x9@pay.example.com`. A company on the paid plan chooses its `handle` and `domain`.
     *
     * @example
     * const address = await pay.lightningAddresses.create({ company: shop.id })
     */
    readonly create: Async<"lightningAddresses", "create", M>
  }
  readonly onChainAddresses: {
    /**
     * Creates a bitcoin address. Use a new one for each payment.
     *
     * @example
     * const { address } = await pay.onChainAddresses.create({ company: shop.id })
     */
    readonly create: Async<"onChainAddresses", "create", M>
  }
  readonly withdrawals: {
    /**
     * Checks a destination, and returns the fee and the probability that the payment succeeds. Nothing is sent.
     *
     * @example
     * const { fee } = await pay.withdrawals.estimate({ company: shop.id, amount: 5_000, destination: "ann@example.com" })
     */
    readonly estimate: Async<"withdrawals", "estimate", M>
    /**
     * Sends bitcoin: holds the amount and the fee, and queues the payment. Wait for `withdrawal.settled` or
     * `withdrawal.failed`.
     *
     * @example
     * await pay.withdrawals.confirm({ company: shop.id, amount: 5_000, destination: "ann@example.com", idempotencyKey: "payout-7" })
     */
    readonly confirm: Commented<"withdrawals", "confirm", M>
    /**
     * Waits until a withdrawal settles, and returns it. Throws `NotSettled` if it fails.
     *
     * @example
     * const { preimage } = await pay.withdrawals.settled(shop.id, withdrawal.id)
     */
    readonly settled: Settled<Awaited<ReturnType<Async<"transactions", "withdrawal", M>>>>
  }
  readonly transactions: {
    /**
     * Returns a company's balance.
     *
     * @example
     * const { available } = await pay.transactions.balance(shop.id)
     */
    readonly balance: Async<"transactions", "balance", M>
    /**
     * Returns a withdrawal in its current state.
     *
     * @example
     * const { status } = await pay.transactions.withdrawal(shop.id, withdrawal.id)
     */
    readonly withdrawal: Async<"transactions", "withdrawal", M>
  }
}
