import * as Msat from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import { Context } from "effect"
import * as Throttle from "../base/Throttle.ts"
import * as Fee from "./Fee.ts"
import type { Plan } from "./Plan.ts"

/** The service fee of each way out. */
export interface Fees {
  readonly lightning: Fee.FeeRate
  readonly onChain: Fee.FeeRate
  readonly internal: Fee.FeeRate
}

/** What wallets get at Lightning addresses (LNURL). */
export interface Lnurl {
  /** How long an invoice that a wallet asked for may be paid. */
  readonly expirySeconds: number
  readonly commentCharacters: number
  readonly payerDataBytes: number
  readonly zapRequestBytes: number
  /** To how many relays a receipt is sent, at most. */
  readonly relays: number
  /** How long after a zap its receipt is offered to relays that did not take it. */
  readonly publishForMillis: number
  /** How long a wallet waits for an invoice. */
  readonly timeoutMillis: number
  /** How many invoices may wait to be paid at once: of one caller (as far as one process knows), at one address, and in all. */
  readonly openPerCaller: number
  readonly openPerAddress: number
  readonly open: number
  /** How long after its expiry an unpaid invoice is closed at the node and forgotten. */
  readonly forgetAfterMillis: number
  /** How many invoices may be asked for at one address, and by one caller, of each process. A caller may claim as many vouchers besides. */
  readonly perAddress: Throttle.Rate
  readonly perCaller: Throttle.Rate
}

/** How our books are compared with the node's and the chain's. */
export interface Reconciliation {
  readonly everyMillis: number
  /** What differs for less long may be on its way, and is not reported. */
  readonly graceMillis: number
  /** What was found about one payment is not looked at any more after so long. */
  readonly forgetMillis: number
  /** How many lines of the node's books, and how many events of ours, one comparison reads. */
  readonly lines: number
  /** How many lines are looked at again and again, because they differ or have not ended. Beyond that no more are read. */
  readonly watched: number
  /** Work that nobody has taken up for so long is overdue. */
  readonly overdueMillis: number
}

/** How recipients' servers are asked, which are strangers': by each process. */
export interface Resolving {
  readonly atOnce: number
  /** For one company, and at one host. */
  readonly perCompany: number
  readonly perHost: number
}

/** What an operator decides. Every number that limits or prices something is here. */
export interface Settings {
  readonly network: Network
  /** Lightning addresses are issued at this domain. */
  readonly domain: string
  readonly fees: Readonly<Record<Plan, Fees>>
  /** The most that routing a Lightning payment may cost: held with the fee, and the node's limit. */
  readonly routingAllowance: Fee.FeeRate
  /** The virtual size that an on-chain payout is priced at, in bytes: two inputs, two outputs, and some room. */
  readonly payoutVbytes: number
  /** Bounds of one invoice or withdrawal. */
  readonly minAmount: Msat.Msat
  readonly maxInvoice: Msat.Msat
  readonly maxWithdrawal: Msat.Msat
  /**
   * How many confirmations a deposit needs where what may be taken back with it is at most `upTo`: what its company waits for, or what came in its block,
   * whichever is more. The last row is for all above.
   */
  readonly confirmations: ReadonlyArray<{ readonly upTo: Msat.Msat; readonly confirmations: number }>
  /** An on-chain deposit below this, or below what spending it costs, is recorded and not credited. */
  readonly minDeposit: Msat.Msat
  /** How long payouts gather to go out in one transaction: those of a window go together at its end. 0: each goes at once, by itself. */
  readonly payoutWindowMillis: number
  /** How many of them one transaction pays, at most: below 250. */
  readonly payoutOutputs: number
  /** How many confirmations settle a payout; of one that was replaced, so many that which of the transactions won will not change. */
  readonly payoutConfirmations: number
  readonly replacedConfirmations: number
  /** A payout that settled is looked for, and sent again where a reorganisation took it, until it is this deep. */
  readonly payoutBuriedAt: number
  /**
   * A payout that is in no block `afterMillis` after it was sent is replaced by one at the feerate of the day, for at most `allowances` times what
   * was held for mining. What is above the held is the operator's.
   */
  readonly replacement: { readonly afterMillis: number; readonly allowances: number }
  /** A price older than this is no price. */
  readonly maxRateAgeMillis: number
  /** An invoice that expires sooner than this is not paid any more. */
  readonly expiryMarginMillis: number
  /** The largest `min_final_cltv_expiry` we pay: how many blocks a recipient may hold our money. */
  readonly maxFinalCltvExpiry: number
  /** How long an unreachable recipient is tried before the withdrawal fails. Nothing was sent by then. */
  readonly resolveForMillis: number
  /** How long after its expiry an invoice is still looked up: a payment accepted in time may settle later. */
  readonly expiredGraceMillis: number
  /** How many payments each process is handing to the node at once. One that the node has taken on and that is only watched is none of them. */
  readonly paymentsAtOnce: number
  readonly resolving: Resolving
  /** How often a payment on its way is looked up: soon after it was sent, then less and less often, up to `maximum`. */
  readonly trackMillis: { readonly minimum: number; readonly maximum: number }
  /**
   * When an open invoice is looked up, in case the node lost to tell: at this age, at twice this age, and so on, until `invoiceSweepMillis`; from then on
   * once in every `invoiceSweepMillis`. After it expired: when 1, 2, 4, 8 … of those have passed, and at the end of `expiredGraceMillis`.
   */
  readonly invoicePollMillis: number
  readonly invoiceSweepMillis: number
  /** How often the chain is looked at. */
  readonly chainPollMillis: number
  /** How long a process that died keeps others from its roles, such as listening to a node. Clocks of processes must agree to within a part of it. */
  readonly dutyLeaseMillis: number
  /** How often the record of a company's domain is looked for. */
  readonly domainCheckMillis: number
  /** How long addresses at a domain answer whose record is missing. Then they stop, and the domain may be shown to be another company's. */
  readonly domainGraceMillis: number
  readonly reconciliation: Reconciliation
  /** What wallets get at Lightning addresses. */
  readonly lnurl: Lnurl
}

