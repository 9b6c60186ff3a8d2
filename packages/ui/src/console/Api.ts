import type {
  Company,
  Event,
  OperatorPerson,
  Operations,
  SearchResult,
  SuspendedPayment,
  Transaction
} from "./wire.ts"

// The console is a client of the API. Its pages make their requests through `Api`, as the person who is signed
// in.

export type Operation = keyof Operations
type Answer<K extends Operation> = Operations[K]["answer"]
type Data<K extends Operation> = Answer<K> extends { readonly data: infer D } ? D : never

/** The fields of `error` that some codes have. */
export interface Fields {
  readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }>
  readonly limit?: string
  readonly remaining_sats?: number
  readonly frees_at?: string | null
  readonly needed_sats?: number
  readonly available_sats?: number
}

/** An error response: its status, `error.code`, its human-readable message, and the other fields of `error`. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Fields
  constructor(status: number, code: string, message: string, fields: Fields = {}) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

/** Returns the result of a read, or undefined if it was refused as expected. */
export const unlessRefused = <A>(
  read: Promise<A>,
  isExpected: (status: number) => boolean
): Promise<A | undefined> =>
  read.catch((error: unknown) => {
    if (error instanceof Refused && isExpected(error.status)) return undefined
    throw error
  })

export interface Asked<K extends Operation> {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Operations[K]["query"]
  readonly body?: Operations[K]["body"]
  /** Makes the request safe to repeat. */
  readonly once?: string
}

/** A page of a list. `next` is the `cursor` of the next one, and `characters` the length of the response. */
export interface Listed<Data> {
  readonly data: Data
  readonly next: string | undefined
  readonly characters: number
}

/** A deposit or withdrawal, with the records that it belongs to. */
export interface Payment {
  readonly type: "deposit" | "withdrawal"
  readonly id: string
  readonly ledgerTxId: string
  readonly amountSats: number
  readonly feeSats: number
  readonly rail: "lightning" | "on_chain"
  readonly status: Transaction["status"]
  readonly createdAtMillis: number
  readonly recipient: string
  readonly description: string
  readonly orderId: string | null
  readonly checkoutId: string | null
  readonly invoiceId: string | null
  readonly refundId: string | null
  /** Fiat units per bitcoin, if an amount was given in fiat. The currency and the source may be unknown. */
  readonly rate: string | null
  readonly rateAtMillis: number | null
  readonly fiatCurrency: string | null
  readonly rateSource: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** A posting of the ledger. */
export interface Posting {
  readonly from: string
  readonly to: string
  readonly sats: number
  readonly atMillis: number
}

/** The amounts posted in an interval, and the balance at its end. */
export interface Step {
  readonly fromMillis: number
  readonly inSats: number
  readonly outSats: number
  readonly balanceSats: number
}

/** A record found by a search, and the part that matched. `kind` is the plural that URLs use, such as `invoices`. */
export interface Hit {
  readonly kind: string
  readonly id: string
  readonly by: SearchResult["by"]
}

/** The activities that are paused, and when each pause began. For a company, also includes its freeze. */
export interface Stops {
  readonly sendingMillis: number | null
  readonly receivingMillis: number | null
  readonly frozen: { readonly reason: string; readonly sinceMillis: number; readonly waits: boolean } | null
}

/** Reads that the API does not offer, because only the console needs them. */
export interface Reads {
  /** Returns payments by id, in the requested order. */
  readonly payments: (asked: ReadonlyArray<Pick<Payment, "type" | "id">>) => Promise<ReadonlyArray<Payment>>
  readonly paymentsOf: (record: Pick<Hit, "kind" | "id">) => Promise<ReadonlyArray<Payment>>
  readonly postings: (ledgerTxId: string) => Promise<ReadonlyArray<Posting>>
  /** Returns the intervals between the given times, which are ascending and end with the current time. */
  readonly steps: (boundaries: ReadonlyArray<number>) => Promise<ReadonlyArray<Step>>
  /** Returns events of types such as `invoice.*`, newest first. */
  readonly events: (asked: {
    readonly limit: number
    readonly cursor: string | undefined
    readonly types?: string | undefined
  }) => Promise<Listed<ReadonlyArray<Event>>>
  /** Whether the user counts as this key or person, and so cannot approve its request. */
  readonly isRequester: (id: string) => Promise<boolean>
  /** `isAll` is false if more records may match. */
  readonly search: (text: string) => Promise<{ readonly hits: ReadonlyArray<Hit>; readonly isAll: boolean }>
}

export interface Api extends Reads {
  /** Calls an operation, and returns the `data` of its response. */
  readonly call: <K extends Operation>(operation: K, more?: Asked<K>) => Promise<Data<K>>
  readonly page: <K extends Operation>(operation: K, more?: Asked<K>) => Promise<Listed<Data<K>>>
  /** Re-enters the key, which allows sending and changes by operators for 5 minutes. */
  readonly confirm: (credential: string) => Promise<void>
}

/** Reads companies by id. Unknown companies are omitted. */
export type CompaniesOf = (ids: ReadonlyArray<string>) => Promise<ReadonlyMap<string, Company>>

/** Reads of an operator that the API does not offer, because only the console needs them. */
export interface OperatorReads {
  readonly companies: CompaniesOf
  /** Returns a person of any company, or an operator. */
  readonly person: (id: string) => Promise<OperatorPerson>
  /** Returns a payment that was put in suspense. */
  readonly suspended: (id: string) => Promise<SuspendedPayment>
}

/** Returns the path of an operation with its parameters and query. */
export const pathOf = (pattern: string, params: Readonly<Record<string, string>>, query: object): string => {
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]]
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}
