/** Why a request is refused that is valid by its schema: JSON Schema cannot say these rules. A test sends valid requests to every operation and takes no other refusal. */
export const rules: ReadonlyArray<{ readonly rule: string; readonly members: ReadonlyArray<string> }> = [
  { rule: "A cursor or an event id must be one that this service gave", members: ["cursor", "replay_from"] },
  {
    rule: "An invoice, an address, or an offer must have a valid checksum and be of a supported kind",
    members: ["destination", "payment_request", "recipients"]
  },
  {
    rule: "A number must have no more decimals than its unit: whole satoshis, or three decimals where the description says so",
    members: ["amount", "amount_sats", "base_sats", "max_fee_sats", "node_sats", "on_chain_sats"]
  },
  {
    rule: "Members that depend on each other must be sent together, or only one of them, as their descriptions say",
    members: [
      "amount",
      "currency",
      "deposit_id",
      "description",
      "format",
      "invoice_id",
      "max_sats",
      "metadata_key",
      "metadata_value",
      "min_sats",
      "payment_hash",
      "payment_request"
    ]
  },
  {
    rule: "Times must be in order, or in the past or the future, as their descriptions say",
    members: ["expires_at", "from", "month", "until"]
  },
  { rule: "The limit is in bytes of UTF-8, not in characters", members: ["description"] },
  { rule: "Amounts must be within the limits of the installation", members: ["amount", "max_sats", "min_sats"] },
  {
    rule: "A domain, a URL, or an address range must be well-formed",
    members: ["cancel_url", "domain", "embed_origin", "ranges", "return_url", "url"]
  },
  { rule: "A list of event types must name types or prefixes that exist", members: ["types"] }
]