/** Sensible for a small operator; `network` and `domain` are always the operator's own. */
export const defaults = {
  fees: {
    free: {
      lightning: { base: Msat.zero, partsPerMillion: 5_000n },
      onChain: { base: Msat.fromSats(100), partsPerMillion: 2_000n },
      internal: Fee.free
    },
    paid: {
      lightning: { base: Msat.zero, partsPerMillion: 2_000n },
      onChain: { base: Msat.fromSats(100), partsPerMillion: 1_000n },
      internal: Fee.free
    }
  },
  routingAllowance: { base: Msat.fromSats(5), partsPerMillion: 5_000n },
  payoutVbytes: 250,
  minAmount: Msat.fromSats(1),
  maxInvoice: Msat.fromSats(100_000_000n),
  maxWithdrawal: Msat.fromSats(100_000_000n),
  confirmations: [
    { upTo: Msat.fromSats(1_000_000n), confirmations: 2 },
    { upTo: Msat.fromSats(50_000_000n), confirmations: 3 },
    { upTo: Msat.max, confirmations: 6 }
  ],
  minDeposit: Msat.fromSats(600),
  payoutWindowMillis: 0,
  payoutOutputs: 100,
  payoutConfirmations: 1,
  replacedConfirmations: 6,
  payoutBuriedAt: 100,
  replacement: { afterMillis: 30 * 60_000, allowances: 3 },
  maxRateAgeMillis: 60_000,
  expiryMarginMillis: 60_000,
  maxFinalCltvExpiry: 500,
  resolveForMillis: 5 * 60_000,
  expiredGraceMillis: 24 * 3600 * 1000,
  paymentsAtOnce: 64,
  resolving: { atOnce: 128, perCompany: 16, perHost: 8 },
  trackMillis: { minimum: 250, maximum: 10_000 },
  invoicePollMillis: 30_000,
  invoiceSweepMillis: 3600 * 1000,
  chainPollMillis: 5_000,
  dutyLeaseMillis: 6_000,
  domainCheckMillis: 24 * 3600 * 1000,
  domainGraceMillis: 3 * 24 * 3600 * 1000,
  reconciliation: {
    everyMillis: 5 * 60_000,
    graceMillis: 60_000,
    forgetMillis: 7 * 24 * 3600 * 1000,
    lines: 10_000,
    watched: 10_000,
    overdueMillis: 60_000
  },
  lnurl: {
    expirySeconds: 600,
    commentCharacters: 280,
    payerDataBytes: 2048,
    zapRequestBytes: 8192,
    relays: 10,
    publishForMillis: 3600 * 1000,
    timeoutMillis: 10_000,
    openPerCaller: 120,
    openPerAddress: 1200,
    open: 10_000,
    forgetAfterMillis: 60_000,
    perAddress: Throttle.perMinute(300),
    perCaller: Throttle.perMinute(60)
  }
} as const satisfies Omit<Settings, "network" | "domain">

/** The settings in force. */
export class Policy extends Context.Service<Policy, Settings>()("@satrail/core/policy/Policy") {}

/** How many confirmations a deposit of `amount` needs before it is credited. */
export const confirmationsFor = (settings: Settings, amount: Msat.Msat): number =>
  (settings.confirmations.find(({ upTo }) => amount <= upTo) ?? settings.confirmations.at(-1))?.confirmations ?? 6
