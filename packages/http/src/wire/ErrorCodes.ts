/** Status of an error code, and its text on the reference page. */
export interface Word {
  readonly status: number
  readonly meaning: string
  readonly remedy: string
}

/** Error codes that belong to no feature, with their HTTP status. `features/Catalogue.ts` has all codes. */
export const catalogue = {
  malformed: {
    status: 400,
    meaning: "The request does not match the endpoint's format. `error.issues` names every invalid field.",
    remedy: "Correct the named fields. Repeating the request unchanged returns the same error."
  },
  idempotency_not_supported: {
    status: 400,
    meaning:
      "This endpoint returns a secret or is part of the sandbox, so its response is not stored and cannot be repeated for the same `Idempotency-Key`.",
    remedy:
      "Omit the `Idempotency-Key` header. Revoke an API key or cancel a voucher that you created twice by accident."
  },
  unauthorized: {
    status: 401,
    meaning: "The key is missing, not valid, expired or revoked.",
    remedy: "Send `Authorization: Bearer <API_KEY>` with a valid key."
  },
  scope_required: {
    status: 403,
    meaning: "The key is valid, but lacks the scope that the message names.",
    remedy: "Use a key with that scope, or with `admin`."
  },
  address_not_allowed: {
    status: 403,
    meaning:
      "The key is valid, but not allowed from this IP address, or not allowed to send from it. The request had no effect.",
    remedy:
      "Send the request from an address in the key's `allowed_from`, or have the operator change it. Behind a reverse proxy, `SATRAIL_PROXIES` must be set, otherwise every request appears to come from the proxy."
  },
  step_up_required: {
    status: 403,
    meaning:
      "The request comes from a console session in which the key or token was not entered within the last 5 minutes. The request had no effect.",
    remedy:
      "Enter the key again when the console prompts for it. Requests with an `Authorization` header never return this error."
  },
  plan_required: {
    status: 403,
    meaning: "The company's plan does not include this feature.",
    remedy: "Omit `handle` and `domain` to get a random handle, or upgrade to a paid plan."
  },
  company_frozen: {
    status: 403,
    meaning:
      "The operator has frozen the company. Its keys can read and receive, but cannot send or create anything that commits funds. Nothing was held.",
    remedy: "Contact the operator. The same request succeeds after the company is unfrozen."
  },
  another_operator_required: {
    status: 403,
    meaning:
      "The operator who requested this cannot approve it, and neither can a token with the same name. Nothing changed.",
    remedy: "Have another operator approve it with their own token."
  },
  requester_gone: {
    status: 409,
    meaning:
      "The key, person or operator who requested this has lost their access since, so it can no longer be approved. Nothing changed.",
    remedy: "Reject or revoke it, and request it again."
  },
  second_operator_required: {
    status: 403,
    meaning:
      "The company holds more than `SATRAIL_SECOND_OPERATOR_ABOVE_SATS`, so weakening its protection takes two operators. Your request was recorded; nothing else changed.",
    remedy:
      "Have another operator send the same request within 24 hours, using their own token with the scope `loosen`. Any change to the same limits, addresses or freeze in the meantime cancels the request."
  },
  not_found: {
    status: 404,
    meaning: "No such route or record. Requests for another company's records get the same response.",
    remedy: "Check the path and the id."
  },
  method_not_allowed: {
    status: 405,
    meaning: "The route does not support this method. The `Allow` header lists the methods it supports.",
    remedy: "Use one of the methods in `Allow`."
  },
  request_timeout: {
    status: 408,
    meaning: "The request did not arrive completely in time. It had no effect.",
    remedy: "Send the whole request again, without pausing partway."
  },
  conflict: {
    status: 409,
    meaning: "Another record has the same id or unique value. Nothing changed.",
    remedy: "Send the request again."
  },
  answer_not_readable: {
    status: 409,
    meaning:
      "A request with this `Idempotency-Key` already took effect. Its stored response contains a secret and can no longer be decrypted, because the encryption key has changed.",
    remedy:
      "Find the record with its list endpoint. If you lost a voucher's link, cancel the voucher, and create another one after that."
  },
  handle_taken: {
    status: 409,
    meaning: "This Lightning address is in use, or was in use before.",
    remedy: "Choose another handle."
  },
  domain_taken: {
    status: 409,
    meaning: "The domain belongs to another company or to the service.",
    remedy: "Use another domain."
  },
  invoice_not_open: {
    status: 409,
    meaning: "The invoice was paid, is being paid, or has expired, so it cannot be canceled.",
    remedy: "Check its `status`. If it was paid, you can refund the deposit."
  },
  already_assigned: {
    status: 409,
    meaning: "The payment has already been assigned to another company. Nothing changed.",
    remedy: "See `assigned_to` in `GET /operator/suspense`."
  },
  withdrawal_not_lost: {
    status: 409,
    meaning:
      "The withdrawal is final, the node has not lost its payment or its result, or its payee may still claim it. Nothing changed.",
    remedy: "See `waits_for` in `GET /operator/withdrawals/:id`."
  },
  invoice_not_held: {
    status: 409,
    meaning:
      "No payment is held for the invoice: it is unpaid, its payment was already settled or returned, or it is not a hold invoice.",
    remedy: "Check its `status`. You can settle it only while it is `accepted`."
  },
  too_many_held: {
    status: 409,
    meaning: "The company has 200 open hold invoices, the maximum.",
    remedy: "Settle or cancel one, or wait until one expires."
  },
  too_many_api_keys: {
    status: 409,
    meaning: "The company has 100 active API keys, the maximum it can create itself.",
    remedy: "Revoke a key you no longer need, or ask the operator to issue one."
  },
  cursor_too_old: {
    status: 410,
    meaning: "Events after this cursor have been deleted. Events are kept for 90 days.",
    remedy:
      "Fetch the records themselves. Then resume with the cursor in the message, which misses no remaining event."
  },
  body_too_large: {
    status: 413,
    meaning: "The body exceeds the size limit.",
    remedy: "Send a smaller body. The default limit is 65,536 bytes."
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The body is not declared as uncompressed JSON in UTF-8.",
    remedy: "Send `Content-Type: application/json` and no `Content-Encoding`."
  },
  expectation_failed: {
    status: 417,
    meaning: "The `Expect` header has a value other than `100-continue`.",
    remedy: "Omit the `Expect` header."
  },
  insufficient_balance: {
    status: 422,
    meaning: "The balance does not cover the amount and the fee. Nothing was held.",
    remedy: "Send less, or wait until a deposit settles or a pending withdrawal completes."
  },
  limit_exceeded: {
    status: 422,
    meaning:
      "The payment would exceed a limit of the API key or the company. Nothing was held. `error.limit` names the limit.",
    remedy:
      "Send at most `error.remaining_sats`, wait until `error.frees_at`, or ask the operator to raise the limit."
  },
  fee_changed: {
    status: 409,
    meaning:
      "The fee is above `max_fee_sats`, or the company's fees changed during the request. Nothing was held.",
    remedy: "Request a new estimate and confirm with its fee."
  },
  idempotency_mismatch: {
    status: 422,
    meaning: "The `Idempotency-Key` was already used for a request with other values, which took effect.",
    remedy:
      "If this is a retry, send what the first request asked for: the first request may have taken effect, and a changed one could take effect again. White space, the order of fields and how numbers are written do not matter."
  },
  domain_not_verified: {
    status: 422,
    meaning: "The domain is not verified for this company.",
    remedy:
      "Verify it with `POST /v1/domains`. `GET /v1/domains` shows whether a domain is no longer verified."
  },
  domain_not_shown: {
    status: 422,
    meaning: "The domain's DNS does not contain this company's TXT record.",
    remedy: "Set the TXT record named in the message and repeat the request. DNS changes can take a while."
  },
  wrong_network: {
    status: 422,
    meaning: "The destination belongs to a different bitcoin network than this service.",
    remedy: "Get a destination on this network from the payee."
  },
  unsupported: {
    status: 422,
    meaning:
      "The destination is valid, but its type is not supported; or people cannot sign in, because `SATRAIL_PUBLIC_URL` is not set.",
    remedy:
      "Ask the payee for a destination of a type named in the message. The operator sets `SATRAIL_PUBLIC_URL`."
  },
  amount_mismatch: {
    status: 422,
    meaning: "The destination specifies a different amount than the request.",
    remedy: "Omit `amount`, or set it to the destination's amount."
  },
  amount_required: {
    status: 422,
    meaning: "Neither the request nor the destination specifies an amount.",
    remedy: "Set `amount` and `currency`."
  },
  amount_out_of_range: {
    status: 422,
    meaning: "The payee or operator disallows this amount.",
    remedy: "Stay within the range in the message."
  },
  dust: {
    status: 422,
    meaning: "The amount is too small for an on-chain output: the bitcoin network would not relay it.",
    remedy: "Send at least the amount in the message, or pay over Lightning."
  },
  invoice_expired: {
    status: 422,
    meaning: "The invoice or offer has expired or is about to expire.",
    remedy: "Get a new invoice from the payee."
  },
  invoice_not_payable: {
    status: 422,
    meaning: "The invoice was already paid or is being paid, or the refunded deposit is unconfirmed.",
    remedy: "To pay again, get a new invoice from the payee."
  },
  payment_hash_used: {
    status: 422,
    meaning:
      "The company already has a withdrawal for this invoice. An invoice can be paid by one withdrawal only.",
    remedy: "See that withdrawal, or get a new invoice from the payee."
  },
  recipient_not_found: {
    status: 422,
    meaning:
      "The destination points to this service, but no such recipient exists; or it is a name like ₿user@domain whose domain has no payment record (BIP 353).",
    remedy: "Check the destination with the payee. Try it without the ₿: it may be a Lightning address."
  },
  final_cltv_too_long: {
    status: 422,
    meaning: "The invoice lets its payee hold the payment longer than the service allows.",
    remedy: "Ask the payee for an invoice with a shorter final expiry (min_final_cltv_expiry)."
  },
  recipient_refused: {
    status: 422,
    meaning:
      "The payee's server declined the payment or sent an invalid response; or the payment record in the DNS of the payee's domain (BIP 353) is invalid, unsigned or for another amount. The service does not fall back to another server, because the record may be forged.",
    remedy: "Check the destination with the payee. The message states the reason."
  },
  sandbox_refused: {
    status: 422,
    meaning: "The simulated network cannot do this. Only the sandbox returns this error.",
    remedy: "The message states the reason."
  },
  rate_limited: {
    status: 429,
    meaning:
      "Too many requests with this key, or from this address without a key, or too many estimates that query payees' servers. The request had no effect.",
    remedy:
      "Wait for `Retry-After` seconds, then send the request again with the same `Idempotency-Key` if it has one. The headers `RateLimit-Policy` and `RateLimit` state a key's limits per minute (`key`) and per second (`burst`), and what remains of each. Estimates for invoices, bitcoin addresses and recipients of this service are not limited."
  },
  headers_too_large: {
    status: 431,
    meaning: "The headers exceed the size limit.",
    remedy: "Send fewer and shorter headers."
  },
  internal: {
    status: 500,
    meaning: "An internal error. The message contains a reference for the operator.",
    remedy:
      "The request may have taken effect. If the request creates something, retry it only with the same `Idempotency-Key`."
  },
  store_unavailable: {
    status: 503,
    meaning: "The database could not be reached. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  overloaded: {
    status: 503,
    meaning:
      "The database cannot keep up with the requests, too many of them change the same record, or too many event streams are open. Nothing was recorded.",
    remedy: "Wait for `Retry-After` seconds, then send the same request again. Send fewer requests."
  },
  paused: {
    status: 503,
    meaning:
      "The operator has paused sending or receiving for all companies. Nothing was recorded. Withdrawals already confirmed stay queued, and invoices already issued are still credited when paid.",
    remedy: "Send the request again later."
  },
  node_unavailable: {
    status: 503,
    meaning: "The Lightning node could not be reached.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  chain_unavailable: {
    status: 503,
    meaning: "The bitcoin node could not be reached.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  names_unavailable: {
    status: 503,
    meaning: "The domain's name servers did not respond.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the name servers."
  },
  rate_unavailable: {
    status: 503,
    meaning: "No current exchange rate is available.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or give the amount in sats or btc."
  },
  recipient_unreachable: {
    status: 503,
    meaning: "The payee's server, or the DNS of the payee's domain, gave no conclusive response.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the destination."
  },
  timeout: {
    status: 503,
    meaning: "The request was not completed in time. It may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  stopping: {
    status: 503,
    meaning: "The process is shutting down. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  not_ready: {
    status: 503,
    meaning: "The process is running but not ready. `error.issues` names the failed checks.",
    remedy: "Send requests to another process, or wait."
  }
} as const satisfies Record<string, Word>

export type Catalogue = typeof catalogue
export type Code = keyof Catalogue
