import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import { checkouts as core } from "@satrail/core/features/checkouts/index"
import { claim, same } from "../../checks/Violation.ts"
import { text } from "../../story/Json.ts"
import * as Feature from "../Feature.ts"
import { path } from "./Plot.ts"

const sum = (rows: ReadonlyArray<{ readonly amount: Msat.Msat }>) => Msat.sum(...rows.map(({ amount }) => amount))

/** What a checkout is made of before it is there. Of two with one key at once, the refused one leaves them: nobody was shown them, and they expire. */
const parts = new Set(["InvoiceCreated", "OnChainAddressCreated"])

/**
 * What a request to cancel a checkout does first, in time. Paid on-chain before it is canceled as well, the checkout is paid, which closes its invoice too: nobody
 * sees who did. Paid over Lightning before the node is told, its invoice is settled and was canceled, as any. Or its time is over by then, and nobody is to pay either.
 */
const closing = new Set(["InvoiceCanceled", "InvoiceClosed"])

const excuses: Feature.Excuses = (hear) => {
  /** Whose each invoice is; of which checkout a request canceled the invoice, and when; and which were paid or expired: until when that was in time. */
  const checkoutOf = new Map<string, string | null>()
  const closedBy = new Map<number, { readonly id: string; readonly atMillis: number }>()
  const ended = new Map<string, number>()
  hear((change, asking) => {
    if (change._tag === "InvoiceCreated") checkoutOf.set(change.id, change.writes[0].record.checkoutId)
    if (change._tag === "DepositConfirmed") ended.set(`paid ${change.writes[0].found.checkoutId}`, Infinity)
    if (change._tag === "InvoiceSettled") ended.set(`paid ${change.writes[1].record.checkoutId}`, Infinity)
    if (change._tag === "InternalTransferred") ended.set(`paid ${change.deposit.checkoutId}`, Infinity)
    if (change._tag === "CheckoutExpired") ended.set(`expired ${change.id}`, change.writes[0].found.expiresAtMillis)
    const id = change._tag === "InvoiceCanceled" && checkoutOf.get(change.id)
    if (asking !== null && id) closedBy.set(asking, { id, atMillis: change.atMillis })
  })
  /** Whether a request was refused as it should be that had canceled the invoice of a checkout already: that one has ended since. */
  const hasEnded = ({ path: asked, asking, body }: Feature.Refused): boolean => {
    const closed = closedBy.get(asking)
    const [, status] = /^The checkout is (paid|expired) and cannot be canceled$/.exec(text(body, "message")) ?? []
    if (closed === undefined || asked !== `${path}/${closed.id}/cancel`) return false
    return (ended.get(`${status} ${closed.id}`) ?? 0) > closed.atMillis
  }
  return (tag, refused) =>
    (closing.has(tag) && hasEnded(refused)) ||
    (refused.path === path && text(refused.body, "error", "code") === "idempotency_mismatch" && parts.has(tag))
}

/** Every checkout stands where its deposits say. */
const ended = (checkouts: ReadonlyArray<Checkout.Checkout>, { deposits }: Feature.Moved): void => {
  for (const checkout of checkouts) {
    const { id, status } = checkout
    const own = deposits.filter(({ checkoutId }) => checkoutId === id)
    const credited = sum(own.filter((deposit) => deposit.status === "settled"))
    claim(status !== "open" && status !== "underpaid", `no checkout is open for ever: ${id} is ${status}`)
    if (credited >= Checkout.least(checkout)) same(status, "paid", `a checkout that was paid is paid: ${id}`)
    // What a reorganisation takes back was credited once.
    const ever = sum(own)
    if (status === "paid") claim(ever >= Checkout.least(checkout), `a checkout is paid when enough was credited: ${id}`)
  }
}

export const checkouts = Feature.make(core)({
  changes: {
    CheckoutCreated: "happens",
    CheckoutPaid: "happens",
    CheckoutUnderpaid: "happens",
    CheckoutExpired: "happens",
    CheckoutCanceled: "happens"
  },
  transitions: [
    "checkout: nothing to open",
    "checkout: open to underpaid",
    "checkout: open to paid",
    "checkout: open to expired",
    "checkout: open to canceled",
    "checkout: underpaid to paid",
    "checkout: expired to paid",
    "checkout: canceled to paid"
  ],
  records: [
    Feature.record(Checkout.noun, {
      kind: "checkout",
      moves: {
        open: ["underpaid", "paid", "expired", "canceled"],
        underpaid: ["paid", "expired", "canceled"],
        expired: ["paid"],
        canceled: ["paid"]
      },
      rests: ["expired", "canceled"],
      told: {},
      held: () => Msat.zero,
      became: () => null,
      asked: ({ metadata }) => metadata,
      ending: ({ status, received, endedAtMillis }) => `checkout ${status} ${received} ${endedAtMillis === null}`,
      ended
    })
  ],
  change: (change) => {
    if (change._tag !== "CheckoutPaid") return
    const [{ found, set }] = change.writes
    const received = "received" in set && typeof set.received === "bigint" ? set.received : 0n
    claim(received >= Checkout.least(found), `a checkout is paid when enough was credited: ${change.id}`)
  },
  excuses
})
