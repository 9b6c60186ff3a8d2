/** The status of a code, and the words of the reference page. */
export interface Word {
  readonly status: number
  readonly meaning: string
  readonly remedy: string
}

/** Every `error.code` of what is not a feature, with the status it travels with: all of them are in `features/Catalogue.ts`. */
export const catalogue = {
  malformed: {
    status: 400,
    meaning: "The request does not have the endpoint's format. `error.issues` names every invalid member.",
    remedy: "Correct the named members. The same request again gets the same response."
  },
  idempotency_not_supported: {
    status: 400,
    meaning:
      "This endpoint's response is not stored, so it cannot be repeated: the sandbox's never are, and that of a new API key or voucher has a secret in it, which an embedding program may have given no secret to seal with.",
    remedy: "Leave the `Idempotency-Key` header out. An API key made twice by accident can be revoked, and a voucher canceled."
  },
  unauthorized: {
    status: 401,
    meaning: "The key is missing, unknown, expired or revoked.",
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
      "The key is valid, but may not be used from this address, or not for sending. Nothing was done, and nothing is told of the company.",
    remedy:
      "Ask from an address of the key's `allowed_from`, or have the operator change it. Behind a reverse proxy `SATRAIL_PROXIES` has to say so, or every caller has the proxy's address."
  },
  step_up_required: {
    status: 403,
    meaning: "Somebody signed in to the console, and the key or token was not shown again within the last 5 minutes. Nothing was done.",
    remedy: "Show it again: the console asks for it. A request with a key in its `Authorization` header never gets this."
  },
  plan_required: {
    status: 403,
    meaning: "The company's plan does not include this.",
    remedy: "Leave `handle` and `domain` out for a random handle, or move to a paid plan."
  },
  company_frozen: {
    status: 403,
    meaning: "The operator has frozen the company: its keys can read, and none of its money can leave or be promised. Nothing was held.",
    remedy: "Ask the operator. The same request works once the company is not frozen any more."
  },
  another_operator_required: {
    status: 403,
    meaning:
      "The operator who requested an adjustment or an API key cannot approve it, and neither can a token with the same name. Nothing changed.",
    remedy: "Have another operator approve it, with a token of their own."
  },
  second_operator_required: {
    status: 403,
    meaning:
      "The company holds more than `SATRAIL_SECOND_OPERATOR_ABOVE_SATS`, so raising or removing its protection takes two operators. Your request was recorded; nothing else changed.",
    remedy:
      "Have another operator send the same request within 24 hours, with a token of their own that has the scope `loosen`. A change to the same limits, addresses, or freeze in between cancels the request."
  },
  not_found: {
    status: 404,
    meaning: "There is no such route or record, or the record belongs to another company: the response is the same.",
    remedy: "Check the path and the id."
  },
  method_not_allowed: {
    status: 405,
    meaning: "The route does not have this method. The `Allow` header lists its methods.",
    remedy: "Use one of the methods in `Allow`."
  },
  request_timeout: {
    status: 408,
    meaning: "The request did not arrive completely in time. It had no effect.",
    remedy: "Send the request again, without pauses."
  },
  conflict: {
    status: 409,
    meaning: "Something else was recorded under the same id. Nothing was changed.",
    remedy: "Send the request again."
  },
  answer_not_readable: {
    status: 409,
    meaning:
      "A request with this `Idempotency-Key` took effect before. Its stored response contains a secret, and was sealed with a key that has changed since, or stored by a version that did not seal.",
    remedy: "Find the created record in the list. A voucher whose link is lost can be canceled; then create another one with a new key."
  },
  handle_taken: { status: 409, meaning: "This Lightning address is taken, or was before.", remedy: "Choose another handle." },
  domain_taken: { status: 409, meaning: "The domain belongs to another company, or to the service.", remedy: "Use another domain." },
  invoice_not_open: {
    status: 409,
    meaning: "The invoice was paid, is being paid, or has expired: it cannot be canceled.",
    remedy: "See its `status`, and send back what it received, where that is meant."
  },
  already_assigned: {
    status: 409,
    meaning: "The payment was in suspense and is another company's by now. Nothing was changed.",
    remedy: "See whose it is: `assigned_to` in `GET /operator/suspense`."
  },
  invoice_not_held: {
    status: 409,
    meaning: "Nothing is held for the invoice: it was not paid yet, what was held went back, or it is no hold invoice.",
    remedy: "See its `status`: settle it while that is `accepted`."
  },
  too_many_held: {
    status: 409,
    meaning: "The company has as many hold invoices that have not ended as it may have: 200. Each may be paid and held.",
    remedy: "Settle or cancel one, or wait until one expires."
  },
  too_many_api_keys: {
    status: 409,
    meaning: "The company has as many open API keys as it may have when it makes one itself: 100.",
    remedy: "Revoke one that is not needed any more, or ask the operator to issue one."
  },
  cursor_too_old: {
    status: 410,
    meaning: "Events after this cursor have been deleted: they are kept for 90 days.",
    remedy: "Read the records themselves, and go on from the oldest event, which the message names, or without `after`."
  },
  body_too_large: {
    status: 413,
    meaning: "The body is larger than the limit.",
    remedy: "Send a smaller body: 65 536 bytes by default."
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The body is declared as something other than JSON in UTF-8, or as compressed.",
    remedy: "Send `Content-Type: application/json`, and no `Content-Encoding`."
  },
  expectation_failed: {
    status: 417,
    meaning: "The `Expect` header is something other than `100-continue`.",
    remedy: "Leave the `Expect` header out."
  },
  insufficient_balance: {
    status: 422,
    meaning: "The balance does not cover amount and fee. Nothing was held.",
    remedy: "Send less, or wait for a deposit or for a pending withdrawal to end."
  },
  limit_exceeded: {
    status: 422,
    meaning: "Sending this is more than a limit of the API key or of its company allows. Nothing was held. `error.limit` names the limit.",
    remedy: "Send at most `error.remaining_sats`, or wait until `error.frees_at`, or ask the operator for another limit."
  },
  fee_changed: {
    status: 409,
    meaning:
      "The fee is not what was shown: it is more than `max_fee_sats`, or the company's fees were changed while the request was handled. Nothing was held.",
    remedy: "Estimate again, and confirm with the fee that it says."
  },
  idempotency_mismatch: {
    status: 422,
    meaning: "The `Idempotency-Key` was used before for another request.",
    remedy: "Use a new key for a new request, and the old key for the very same one only."
  },
  domain_not_verified: {
    status: 422,
    meaning: "The domain is not verified as this company's.",
    remedy: "Verify the domain with `POST /v1/domains`, or check in `GET /v1/domains` whether it was lost."
  },
  domain_not_shown: {
    status: 422,
    meaning: "The domain's DNS does not have this company's TXT record.",
    remedy: "Set the TXT record that the message names, and repeat the request: DNS changes may take a while."
  },
  wrong_network: {
    status: 422,
    meaning: "The destination is of another bitcoin network than the service's.",
    remedy: "Get a destination on this network from the payee."
  },
  unsupported: {
    status: 422,
    meaning: "The destination is valid, but of a kind that is not supported.",
    remedy: "Get a destination of the kind that the message names from the payee."
  },
  amount_mismatch: {
    status: 422,
    meaning: "The destination has another amount than the request.",
    remedy: "Leave `amount` out, or give the destination's own."
  },
  amount_required: {
    status: 422,
    meaning: "Neither the request nor the destination has an amount.",
    remedy: "Give `amount` and `currency`."
  },
  amount_out_of_range: {
    status: 422,
    meaning: "The amount is outside the payee's limits.",
    remedy: "Stay within the range in the message."
  },
  dust: {
    status: 422,
    meaning: "The bitcoin network does not relay an output this small.",
    remedy: "Send at least what the message names, or pay over Lightning."
  },
  invoice_expired: {
    status: 422,
    meaning: "The invoice or the offer has expired, or is about to.",
    remedy: "Get a new invoice from the payee."
  },
  invoice_not_payable: {
    status: 422,
    meaning: "The invoice was paid already, or is being paid.",
    remedy: "Get a new invoice from the payee, if another payment is meant."
  },
  payment_hash_used: {
    status: 422,
    meaning: "Another withdrawal of the company was made for this invoice. An invoice belongs to one withdrawal.",
    remedy: "See that withdrawal, or get a new invoice from the payee."
  },
  recipient_not_found: {
    status: 422,
    meaning:
      "The destination points to this service, but does not exist here; or it is a name like ₿user@domain whose domain has no record for it (BIP 353).",
    remedy: "Check the destination with the payee. Without the ₿ it may be a Lightning address."
  },
  final_cltv_too_long: {
    status: 422,
    meaning: "The invoice lets its payee hold the payment for longer than the service allows.",
    remedy: "Get an invoice with a shorter final expiry (min_final_cltv_expiry) from the payee."
  },
  recipient_refused: {
    status: 422,
    meaning:
      "The payee's server refused the payment, or its response is invalid; or the record in the DNS of the payee's domain (BIP 353) is invalid, not signed, or for another amount. Then nobody else is asked: it may be an attacker's.",
    remedy: "Check the destination with the payee. The message has the reason."
  },
  sandbox_refused: {
    status: 422,
    meaning: "The simulated network cannot do this. Only the sandbox has this error.",
    remedy: "The message has the reason."
  },
  rate_limited: {
    status: 429,
    meaning:
      "There were too many requests with this key, or from this address without a key; or too many estimates that ask recipients' servers, of the company or at that server. Nothing was asked.",
    remedy:
      "Wait for `Retry-After` seconds and send the request again, with the same `Idempotency-Key` if it has one. The headers `RateLimit-Policy` and `RateLimit` say how many requests a key has, in a minute (`key`) and within a second (`burst`), and how many of them are left. Estimates of invoices, bitcoin addresses and recipients of this service are not limited."
  },
  headers_too_large: {
    status: 431,
    meaning: "The headers are larger than the limit.",
    remedy: "Send fewer and shorter headers."
  },
  internal: {
    status: 500,
    meaning: "An error of the service. The message has a reference for the operator.",
    remedy: "Send a creation again with the same `Idempotency-Key` only: it may have taken effect."
  },
  store_unavailable: {
    status: 503,
    meaning: "The database could not be reached. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  overloaded: {
    status: 503,
    meaning: "There are more requests than the database keeps up with. Nothing was recorded.",
    remedy: "Wait for `Retry-After` seconds and send the same request again, less often."
  },
  paused: {
    status: 503,
    meaning:
      "The operator has paused sending, or receiving, for everybody. Nothing was recorded; what was confirmed before waits, and what is paid is credited.",
    remedy: "Wait, and send the request again."
  },
  node_unavailable: {
    status: 503,
    meaning: "The Lightning node could not be reached.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  chain_unavailable: {
    status: 503,
    meaning: "The bitcoin chain could not be read.",
    remedy: "Wait for `Retry-After` seconds and send the request again."
  },
  names_unavailable: {
    status: 503,
    meaning: "The domain's name servers did not respond.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the name servers."
  },
  rate_unavailable: {
    status: 503,
    meaning: "There is no current exchange rate.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or give the amount in sats or btc."
  },
  recipient_unreachable: {
    status: 503,
    meaning: "The payee's server, or the DNS of the payee's domain, gave no answer that is certain.",
    remedy: "Wait for `Retry-After` seconds and send the request again, or check the destination."
  },
  timeout: {
    status: 503,
    meaning: "The request was not completed in time. It may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  stopping: {
    status: 503,
    meaning: "The process is being stopped. The request may or may not have taken effect.",
    remedy: "Wait for `Retry-After` seconds and send the same request with the same `Idempotency-Key`."
  },
  not_ready: {
    status: 503,
    meaning: "The process is up but not ready. `error.issues` names the failed checks.",
    remedy: "Send requests to another process, or wait."
  }
} as const satisfies Record<string, Word>

export type Catalogue = typeof catalogue
export type Code = keyof Catalogue
