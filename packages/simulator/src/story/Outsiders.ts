import * as Msat from "@satrail/bitcoin/Msat"
import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import type { Behaviour, SandboxRefused } from "@satrail/sandbox/Sandbox"
import { Effect, HashMap } from "effect"
import type { Customers } from "./Customers.ts"
import { text } from "./Json.ts"
import { type Acts, latest, type Made } from "./Made.ts"
import type { Stage } from "./Stage.ts"

/** All parties outside the service: payees, payers, routing nodes and miners. */
export interface Outsiders {
  readonly acts: Acts<"Pay" | "PayAddress" | "Release" | "Send" | "Mine" | "Reorg" | "DoubleSpend">
  /** Performs an action in the sandbox. Returns undefined if the sandbox refuses it. */
  readonly attempt: <A>(what: string, effect: Effect.Effect<A, SandboxRefused>) => A | undefined
  /** Returns a destination of a payee with this behavior. Without `sats`, the payer chooses the amount. */
  readonly recipient: (
    type: "lightning_invoice" | "lightning_address" | "lnurl" | "chain_address" | "bolt12_offer",
    behaviour: Behaviour,
    sats?: number
  ) => string | undefined
  /**
   * Returns the name of a payee whose DNS record contains this destination (BIP 353). There are few names, so
   * this may replace the destination of an earlier payee.
   */
  readonly named: (destination: string) => string | undefined
  /** Has a wallet pay an invoice. */
  readonly pay: (paymentRequest: string) => void
  /** Has a wallet pay this amount for an invoice that has no amount. */
  readonly paySats: (what: string, paymentRequest: string, sats: number) => void
  /**
   * Returns the hashes of payments in flight that wait for an external party. Payments of a hold invoice are
   * not among them, because they wait for a company.
   */
  readonly held: () => ReadonlyArray<PaymentHash>
}

const unitMsats: Readonly<Record<string, bigint>> = {
  "": 100_000_000_000n,
  m: 100_000_000n,
  u: 100_000n,
  n: 100n
}

/** Returns the amount of an invoice, or 0 if the payer chooses it. */
export const amountOf = (paymentRequest: string): bigint => {
  const [, digits = "0", unit = ""] = /^lnbcrt(\d+)([munp]?)1/.exec(paymentRequest) ?? []
  return unit === "p" ? BigInt(digits) / 10n : BigInt(digits) * (unitMsats[unit] ?? 0n)
}

/** Amount that a payer chooses, including a fraction of a satoshi. */
const chosen = 12_345_678n

/**
 * Number of names. There are so few that a name's destination may change while a payment to the name is in
 * progress.
 */
const payees = 3

export const make = ({ world, note }: Stage, customers: Customers, made: Made): Outsiders => {
  const { names, sandbox } = world
  let given = 0

  const attempt: Outsiders["attempt"] = (what, effect) => {
    const exit = world.now(effect)
    note(`outside ${what} ${exit._tag}`)
    return exit._tag === "Success" ? exit.value : undefined
  }

  const held = (): ReadonlyArray<PaymentHash> => {
    const now = attempt("looks", sandbox.state)
    if (now === undefined) return []
    const outgoing = HashMap.toValues(now.lightning.sent).filter(({ stage }) => stage._tag === "pending")
    const incoming = HashMap.toValues(now.lightning.invoices).filter(
      ({ stage }) => stage._tag === "accepted" && stage.endsAtHeight === null
    )
    return [...outgoing, ...incoming].map(({ paymentHash }) => paymentHash).toSorted()
  }

  const pay = (paymentRequest: string, how: "exact" | "more" | "double", isHeld: boolean): void => {
    const asked = amountOf(paymentRequest)
    const exact = asked === 0n ? chosen : asked
    const amount =
      how === "exact" && asked !== 0n
        ? undefined
        : Msat.make(how === "exact" ? exact : how === "more" ? exact + 1n : exact * 2n)
    attempt(`pays ${how} ${isHeld ? "and holds" : ""}`, sandbox.pay({ paymentRequest, amount, hold: isHeld }))
  }

  return {
    attempt,
    held,
    pay: (paymentRequest) => pay(paymentRequest, "exact", false),
    paySats: (what, paymentRequest, sats) =>
      void attempt(what, sandbox.pay({ paymentRequest, amount: Msat.fromSats(sats) })),
    recipient: (type, behaviour, sats) => {
      const amount = sats === undefined ? {} : { amount: Msat.fromSats(sats) }
      return attempt(`asks for ${type}`, sandbox.destination({ type, behaviour, ...amount }))?.destination
    },
    named: (destination) => {
      const user = `payee${given % payees}`
      const mark = ["", "₿"][given++ % 2] ?? ""
      const record = names.set(`${user}.user._bitcoin-payment.wallet.example`, [`bitcoin:${destination}`])
      return attempt("has a record set", Effect.as(record, `${mark}${user}@wallet.example`))
    },
    acts: {
      Pay: ({ which, how, isHeld }) => {
        const paymentRequest = latest(made.invoices, which)
        if (paymentRequest !== undefined) pay(paymentRequest, how, isHeld)
      },
      PayAddress: ({ slot, which, sats }) => {
        const [handle, domain] = latest(made.addresses, which)?.split("@") ?? []
        if (domain === undefined) return
        const wallet = { slot, method: "GET" } as const
        customers.ask({ ...wallet, path: `/.well-known/lnurlp/${handle}` }, (offer) => {
          const { pathname } = new URL(text(offer, "callback"))
          customers.ask({ ...wallet, path: `${pathname}?amount=${sats * 1000}` }, (answer) =>
            pay(text(answer, "pr"), "exact", false)
          )
        })
      },
      Release: ({ which, outcome }) => {
        const paymentHash = latest(held(), which)
        if (paymentHash !== undefined) attempt(`lets ${outcome}`, sandbox.release({ paymentHash, outcome }))
      },
      Send: ({ outputs }) => {
        const payments = outputs.flatMap(({ which, sats }) => {
          const address = latest(made.chainAddresses, which)
          return address === undefined ? [] : [{ address, amount: Msat.fromSats(sats) }]
        })
        const txId = payments.length === 0 ? undefined : attempt("sends", sandbox.sendMany(payments))
        if (txId !== undefined) made.transactions.push(txId)
      },
      Mine: ({ blocks }) => void attempt("mines", sandbox.mine(blocks)),
      Reorg: ({ depth }) => void attempt("reorganises", sandbox.reorg(depth)),
      DoubleSpend: ({ which }) => {
        const txId = latest(made.transactions, which)
        if (txId !== undefined) attempt("spends twice", sandbox.doubleSpend(txId))
      }
    }
  }
}
