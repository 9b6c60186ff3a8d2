import type * as ApiKey from "@satrail/core/accounts/ApiKey"
import type * as Operators from "@satrail/core/accounts/OperatorToken"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type * as Errors from "../wire/Errors.ts"

type Unauthorized = Errors.FailureFor<ApiKey.Unauthorized | StoreUnavailable>

/** The caller that a request acts for: a key, or a person who signed in. */
export interface Member extends ApiKey.Holder {
  readonly actor?: "person"
  /** The prefix of the credential's kind, if it is not one of the company's own (Credentials.ts). */
  readonly kind?: string
}

/** Lets a request without a key or a token act for someone who signed in. */
export interface Entrance {
  /** The API key that the request acts with. Undefined if the request must send a key. */
  readonly company: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Member, Unauthorized> | undefined
  /** The operator that the request acts for. Undefined if the request must send a token. */
  readonly operator: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Operators.Operator, Unauthorized> | undefined
  /** Fails if the sender of the request must first confirm who they are. */
  readonly confirmed: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<void, Unauthorized | Errors.Failure<"step_up_required">>
}

/** By default, every request must send a key or a token. */
export const SignedIn = Context.Reference<Entrance>("@satrail/http/api/SignedIn", {
  defaultValue: () => ({ company: () => undefined, operator: () => undefined, confirmed: () => Effect.void })
})
