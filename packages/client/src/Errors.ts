import { type Money, snake } from "./Plain.ts"
import type { ErrorCode, WithdrawalFailure } from "./Records.ts"

/** An invalid field of a request. `path` is its name, such as `amount`. */
export interface Issue {
  readonly path: string
  readonly message: string
}

interface Described {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly issues?: ReadonlyArray<Issue>
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly retryAfterMillis?: number | undefined
  readonly details?: Readonly<Record<string, unknown>>
}

/** The codes of errors after which the request may have taken effect. */
const unknown = /^(unreachable|unreadable|store_unavailable|timeout|stopping|internal)$/

/**
 * The service rejected a request or did not respond. Act on `code`, which is stable. If there was no response,
 * `status` is 0 and `code` is `unreachable`. If the response did not come from satrail, `code` is `unreadable`.
 */
export class SatrailError extends Error {
  override readonly name = "SatrailError"
  declare readonly status: number
  declare readonly code: string
  /** Every invalid field of the request. */
  declare readonly issues: ReadonlyArray<Issue>
  /** Identifies the request in the operator's log. */
  declare readonly requestId: string | undefined
  /**
   * The request's idempotency key. If you send the same request again with this key, it takes effect at most
   * once.
   */
  declare readonly idempotencyKey: string | undefined
  /** Time until the service accepts the next request, if the response contained one. */
  declare readonly retryAfterMillis: number | undefined
  /** Additional fields of the error, such as `available`. */
  declare readonly details: Readonly<Record<string, unknown>>

  constructor(said: Described, options?: ErrorOptions) {
    super(said.message, options)
    Object.assign(this, { issues: [], details: {} }, said)
  }

  /** Whether the same request can succeed later. */
  get isRetryable(): boolean {
    return [0, 408, 429, 502, 503, 504].includes(this.status) || this.code === "conflict"
  }

  /** Whether the request may have taken effect. */
  get isUnknown(): boolean {
    return unknown.test(this.code)
  }

  /** The names of the invalid fields. */
  get paths(): ReadonlyArray<string> {
    return this.issues.map(({ path }) => path)
  }
}

/** Throws the error of a request without a response. */
export const unreachable = (message: string, cause: unknown, idempotencyKey?: string): never => {
  throw new SatrailError({ status: 0, code: "unreachable", message, idempotencyKey }, { cause })
}

/** Returns whether an error has this code. */
export const isCode = (error: unknown, code: string): error is SatrailError =>
  error instanceof SatrailError && error.code === code

/** The types of `details`, by error code. Other codes have no known details. */
export interface Details {
  readonly insufficient_balance: { readonly needed: Money; readonly available?: Money }
  readonly fee_changed: { readonly fee?: Money }
  readonly not_settled: { readonly status: string; readonly failure?: WithdrawalFailure | null }
  readonly limit_exceeded: {
    readonly limit: string
    readonly remaining?: Money
    readonly freesAt?: Date | null
  }
}
export type Detailed<C> = C extends keyof Details ? { readonly details: Details[C] } : unknown

/** Converts `insufficient_balance` to `InsufficientBalance`. */
export type Pascal<C extends string> = C extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<C>

/** One class for each error code; for example, `insufficient_balance` is `errors.InsufficientBalance`. */
export type Errors = {
  readonly [C in ErrorCode | "not_settled" as Pascal<C>]: {
    [Symbol.hasInstance](error: unknown): error is SatrailError & Detailed<C>
  }
}

/**
 * The service's errors. The package `satrail` exports the same errors.
 *
 * @example
 * if (error instanceof errors.InsufficientBalance) console.log(error.details.needed.sats)
 */
// oxlint-disable-next-line typescript/consistent-type-assertions -- has a member for any code
export const errors = new Proxy(
  {},
  {
    get: (_, name) => ({
      [Symbol.hasInstance]: (error: unknown) => isCode(error, snake(String(name)).slice(1))
    })
  }
) as Errors
