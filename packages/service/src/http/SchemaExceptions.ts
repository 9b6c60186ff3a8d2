import type { Rule } from "@satrail/http/api/Feature"
import { all } from "../features/http.ts"

interface Members {
  readonly rule: string
  readonly members: ReadonlyArray<string>
}

/** Each rule's text, and the fields to which it applies in operations that belong to no feature. */
const general: { readonly [rule in Rule]: Members } = {
  known: { rule: "A cursor or event id must come from this service", members: ["cursor"] },
  supported: {
    rule: "An invoice, address or offer must have a valid checksum and be of a supported type",
    members: ["destination", "payment_request", "recipients"]
  },
  decimals: {
    rule: "An amount must not have more decimals than its currency allows. Satoshis are whole numbers, unless the description allows three decimals",
    members: ["amount", "amount_sats", "base_sats", "fee_sats", "max_fee_sats", "node_sats", "on_chain_sats"]
  },
  together: {
    rule: "Some fields must be sent together, and others exclude each other, as their descriptions state",
    members: [
      "amount",
      "currency",
      "deposit_id",
      "description",
      "format",
      "max_sats",
      "metadata_key",
      "metadata_value",
      "min_sats",
      "payment_hash",
      "payment_request"
    ]
  },
  times: {
    rule: "Times must be in order, in the past or in the future, as their descriptions state",
    members: ["expires_at", "from", "until"]
  },
  bytes: { rule: "The limit is in bytes of UTF-8, not in characters", members: ["description"] },
  limits: {
    rule: "Amounts must be within the installation's limits",
    members: ["amount", "max_sats", "min_sats"]
  },
  wellFormed: { rule: "A domain, URL or address range must be well-formed", members: ["domain", "ranges"] },
  splits: { rule: "Splits must name other accounts, each once, and add up to 100% at most", members: [] },
  eventTypes: { rule: "Event types must be known types or prefixes", members: [] }
}

/**
 * Rules that JSON Schema cannot express, so a request that matches its schema can still be rejected. A test
 * sends such requests to every operation and accepts no other rejections.
 */
export const rules: ReadonlyArray<Members> = Object.entries<Members>(general).flatMap(
  ([name, { rule, members }]) => {
    const ofFeatures = all.flatMap(({ schemaExceptions = {} }) =>
      Object.entries(schemaExceptions).flatMap(([of, own]) => (of === name ? own : []))
    )
    const joined = [...new Set([...members, ...ofFeatures])].toSorted()
    return joined.length === 0 ? [] : [{ rule, members: joined }]
  }
)
