import { h } from "preact"
import type { Payment } from "@satrail/ui/console/Api"
import type { PaymentPart } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import * as Formats from "@satrail/ui/console/Format"
import type { Page, Shown, Visit } from "@satrail/ui/console/Page"
import {
  body,
  copied,
  copiedFact,
  factPanel,
  link,
  type Moment,
  note,
  panel,
  sides,
  stack,
  sub,
  timeline,
  when
} from "@satrail/ui/console/Parts"
import type { Deposit, Event, LightningInvoice, Withdrawal } from "@satrail/ui/console/wire"
import { book } from "@satrail/ui/console/pages/Postings"
import { found, metadataFact } from "@satrail/ui/console/pages/Records"
import { bookedValue, feeOf, rails, signedSats, titleOf, badgeOf } from "@satrail/ui/console/pages/Rows"

// The page of one payment: its steps, its related records, and its actions.

const eventWords: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...features.map(({ payments }) => payments?.eventWords)),
  "invoice.created": "Invoice created",
  "invoice.held": "Payment held",
  "invoice.settled": "Invoice paid",
  "invoice.expired": "Invoice expired",
  "invoice.canceled": "Invoice canceled",
  "deposit.pending": "Transaction found, not confirmed yet",
  "deposit.completed": "Payment received",
  "deposit.failed": "Payment not credited",
  "deposit.reversed": "Payment reversed by the chain",
  "withdrawal.pending": "Amount held, payment in progress",
  "withdrawal.replaced": "Transaction replaced, with a higher fee",
  "withdrawal.completed": "Payment completed",
  "withdrawal.failed": "Payment failed, amount returned"
}

/** Events of both rails have the same words. */
const wordsOf = (type: string): string => eventWords[type.replace(/\.(?:lightning|on_chain)\./, ".")] ?? type

const toneOf = (type: string): "good" | "bad" | "wait" => {
  if (/\.(?:completed|settled|paid|approved)$/.test(type)) return "good"
  return /\.(?:failed|reversed|expired|canceled|rejected)$/.test(type) ? "bad" : "wait"
}

