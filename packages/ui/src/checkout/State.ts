/** The languages of the pages. */
export const locales = ["en", "de", "es", "fr", "pt", "ar"] as const
export type Locale = (typeof locales)[number]

/** The payment code to show: one for every wallet, or one for a single network. */
export type Way = "any" | "lightning" | "chain"

/** The ways to pay. */
export interface Asking {
  /** For any wallet (BIP 21). */
  readonly uri: string
  /** BOLT 11. */
  readonly invoice: string | null
  readonly address: string | null
  /** The amount still due in whole satoshis, or null if the payer decides. */
  readonly sats: number | null
}

/** A refund to the payer. */
export interface Refund {
  readonly sats: number
  /** `open` can be claimed with a link, `pending` is being paid, `completed` has arrived. */
  readonly status: "open" | "pending" | "completed"
  /**
   * The link with which a wallet claims the refund (LUD-01). Anyone who has the link can claim the money. Null
   * if there is no link to show.
   */
  readonly lnurl: string | null
  /** When the link expires; null without a link. */
  readonly expiresAtMillis: number | null
}

/** A payment that arrived or was seen on-chain. */
export interface Payment {
  readonly way: "lightning" | "chain"
  readonly sats: number
  readonly isPending: boolean
  /** When the payment was first seen, or earlier if the chain shows that. */
  readonly atMillis: number
  /** The payment hash or the transaction ID; null if it cannot be read. */
  readonly reference: string | null
  /** A page about the transaction; null if there is none. */
  readonly explorerUrl: string | null
}

/** The changing part of a payment, as shown to its payer. Amounts are whole satoshis. */
export interface State {
  readonly status: "open" | "underpaid" | "paid" | "expired" | "canceled"
  /** Null if nothing can be paid now. */
  readonly asking: Asking | null
  /** Still due, but cannot be paid before what is pending is confirmed; 0 in every other case. */
  readonly restSats: number
  readonly receivedSats: number
  /** Seen on-chain but not confirmed yet. */
  readonly pendingSats: number
  /** Null if nothing is pending or the depth is unknown. */
  readonly confirmations: { readonly seen: number; readonly needed: number } | null
  /** Amount received in excess. */
  readonly overSats: number
  readonly isLate: boolean
  /** Whether the payer can get a new quote. */
  readonly isRenewable: boolean
  /**
   * The seller's questions before the payment: `due`, or `answered` and still open to change. Null if there are
   * none, or once something was paid.
   */
  readonly questions: "due" | "answered" | null
  /** Newest first. */
  readonly payments: ReadonlyArray<Payment>
  /** Newest first. */
  readonly refunds: ReadonlyArray<Refund>
  readonly paidAtMillis: number | null
  /** When the payment expired or was canceled, or null. */
  readonly endedAtMillis: number | null
  readonly expiresAtMillis: number
  /** The server's clock. */
  readonly nowMillis: number
}

/** The parts of a state that are the same for every payment of an invoice without a checkout. */
export const ofInvoice = {
  restSats: 0,
  pendingSats: 0,
  confirmations: null,
  overSats: 0,
  isLate: false,
  questions: null,
  refunds: []
} as const satisfies Partial<State>

/**
 * Whether the state is final. An expired or canceled payment is not final, because its address may still be
 * paid. A payment is credited shortly before its receipt has a date, and a late or excess payment may be
 * refunded.
 */
export const isOver = ({ status, paidAtMillis, refunds, overSats, isLate }: State): boolean =>
  status === "paid" &&
  paidAtMillis !== null &&
  (refunds.length > 0 || !(isLate || overSats > 0)) &&
  refunds.every((refund) => refund.status === "completed")

/** A price in fiat, and its exchange rate. */
export interface Fiat {
  /** As a decimal. */
  readonly amount: string
  /** ISO 4217, in any case. */
  readonly currency: string
  /** Price of one bitcoin in the currency; null if unknown. */
  readonly rate: string | null
}

/** What a payment costs, in bitcoin and in fiat. */
export interface Price {
  /** In whole satoshis; null if the payer decides. */
  readonly amountSats: number | null
  /** Null if the price is in bitcoin. */
  readonly fiat: Fiat | null
}

/** The part of a page that is not streamed. Amounts include the payer's tip. */
export interface Page extends Price {
  readonly locale: Locale
  /** The company's name, or the Lightning address that receives the payment. */
  readonly seller: string
  readonly description: string
  readonly orderId: string | null
  /** The price without a tip. */
  readonly price: Price
  /** In percent of the price. */
  readonly tipPercent: number
  /** The tips to choose from, in percent; empty if the seller asks for none. */
  readonly tips: ReadonlyArray<number>
  /** Whether the payer can leave an email address. */
  readonly asksEmail: boolean
  /** Email address or URL of the seller's support. */
  readonly contact: string | null
  /** Approximate value of a price in bitcoin in the visitor's currency; null if unknown. */
  readonly about: string | null
  readonly returnUrl: string | null
  readonly cancelUrl: string | null
  /** Identifies the payment between payer and seller: the last part of the page's URL. */
  readonly reference: string
  readonly createdAtMillis: number
  /** Relative to the page. */
  readonly stateUrl: string
  /** Whether `stateUrl` also serves a stream. */
  readonly isStreamed: boolean
  /** URL of the receipt as a text file; null if there is none. */
  readonly receiptUrl: string | null
  /** Gets a new quote. */
  readonly renewal: { readonly url: string; readonly method: "get" | "post" } | null
  /** URL that receives the answers to the seller's questions; null if there are none. */
  readonly answerUrl: string | null
  /** Whether the payment is simulated. */
  readonly isTest: boolean
  /** URL that pays the amount due from the sandbox; null if it cannot. */
  readonly sandboxUrl: string | null
  /** The origin that may show the page in a frame, and is notified of the payment. */
  readonly embedOrigin: string | null
}

/** A visitor's options for a page. They are not stored. */
export interface Visit {
  readonly way: Way
  /** The language that the visitor chose; null for the page's own. */
  readonly language: Locale | null
  /** Whether the page is in a frame and therefore needs a close button. */
  readonly isFramed: boolean
  /** Whether to show the seller's questions again. */
  readonly isAsked: boolean
  /** Whether the visitor's last choice could not be stored. */
  readonly hasFailed: boolean
}

export const plainVisit: Visit = {
  way: "any",
  language: null,
  isFramed: false,
  isAsked: false,
  hasFailed: false
}

/** The form for a payer who chooses the amount. */
export interface Form {
  readonly locale: Locale
  /** The Lightning address: `alice@pay.example.com`. */
  readonly to: string
  readonly minSats: number
  readonly maxSats: number
  /** The fiat currency in which the amount can be entered, with its limits; null if there is no rate. */
  readonly fiat: { readonly currency: string; readonly min: string; readonly max: string } | null
  /** The unit that is selected at first. */
  readonly unit: "fiat" | "sats"
  readonly amount: string
  readonly message: string
  readonly messageCharacters: number
  /**
   * Why the amount cannot be paid: it is outside the limits, is not a number that can be read in one way only, or has more
   * decimals than its unit. Null before the first attempt.
   */
  readonly wrong: "range" | "number" | "decimals" | null
  /** Whether the payment is simulated. */
  readonly isTest: boolean
  /** Relative to the page. */
  readonly action: string
}
