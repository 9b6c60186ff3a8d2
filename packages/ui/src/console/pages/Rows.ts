import type { Payment, Reads } from "../Api.ts"
import * as Formats from "../Format.ts"
import type { Format } from "../Format.ts"
import type { Badge } from "../Parts.ts"
import type { Transaction } from "../wire.ts"

// The texts of a payment, in lists and on its page.

export type Row = Pick<Payment, "type" | "id" | "amountSats" | "rail" | "status" | "createdAtMillis"> & {
  readonly title: string
  readonly more: string
  /** The value when the payment was posted, otherwise the current value. */
  readonly value: string
}

export const rails = { lightning: "Lightning", on_chain: "On-chain", internal: "Another account" } as const

const received: Readonly<Record<Transaction["status"], Badge>> = {
  settled: { tone: "good", text: "Paid" },
  pending: { tone: "wait", text: "Confirming" },
  pending_approval: { tone: "warn", text: "Needs approval" },
  failed: { tone: "bad", text: "Failed" }
}
const sent: Readonly<Record<Transaction["status"], Badge>> = {
  settled: { tone: "good", text: "Sent" },
  pending: { tone: "wait", text: "In progress" },
  pending_approval: { tone: "warn", text: "Needs approval" },
  failed: { tone: "bad", text: "Failed, returned" }
}

export const badgeOf = ({
  type,
  status
}: {
  readonly type: string
  readonly status: Transaction["status"]
}): Badge =>
  type === "withdrawal"
    ? sent[status]
    : type === "adjustment"
      ? { tone: "good", text: "Booked" }
      : type === "transfer"
        ? { tone: "good", text: "Completed" }
        : received[status]

/** A recipient's text on one line: bc1q8f…k3we. */
export const elided = (text: string, most = 34): string =>
  text.length > most ? `${text.slice(0, 10)}…${text.slice(-6)}` : text

export const titleOf = (payment: Payment): string => {
  if (payment.orderId !== null)
    return `${payment.type === "withdrawal" ? "Refund of order" : "Order"} ${payment.orderId}`
  if (payment.refundId !== null)
    return payment.description === "" ? "Refund" : `Refund: ${payment.description}`
  if (payment.description !== "") return payment.description
  const [first] = Object.entries(payment.metadata)
  if (first !== undefined) return `${first[0]} ${first[1]}`
  return payment.type === "withdrawal" ? "Outgoing payment" : "Payment received"
}

const moreOf = (payment: Payment): string => {
  if (payment.orderId !== null && payment.description !== "") return payment.description
  return payment.type === "withdrawal" ? elided(payment.recipient) : ""
}

/** The value when the payment was posted, if its rate and currency were stored. */
export const bookedValue = ({ rate, fiatCurrency, amountSats }: Payment): string | undefined =>
  rate === null || fiatCurrency === null
    ? undefined
    : Formats.fiatText(Formats.valueOf(amountSats, Number(rate)), fiatCurrency)

const rowValue = (payment: Payment, say: Format): string => {
  const now = say.fiat(payment.amountSats)
  if (now !== undefined && say.price?.currency === Formats.bitcoin) return now
  return bookedValue(payment) ?? (now === undefined ? "" : Formats.marked("≈ ", now))
}

export const rowOf = (payment: Payment, say: Format): Row => ({
  ...payment,
  title: titleOf(payment),
  more: moreOf(payment),
  value: rowValue(payment, say)
})

/** Signed: positive if it increases the balance. */
export const signedSats = ({ type, amountSats }: Pick<Line, "type" | "amountSats">): string =>
  Formats.signed(type === "withdrawal" ? -amountSats : amountSats)

/** The fee of a payment that failed was returned. */
export const feeOf = ({ feeSats, status }: Payment): string =>
  feeSats === 0 || status === "failed" ? "None" : Formats.exactSats(feeSats)

const adjustment = ({ id, amount_sats, created_at, reason, status }: Transaction, say: Format) => ({
  type: "adjustment" as const,
  id,
  amountSats: amount_sats,
  rail: null,
  status,
  createdAtMillis: Date.parse(created_at),
  title: "Adjustment by the operator",
  more: reason ?? "",
  value: say.fiat(amount_sats) ?? ""
})

/** A line of a record that moves money between accounts. A negative amount was sent. */
const transfer = (
  { id, amount_sats, created_at, description, recipient, status }: Transaction,
  say: Format
) => ({
  type: "transfer" as const,
  id,
  amountSats: amount_sats,
  rail: "internal" as const,
  status,
  createdAtMillis: Date.parse(created_at),
  title: description === "" ? `Transfer ${amount_sats < 0 ? "sent" : "received"}` : description,
  more: elided(recipient),
  value: say.fiat(amount_sats) ?? ""
})
export type Line = Row | ReturnType<typeof adjustment> | ReturnType<typeof transfer>

/** The types of transactions, with their labels in filters. */
export const types = [
  ["deposit", "In"],
  ["withdrawal", "Out"],
  ["transfer", "Transfers"],
  ["adjustment", "Adjustments"]
] as const satisfies ReadonlyArray<readonly [Transaction["type"], string]>

/** The statuses of transactions, with their labels in filters. */
export const statuses = [
  ["settled", "Settled"],
  ["pending", "In progress"],
  ["pending_approval", "Needs approval"],
  ["failed", "Failed"]
] as const satisfies ReadonlyArray<readonly [Transaction["status"], string]>

/** Returns which payments belong to these transactions. */
export const paymentsOf = (transactions: ReadonlyArray<Pick<Transaction, "type" | "id">>) =>
  transactions.flatMap(({ type, id }) => (type === "deposit" || type === "withdrawal" ? [{ type, id }] : []))

/** Completes a page of transactions with the records that the transactions belong to. */
export const linesOf = async (
  { api, say }: { readonly api: Pick<Reads, "payments">; readonly say: Format },
  transactions: ReadonlyArray<Transaction>
): Promise<ReadonlyArray<Line>> => {
  const payments = new Map(
    (await api.payments(paymentsOf(transactions))).map((payment) => [payment.id, rowOf(payment, say)])
  )
  return transactions.flatMap((transaction): ReadonlyArray<Line> => {
    if (transaction.type === "adjustment") return [adjustment(transaction, say)]
    if (transaction.type === "transfer") return [transfer(transaction, say)]
    const found = payments.get(transaction.id)
    return found === undefined ? [] : [found]
  })
}

export const pathOf = ({ type, id }: { readonly type: string; readonly id: string }): string =>
  type === "withdrawal"
    ? `payments/out/${id}`
    : type === "deposit"
      ? `payments/in/${id}`
      : type === "transfer"
        ? `transfers/${id}`
        : `payments/adjustment/${id}`
