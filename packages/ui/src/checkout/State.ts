/** The languages that pages can be shown in. */
export type Locale = "en" | "de" | "es" | "fr" | "pt" | "ar"

/** What a payer can pay with. Any of them may be absent. */
export interface Asking {
  /** Everything in one, for any wallet (BIP 21). */
  readonly uri: string
  /** BOLT 11. */
  readonly invoice: string | null
  readonly address: string | null
  /** What is still to be paid, in whole satoshis; null where the payer decides. */
  readonly sats: number | null
}

/** What the payer gets back of what he paid. */
export interface Refund {
  readonly sats: number
  /** `open` is claimed with a link, `pending` on its way, `completed` there. */
  readonly status: "open" | "pending" | "completed"
  /** What a wallet claims it with (LUD-01): whoever has it has the money. Null where the page has none to show. */
  readonly lnurl: string | null
  /** Until when that is; null where nothing is to be claimed. */
  readonly expiresAtMillis: number | null
}

/** Where a payment stands, as far as its payer must know: what changes while he looks at it. Amounts are whole satoshis. */
export interface State {
  readonly status: "open" | "underpaid" | "paid" | "expired" | "canceled"
  /** What to pay with; null where nothing is to be paid now. */
  readonly asking: Asking | null
  readonly receivedSats: number
  /** Seen on-chain, and not deep enough yet. */
  readonly pendingSats: number
  /** How deep what is seen is, and how deep it has to be; null where nothing is seen or that is not known. */
  readonly confirmations: { readonly seen: number; readonly needed: number } | null
  /** Received beyond what was asked for. */
  readonly overSats: number
  readonly isLate: boolean
  /** The newest first. */
  readonly refunds: ReadonlyArray<Refund>
  readonly paidAtMillis: number | null
  readonly expiresAtMillis: number
  /** The server's clock. */
  readonly nowMillis: number
}

/** Whether more was paid than the seller is known to keep, and nothing is said of a refund. */
const isToBeAsked = ({ status, refunds, receivedSats, overSats, isLate }: State): boolean =>
  refunds.length === 0 && (status === "paid" ? isLate || overSats > 0 : receivedSats > 0)

/** Whether nothing about it can change. Money is credited a moment before the receipt has its date: until then it is not over. */
export const isOver = (state: State): boolean =>
  (state.status === "canceled" || (state.status === "paid" && state.paidAtMillis !== null)) &&
  !isToBeAsked(state) &&
  state.refunds.every(({ status }) => status === "completed")

/** What of a page does not change. */
export interface Page {
  readonly locale: Locale
  /** The company's name; null where nobody is named. */
  readonly seller: string | null
  readonly description: string
  readonly orderId: string | null
  /** In whole satoshis; null where the payer decides. */
  readonly amountSats: number | null
  /** `12.50 EUR`, as its language writes it. */
  readonly fiat: string | null
  readonly returnUrl: string | null
  readonly cancelUrl: string | null
  /** What names the payment where it is talked about: the last part of the page's own address. */
  readonly reference: string
  /** Where its state is, from the page. */
  readonly stateUrl: string
  /** Whether that is a stream as well. */
  readonly isStreamed: boolean
  /** Where the sandbox pays it, from the page; null where money is real. */
  readonly sandboxUrl: string | null
  /** The origin that may show the page in a frame, and is told when it is paid. */
  readonly embedOrigin: string | null
}
