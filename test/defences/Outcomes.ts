import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { format } from "oxfmt"

// Every line that decides what happened to a payment, an invoice or a transaction: settled, failed, pending or unknown.
// Each has the test that fails if it decides otherwise.

interface Deciding {
  readonly files: string
  /** What such a line contains. */
  readonly line: RegExp
}

const deciding: ReadonlyArray<Deciding> = [
  {
    files: "packages/nodes/src/{Lnd,Ldk}*.ts",
    line: /_tag: "(?:settled|failed|pending|unknown|notFound|notSent|open|accepted|canceled)"|NotLookedAt\(|return notSent|succeed\(notSent\)/
  },
  {
    // Whether a request reached lnd.
    files: "packages/nodes/src/{Https,LndOutage,LndRest}.ts",
    line: /new NotWritten\(|NodeState\.NotLookedAt :|isTurnedAway(?:: true| =)/
  },
  {
    // What an app learns about a payment.
    files: "packages/features/src/wallet-connect/core/WalletPayments.ts",
    line: /PAYMENT_FAILED|[^t] pending\b.*\)|"(?:Another payment|The payment settled)|StoreUnavailable|Conflict:|succeed\(\{ preimage/
  },
  {
    files: "packages/chain/src/{BitcoinRpc,Esplora}.ts",
    line: /_tag: "(?:gone|mempool|mined|rejected|accepted|known|unknown)" *[,}]/
  },
  {
    files: "packages/core/src/sending/*.ts",
    line: /\bfail\(withdrawal,|\bsettle\(|outcomes\.fail\(|Withdrawal\.(?:failed|settled)\(|LostPayout\.unpaid\(|=> released\(|_tag: "(?:unknown|notSent)"|(?:return|\?|:) "(?:lost|kept)"/
  }
]

/** A part of the line, and the test: its file, and a part of its title. */
type Row = readonly [code: string, test: string, title: string]

const inLnd = "packages/nodes/test/LndOutcomes.test.ts"
const inLndOutage = "packages/nodes/test/LndOutage.test.ts"
const inLndInvoice = "packages/nodes/test/LndInvoiceStates.test.ts"
const inLdk = "packages/nodes/test/LdkOutcomes.test.ts"
const inLdkInvoice = "packages/nodes/test/LdkInvoiceStates.test.ts"
const inSocket = "packages/nodes/test/LdkSocket.test.ts"
const inChain = "packages/chain/test/Broadcast.test.ts"
const core = (name: string) => `packages/core/test/${name}.test.ts`
const offers = "packages/features/test/offers/core/Offers.test.ts"
const decisions = core("PaymentDecisions")
const placed = (source: string) => `C45: ${source}: a transaction that is`
const refusals = "packages/nodes/test/LndRefusals.test.ts"
const unprocessed = 'C2: lnd: "${words}" means that the request was not processed'
const reached =
  "C3: lnd: a request certainly did not reach lnd if the connection was refused, but not if it was cut"
const wallet = "packages/features/test/wallet-connect/core/WalletRequests.test.ts"
const broadcast = (source: string) => `${source}: a broadcast whose response is`

const rows: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "LndSender.ts": [
    [
      `return { _tag: "pending", ...(expiryHeight`,
      "packages/nodes/test/Lnd.test.ts",
      "lnd: a pending payment reports the last time lock of"
    ],
    [`return { _tag: "pending" }`, inLnd, "lnd: a payment that is"],
    [`return { _tag: "settled", preimage: sent.payment_preimage`, inLnd, "lnd: a payment that is"],
    [`return { _tag: "failed", reason: reasons.get(sent.failure_reason)`, inLnd, "lnd: a payment that is"],
    [
      `const notSent = { _tag: "notSent" }`,
      inLnd,
      "C3: lnd: a payment call is not sent only if lnd did not process it"
    ],
    [
      "payment status unavailable",
      inLnd,
      "C3: lnd: a payment call is not sent only if lnd did not process it"
    ],
    [`{ _tag: "notFound" } as const`, inLnd, "C2: lnd: a payment is not found only if lnd says so"],
    ["return isRefusal(refusal)", inLnd, "C3: lnd: a payment call that ends with gRPC code"],
    [
      "NotLookedAt) return notSent",
      inLnd,
      "C3: lnd: a payment call is not sent only if lnd did not process it"
    ],
    [
      `return known._tag === "notFound" ? ({ _tag: "unknown" }`,
      inLnd,
      "C3: lnd: a payment call is not sent only if lnd did not process it"
    ],
    ["onFailure: () => Effect.succeed(notSent)", inLnd, "C4: lnd: no payment call is made"],
    [
      "onSuccess: (isReady) =>",
      "packages/nodes/test/Lnd.test.ts",
      "no payment is sent until lnd's channels are active again"
    ]
  ],
  "Https.ts": [["isWritten ? problem : new NotWritten", "packages/nodes/test/LndRest.test.ts", reached]],
  "LndRest.ts": [["Https.isNotWritten(problem) ?", "packages/nodes/test/LndRest.test.ts", reached]],
  "LndOutage.ts": [
    ["reasons.locked, remedy, isTurnedAway", refusals, unprocessed],
    ["isTurnedAway: true", refusals, unprocessed],
    ["const isTurnedAway =", refusals, unprocessed]
  ],
  "WalletPayments.ts": [
    [
      'refuse("OTHER", isWaiting',
      wallet,
      "wallet connect: a pending payment is not reported as failed, and repeating"
    ],
    ["Another payment exists", wallet, "wallet connect: of two requests to pay an invoice, the refused one"],
    ["Nothing was paid", wallet, "wallet connect: a payment that failed for good is reported as failed"],
    [
      "without a preimage",
      wallet,
      "that settled without a preimage is reported neither as paid with one nor as failed"
    ],
    ["Effect.succeed({ preimage", wallet, "wallet connect: of two requests to pay an invoice"],
    ["StoreUnavailable: () =>", wallet, "wallet connect: a payment that may have been made is not reported"],
    ["Conflict: () =>", wallet, "wallet connect: a payment that may have been made is not reported"],
    [
      "catchTag(ended(companyId, id)",
      wallet,
      "that cannot be read after it was confirmed is reported as pending"
    ]
  ],
  "LndReceiver.ts": [
    [
      `if (invoice === undefined) return { _tag: "unknown" }`,
      "packages/nodes/test/Lnd.test.ts",
      "C4: lnd: an invoice counts as unknown only if"
    ],
    [`return { _tag: "canceled", preimage`, inLndOutage, "lnd: canceling an invoice that is"],
    [`return { _tag: "accepted" } as const`, inLndOutage, "lnd: canceling an invoice that is"],
    [`return { _tag: "settled" } as const`, inLndOutage, "lnd: canceling an invoice that is"]
  ],
  "LndInvoice.ts": [
    [`return { _tag: "open" }`, inLndInvoice, "lnd: an invoice that is"],
    [`return { _tag: "accepted", ...(isHold(invoice)`, inLndInvoice, "lnd: an invoice that is"],
    [`return { _tag: "canceled" }`, inLndInvoice, "lnd: an invoice that is"],
    [`return { _tag: "settled", received`, inLndInvoice, "lnd: an invoice that is"]
  ],
  "LdkPayments.ts": [
    [`return { _tag: "settled", paymentHash: known.hash`, inLdk, "ldk: a payment of ${kind} is"],
    [`return { _tag: "failed", reason: known.reason }`, inLdk, "ldk: a payment of ${kind} is"],
    [`return { _tag: "pending" }`, inLdk, "ldk: a payment of ${kind} is"],
    [
      `return { _tag: "notFound", ...(known.lostBefore`,
      inLdk,
      "C2: ldk: a payment of ${kind} is not found only if the node says so"
    ],
    ["payment status unavailable", inLdk, "C3: ldk: a call to pay ${kind} is not sent only if"],
    [
      `payment._tag === "notFound" ? { _tag: "unknown" }`,
      inLdk,
      "C3: ldk: a call to pay ${kind} is not sent only if"
    ],
    [
      `NotLookedAt ? Effect.succeed({ _tag: "notSent" })`,
      inLdk,
      "C3: ldk: a call to pay ${kind} is not sent only if"
    ],
    [`refused.code === "bad_request"`, inLdk, "C3: ldk: a call to pay ${kind} that is refused with"]
  ],
  "LdkSocket.ts": [
    [
      ": new NodeState.NotLookedAt({",
      inSocket,
      "ldk: a request is not processed if nothing listens at the socket"
    ],
    ["new NodeState.NotLookedAt({ operation, cause", inSocket, "C4: ldk: ${what} receives no request"],
    ["new NodeState.NotLookedAt({", inSocket, "C3: ldk: a request that the node refuses with"]
  ],
  "LdkReceiver.ts": [
    [`return { _tag: "settled", received`, inLdkInvoice, "ldk: an invoice that is"],
    [`return { _tag: "accepted", held`, inLdkInvoice, "ldk: an invoice that is"],
    [`return { _tag: "accepted" }`, inLdkInvoice, "ldk: an invoice that is"],
    [`return { _tag: "canceled", preimage`, inLdkInvoice, "ldk: canceling an invoice that is"],
    [`return { _tag: "settled" } as const`, inLdkInvoice, "ldk: canceling an invoice that is"]
  ],
  "BitcoinRpc.ts": [
    [`if (known._tag === "None") return { _tag: "gone" }`, inChain, placed("RPC")],
    [`=== undefined) return { _tag: "mempool" }`, inChain, placed("RPC")],
    ["return confirmations > 0 && inChain", inChain, placed("RPC")],
    [
      "it is not a transaction",
      "packages/chain/test/Sources.test.ts",
      "RPC: a text with other characters than hex digits"
    ],
    [
      `!== "gone") return { _tag: "known" }`,
      inChain,
      "RPC: a transaction that the node has is not broadcast again"
    ],
    [`if (Result.isSuccess(sent)) return { _tag: "accepted" }`, inChain, broadcast("RPC")],
    [`return { _tag: "unknown" }`, inChain, broadcast("RPC")],
    [`if (code === codes.known) return { _tag: "known" }`, inChain, broadcast("RPC")],
    [`return isFinal ? { _tag: "rejected"`, inChain, broadcast("RPC")],
    [
      `Effect.succeed<Broadcast>({ _tag: "unknown" })`,
      inChain,
      "RPC: a transaction that the node has is not broadcast again"
    ]
  ],
  "Esplora.ts": [
    [
      `if (found._tag === "None") return { _tag: "gone" }`,
      "packages/chain/test/Sources.test.ts",
      "Esplora: a server ${what} counts as an outage"
    ],
    [`return status.confirmed ? { _tag: "mined"`, inChain, placed("Esplora")],
    ["it is not a transaction", inChain, "Esplora: a transaction that the server has is not broadcast again"],
    [
      `!== "gone") return { _tag: "known" }`,
      inChain,
      "Esplora: a transaction that the server has is not broadcast again"
    ],
    [`if (ok(answer)) return { _tag: "accepted" }`, inChain, broadcast("Esplora")],
    [`if (code === "-27") return { _tag: "known" }`, inChain, broadcast("Esplora")],
    [`? { _tag: "rejected", reason }`, inChain, broadcast("Esplora")],
    [`: { _tag: "unknown" }`, inChain, broadcast("Esplora")],
    [
      `Effect.succeed<Broadcast>({ _tag: "unknown" })`,
      inChain,
      "Esplora: a transaction that the server has is not broadcast again"
    ]
  ],
  "LightningPayments.ts": [
    ["return yield* settle(", decisions, "C1 C2 C3: payment worker: the node reports"],
    [
      "fail(withdrawal, reasons[payment.reason], task)",
      decisions,
      "C1 C2 C3: payment worker: the node reports"
    ],
    [
      "the call to pay crashed",
      decisions,
      "C3: payment worker: a call that crashed or was not sent fails no withdrawal"
    ],
    [
      `fail(withdrawal, payable.failure.code`,
      decisions,
      "payment worker: a payment that can no longer be made fails without a call"
    ],
    ["fail(withdrawal, isOwn", decisions, "C11: payment worker: a second withdrawal to a payment hash fails"],
    [
      `isLost ? "lost" : "later"`,
      core("LostPayments"),
      "C4 C8: payment worker: if the node has lost earlier payments"
    ],
    [
      `isBeforeLoss ? "lost"`,
      decisions,
      "C4 C8: payment worker: a payment that the node lost is neither sent nor failed"
    ],
    [
      `record === "lost" ? "lost"`,
      decisions,
      "C4 C8: payment worker: a payment without a record is sent again only if"
    ],
    [
      "if (result !== null) return",
      core("LostResults"),
      "C1: lost results: a payment in flight is neither lost nor released if"
    ],
    [
      `fail(withdrawal, "canceled", task)`,
      decisions,
      "payment worker: a withdrawal that may never be sent fails once"
    ]
  ],
  "LostResult.ts": [
    [
      `"channel_closing" : "lost"`,
      core("LostResults"),
      "C1: lost results: a payment in flight is neither lost nor released if"
    ]
  ],
  "LostPayments.ts": [
    [
      `if (paymentHash === null) return "kept"`,
      core("LostPayments"),
      "payment worker: only payments settled before the minute of the dispatch"
    ],
    [
      `return _tag === "settled" ? "kept"`,
      core("LostPayments"),
      "C4 C8: payment worker: the node kept its records only if"
    ]
  ],
  "LostPayout.ts": [
    [
      "=> released(one",
      core("LostPayouts"),
      "lost payout: is released after 100 confirmations of the other transaction"
    ]
  ],
  "LostWithdrawal.ts": [
    [
      "Withdrawal.settled(",
      core("LostPayments"),
      "C4 C8: payment worker: a payment to a ${type} from before the loss"
    ],
    [
      "Withdrawal.failed(",
      core("LostPayments"),
      "C4 C8: payment worker: a payment to a ${type} from before the loss"
    ]
  ],
  "LostWithdrawals.ts": [
    ["LostPayout.unpaid(", core("LostPayouts"), "lost payout: is refused for a transaction that is unknown"]
  ],
  "NodePayments.ts": [
    [`const unknown = `, offers, "C2: offers: a sent payment stays pending while a replacement node"],
    [`const notSent = `, offers, "offers: if the node cannot pay offers"]
  ],
  "Payees.ts": [
    [
      "withdrawal.networkAllowance === 0n",
      core("Bip353"),
      "BIP 353: a payment fails and its funds are released if the address was ours"
    ],
    [
      "DestinationRefused: () => fail(",
      core("Bip353"),
      "BIP 353: if a withdrawal's record ${what} at the time of sending"
    ],
    [
      "RecipientRefused: () => fail(",
      core("AddressPayments"),
      "C39: payment worker: an invoice ${what} is not paid"
    ],
    [
      `fail(withdrawal, "recipient_unreachable", task)`,
      core("AddressPayments"),
      "payment worker: a withdrawal whose payee's server stays down"
    ]
  ],
  "PayoutTracking.ts": [
    [
      "settle(withdrawal, { preimage: null",
      core("Payouts"),
      "payout: a payout settles after the policy's number of confirmations"
    ]
  ],
  "Transfers.ts": [
    [
      "if (invoice.hold !== null)",
      core("AddressPayments"),
      "payment worker: a withdrawal fails if the payee's server returns a hold invoice"
    ],
    [
      `fail(withdrawal, "invoice_expired", task)`,
      core("Transfers"),
      "payment worker: a withdrawal fails if the invoice expired"
    ],
    [
      `receiver.lacks?.has("cancel")`,
      core("Transfers"),
      "payment worker: an internal payment fails if the node that is now in use"
    ],
    [
      `if (canceled._tag !== "canceled")`,
      core("Transfers"),
      "C15: payment worker: an internal payment fails if an external payment came first"
    ],
    [
      "InvoiceNotPayable: () => fail(",
      core("Transfers"),
      "C15: payment worker: of two simultaneous internal payments of one invoice"
    ]
  ],
  "WithdrawalOutcomes.ts": [
    ["Withdrawal.failed(withdrawal, failure", decisions, "C1 C2 C3: payment worker: the node reports"],
    ["Withdrawal.settled(withdrawal, settlement", decisions, "C1 C2 C3: payment worker: the node reports"]
  ],
  "WithdrawalSteps.ts": [
    [
      `LostWithdrawal.isLost(task) ? "lost"`,
      core("LostPayments"),
      "C4 C8: payment worker: if the node has lost earlier payments"
    ],
    [
      "outcomes.fail(found.value",
      core("Transfers"),
      "payment worker: a withdrawal that is stopped after it claimed an invoice"
    ]
  ]
}

const root = path.resolve(import.meta.dirname, "../..")
const read = (file: string) => readFileSync(path.join(root, file), "utf8")

/** A line that decides an outcome, and its tests; none if no row names the line. */
export interface Outcome {
  readonly file: string
  readonly code: string
  readonly tests: ReadonlyArray<{ readonly test: string; readonly title: string }>
}

const isComment = (line: string) => /^\s*(?:\/\/|\*|\/\*)/.test(line)

/** One statement a line, as far as that can be read. */
const wide = { printWidth: 140, semi: false, trailingComma: "none", objectWrap: "collapse" } as const

/** Returns every such line of the sources. */
export const outcomes = async (): Promise<ReadonlyArray<Outcome>> => {
  const all: Array<Outcome> = []
  for (const { files, line } of deciding)
    for (const file of globSync(files, { cwd: root }).toSorted()) {
      const { code: source } = await format(file, read(file), wide)
      for (const text of source.split("\n")) {
        if (!line.test(text) || isComment(text) || /^(?:import|export (?:type|interface))\b/.test(text))
          continue
        const own = (rows[path.basename(file)] ?? []).filter(([code]) => text.includes(code))
        all.push({ file, code: text.trim(), tests: own.map(([, test, title]) => ({ test, title })) })
      }
    }
  return all
}

/** Returns the rows that fit no line, or whose test has no such title. */
export const outdated = (all: ReadonlyArray<Outcome>): ReadonlyArray<string> =>
  Object.entries(rows).flatMap(([file, list]) =>
    list.flatMap(([code, test, title]) => {
      const isFound = all.some((one) => path.basename(one.file) === file && one.code.includes(code))
      return [
        ...(isFound ? [] : [`${file}: no line has ${code}`]),
        ...(read(test).includes(title) ? [] : [`${test}: no title has "${title}"`])
      ]
    })
  )