/** Events of the payment and its records, oldest first. */
const momentsOf = async (
  { api }: Visit,
  own: ReadonlyArray<string | null>,
  parts: ReadonlyArray<PaymentPart>
): Promise<ReadonlyArray<Moment>> => {
  const events = await Promise.all(
    [...own, ...parts.map(({ subject = null }) => subject)].flatMap((subject) =>
      subject === null ? [] : [api.call("GET /v1/events", { query: { subject, limit: 50 } })]
    )
  )
  const moments = events
    .flat()
    .toSorted((a: Event, b: Event) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
    .map(({ type, timestamp }: Event) => ({
      text: wordsOf(type),
      tone: toneOf(type),
      atMillis: Date.parse(timestamp)
    }))
  return [...parts.flatMap(({ before }) => before ?? []), ...moments]
}

const sidesOf = (payment: Payment, visit: Visit) => {
  const { say, to } = visit
  const now = say.fiat(payment.amountSats)
  const { amountSats, fiatCurrency, orderId, rate, rateAtMillis, rateSource } = payment
  return [
    orderId === null
      ? null
      : (["Order", link(to(`search?q=${encodeURIComponent(orderId)}`), orderId)] as const),
    rate === null
      ? null
      : ([
          "Priced at",
          [
            Formats.fiatText(Formats.valueOf(amountSats, Number(rate)), fiatCurrency),
            sub(
              `1 BTC = ${Formats.fiatText(Number(rate), fiatCurrency)}`,
              rateAtMillis !== null && [", ", when(rateAtMillis, say.when(rateAtMillis))],
              rateSource !== null && `, ${rateSource}`
            )
          ]
        ] as const),
    now === undefined ? null : (["Worth now", now] as const)
  ]
}

const titled = (payment: Payment): Pick<Shown, "title" | "figure" | "status" | "lead"> => {
  const value = bookedValue(payment)
  const lead = [
    value === undefined ? "" : `${value} when it was booked`,
    payment.orderId === null ? "" : titleOf(payment),
    payment.description
  ]
  return {
    title: titleOf(payment),
    figure: [signedSats(payment), " ", h("small", null, Formats.unit(payment.amountSats))],
    status: badgeOf(payment),
    lead: lead.filter((text) => text !== "").join(" · ")
  }
}

const crumbs = [["Payments", "payments"]] as const

/** Returns the left column of a payment's page: its timeline, the features' panels and the ledger's postings. */
const history = async (
  visit: Visit,
  payment: Payment,
  subjects: ReadonlyArray<string | null>,
  parts: ReadonlyArray<PaymentPart>
) => {
  const { api, say } = visit
  const [moments, postings] = await Promise.all([
    momentsOf(visit, subjects, parts),
    api.postings(payment.ledgerTxId)
  ])
  return stack(
    panel(
      "Timeline",
      { beside: h("span", { class: "faint" }, say.day(payment.createdAtMillis)) },
      body(timeline(say, moments))
    ),
    parts.map(({ panel }) => panel),
    book(postings, visit)
  )
}

const received = async (visit: Visit): Promise<Shown> => {
  const { api } = visit
  const payment = await found(visit, "deposit")
  const { invoiceId } = payment
  const [deposit, invoice]: readonly [Deposit, LightningInvoice | undefined] = await Promise.all([
    api.call("GET /v1/transactions/deposits/{depositID}", { params: { depositID: payment.id } }),
    invoiceId === null
      ? undefined
      : api.call("GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}", {
          params: { invoiceID: invoiceId }
        })
  ])
  const parts = await Promise.all(
    features.flatMap(({ payments }) => payments?.received?.(visit, payment, deposit) ?? [])
  )
  const left = await history(visit, payment, [payment.id, invoiceId], parts)
  return {
    ...titled(payment),
    crumbs,
    isLive: parts.every(({ top }) => top === undefined),
    actions: parts.map(({ actions }) => actions),
    body: [
      parts.map(({ top }) => top),
      sides(
        left,
        stack(
          factPanel("Details", [
            ...sidesOf(payment, visit),
            [
              "Paid from",
              payment.rail === "lightning"
                ? ["Lightning wallet", sub("Lightning doesn’t reveal the payer")]
                : "On-chain"
            ],
            ["Fee", feeOf(payment)],
            ...parts.flatMap(({ facts = [] }) => facts)
          ]),
          factPanel("Ids", [
            copiedFact("Payment", payment.id),
            copiedFact("Ledger", payment.ledgerTxId),
            copiedFact("Invoice", invoiceId),
            copiedFact("Hash", invoice?.r_hash),
            copiedFact("Preimage", invoice?.r_preimage),
            copiedFact("Transaction", deposit.chain_tx_id),
            copiedFact("Received at", payment.recipient),
            metadataFact(payment.metadata)
          ])
        )
      )
    ]
  }
}

const sent = async (visit: Visit): Promise<Shown> => {
  const { api, to } = visit
  const payment = await found(visit, "withdrawal")
  const withdrawal: Withdrawal = await api.call("GET /v1/transactions/withdrawals/{withdrawalID}", {
    params: { withdrawalID: payment.id }
  })
  const parts = await Promise.all(
    features.flatMap(({ payments }) => payments?.sent?.(visit, payment, withdrawal) ?? [])
  )
  const left = await history(visit, payment, [payment.id], parts)
  const { failure, lightning_payment: lightning } = withdrawal
  return {
    ...titled(payment),
    crumbs,
    isLive: parts.every(({ top }) => top === undefined),
    actions: [
      parts.map(({ actions }) => actions),
      payment.status === "settled" &&
        h("a", { class: "btn", href: to(`payments/out/${payment.id}/proof`) }, "Proof of payment")
    ],
    body: [
      payment.status === "pending" &&
        withdrawal.chain_tx_id === null &&
        visit.stops.sendingMillis !== null &&
        note(
          "info",
          "Sending is paused",
          h("p", null, "If this payment has not been sent yet, it waits until the operator resumes sending.")
        ),
      payment.status === "pending" &&
        withdrawal.chain_tx_id !== null &&
        note(
          "info",
          "Waiting for a block",
          h(
            "p",
            null,
            "A block is found about every 10 minutes, but it can take much longer. There is nothing to do."
          )
        ),
      parts.map(({ top }) => top),
      sides(
        left,
        stack(
          factPanel("Details", [
            ["To", copied(payment.recipient, "recipient")],
            ["Method", rails[payment.rail]],
            ...sidesOf(payment, visit),
            ["Fee", feeOf(payment)],
            failure === null ? null : ["Failed", failure.message],
            ...parts.flatMap(({ facts = [] }) => facts)
          ]),
          factPanel("Ids", [
            copiedFact("Payment", payment.id),
            copiedFact("Ledger", payment.ledgerTxId),
            copiedFact("Hash", lightning?.payment_hash),
            copiedFact("Preimage", lightning?.payment_preimage),
            copiedFact("Transaction", withdrawal.chain_tx_id),
            metadataFact(payment.metadata)
          ])
        )
      )
    ]
  }
}

const [decide, other] = features.flatMap(({ payments }) => payments?.decide ?? [])
if (other !== undefined)
  throw new Error("only one feature can handle the forms on the page of a sent payment")

/**
 * A proof of payment for the payee, as text: the preimage proves a Lightning payment, and the transaction
 * proves an on-chain payment.
 */
const proof = async (visit: Visit) => {
  const payment = await found(visit, "withdrawal")
  const withdrawal: Withdrawal = await visit.api.call("GET /v1/transactions/withdrawals/{withdrawalID}", {
    params: { withdrawalID: payment.id }
  })
  const { lightning_payment: lightning, chain_tx_id: transaction } = withdrawal
  const value = bookedValue(payment)
  const lines = [
    ["Paid by", visit.account.name],
    ["Paid to", payment.recipient],
    ["Amount", `${Formats.inSats(payment.amountSats)}${value === undefined ? "" : ` (${value})`}`],
    ["Paid at", withdrawal.updated_at],
    ["Payment", payment.id],
    ["Payment hash", lightning?.payment_hash],
    ["Preimage", lightning?.payment_preimage],
    ["Transaction", transaction]
  ].flatMap(([name = "", value]) =>
    value === undefined || value === null || value === "" ? [] : [`${name}: ${value}`]
  )
  const why =
    lightning === null
      ? []
      : ["", "The SHA-256 of the preimage is the payment hash. Only the payee could reveal it."]
  return {
    file: {
      name: `payment-${payment.id.slice(0, 8)}.txt`,
      contentType: "text/plain; charset=utf-8",
      text: [...lines, ...why, ""].join("\n")
    }
  }
}

export const payment: ReadonlyArray<Page> = [
  { path: "payments/in/:id", nav: "payments", get: received },
  { path: "payments/out/:id", nav: "payments", get: sent, ...(decide && { post: decide }) },
  { path: "payments/out/:id/proof", nav: "payments", get: proof }
]
