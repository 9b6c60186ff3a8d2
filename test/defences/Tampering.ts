// Generates the page's section about tampering, and is the list of its test.

/**
 * A manipulation of the tables that bypasses the service: with the service's own role, and as the tables' owner. The
 * texts are cells of the page's table.
 */
export interface Tampering {
  readonly what: string
  readonly application: string
  readonly owner: string
  /** Statements, each with the violations that `satrail verify` finds after it, by record type or kind. */
  readonly attempts: ReadonlyArray<readonly [sql: string, found: ReadonlyArray<string>]>
}

// "Refused": PostgreSQL refuses it, because the role lacks the privilege. "Found": `satrail verify` finds it.
const refused = "Refused"
const compared = "Found (values)"
const recomputed = "Found (books)"
const hashes = "Found (chain)"
const seal = "Found (signature)"
const end = "Found (end)"

/** For manipulations that `verify` does not find. `effect`: what the change can do. */
const missed = (effect: string) => `Not found: ${effect}`

const last = "(select max(id) from satrail.audit_entries)"
const copied = (of: string) => `insert into satrail.audit_entries (id, company_id, at_millis, body)
  select ${last} + 1, company_id, at_millis, ${of} from satrail.audit_entries order by id limit 1`

/** Inserts a copy of a table's first row with other values. */
const another = (table: string, fields: string) =>
  `insert into satrail.${table} select (jsonb_populate_record(t, jsonb_build_object(${fields}))).* from satrail.${table} t limit 1`
const newId = "'id', gen_random_uuid()"

/** Changes one row. */
const one = (table: string, set: string, where = "true") =>
  `update satrail.${table} set ${set} where ctid = (select ctid from satrail.${table} where ${where} limit 1)`

const elsewhere = (table: string, where?: string) =>
  one(
    table,
    `company_id = (select id from satrail.companies c where c.id <> ${table}.company_id limit 1)`,
    where
  )

/** The rows of the page's table, in order. Each table of the database occurs in one. */
export const tamperings: ReadonlyArray<Tampering> = [
  {
    what: "audit entries changed",
    application: refused,
    owner: hashes,
    attempts: [
      [
        "update satrail.audit_entries set body = replace(body, ':2000', ':9000')",
        ["changed", "companies differs limits", "unsigned"]
      ]
    ]
  },
  {
    what: "audit entries removed at the end",
    application: refused,
    owner: end,
    attempts: [
      [
        `delete from satrail.audit_links where entry_id = ${last}; delete from satrail.audit_entries where id = ${last}`,
        ["companies differs limits", "end"]
      ]
    ]
  },
  {
    what: "audit entries removed in the middle",
    application: refused,
    owner: hashes,
    attempts: [
      [
        'delete from satrail.audit_entries where body like \'%"record":"operator_tokens"%\'',
        ["operator_tokens unknown", "removed"]
      ]
    ]
  },
  {
    what: "all audit entries removed",
    application: refused,
    owner: end,
    attempts: [
      [
        "delete from satrail.audit_links; delete from satrail.audit_entries",
        [
          "api_keys unknown",
          "companies unknown",
          "console_sessions unknown",
          "end",
          "operator_requests unknown",
          "operator_tokens unknown",
          "people unknown",
          "platform_keys unknown",
          "wallet_connections unknown",
          "webhook_endpoints unknown"
        ]
      ]
    ]
  },
  {
    what: "the links removed",
    application: refused,
    owner: end,
    attempts: [["delete from satrail.audit_links", ["end", "unlinked"]]]
  },
  {
    what: "an audit entry appended",
    application: seal,
    owner: seal,
    attempts: [
      [copied("replace(body, 'service', 'Eve')"), ["unsigned"]],
      [copied("'{}'"), ["unsigned"]],
      [copied("body"), ["inserted"]]
    ]
  },
  {
    what: "the stored end of the audit log changed",
    application: end,
    owner: end,
    attempts: [
      [
        "update satrail.cursors set value = '1:1:' || repeat('0', 64) || ':' where source = 'audit head'",
        ["end"]
      ]
    ]
  },
  {
    what: "a key's hash or scopes changed",
    application: refused,
    owner: compared,
    attempts: [
      [`update satrail.api_keys set scopes = '["admin"]'`, ["api_keys differs scopes"]],
      ["update satrail.api_keys set secret_hash = repeat('0', 64)", ["api_keys differs secret_hash"]],
      ["update satrail.api_keys set id = reverse(id)", ["api_keys gone", "api_keys unknown"]]
    ]
  },
  {
    what: "an API or platform key inserted",
    application: compared,
    owner: compared,
    attempts: [
      [another("api_keys", "'id', 'EveEveEveEve', 'secret_hash', repeat('0', 64)"), ["api_keys unknown"]],
      [another("platform_keys", `${newId}, 'secret_hash', repeat('5', 64)`), ["platform_keys unknown"]]
    ]
  },
  {
    what: "an operator token inserted",
    application: compared,
    owner: compared,
    attempts: [
      [
        another("operator_tokens", `${newId}, 'secret_hash', repeat('0', 64), 'scopes', '["all"]'::jsonb`),
        ["operator_tokens unknown"]
      ]
    ]
  },
  {
    what: "a session inserted, extended or confirmed",
    application: compared,
    owner: compared,
    attempts: [
      [
        another(
          "console_sessions",
          `${newId}, 'slot', 9, 'secret_hash', repeat('1', 64), 'expires_at_millis', 9999999999999, 'stepped_up_at_millis', 9999999999999`
        ),
        ["console_sessions unknown"]
      ],
      [
        "update satrail.console_sessions set expires_at_millis = 9999999999999",
        ["console_sessions differs expires_at_millis"]
      ],
      [
        "update satrail.console_sessions set stepped_up_at_millis = 1, ended_at_millis = 1",
        ["console_sessions differs ended_at_millis", "console_sessions differs stepped_up_at_millis"]
      ]
    ]
  },
  {
    what: "a person inserted, or given a passkey, role or invitation",
    application: compared,
    owner: compared,
    attempts: [
      [another("people", newId), ["people unknown"]],
      [
        `update satrail.people set role = 'admin', status = 'active', passkeys = '[{"id":"e","name":"e","publicKey":"e","createdAtMillis":1}]'`,
        ["people differs passkeys", "people differs status"]
      ],
      ["update satrail.people set secret_hash = repeat('0', 64)", ["people differs secret_hash"]]
    ]
  },
  {
    what: "a wallet connection inserted",
    application: compared,
    owner: compared,
    attempts: [
      [
        another(
          "wallet_connections",
          `${newId}, 'api_key_id', gen_random_uuid(), 'app_key', repeat('2', 64)`
        ),
        ["wallet_connections unknown"]
      ]
    ]
  },
  {
    what: "a limit raised",
    application: compared,
    owner: compared,
    attempts: [
      [`update satrail.companies set limits = '{"daySats":1000000}'`, ["companies differs limits"]],
      [`update satrail.companies set limits = '{"daySats":1000}'`, ["companies differs limits"]]
    ]
  },
  {
    what: "a company's plan or freeze changed",
    application: compared,
    owner: compared,
    attempts: [
      ["update satrail.companies set plan = 'paid'", ["companies differs plan"]],
      [
        `update satrail.companies set frozen = '{"reason":"x","pending":"wait","sinceMillis":1}'`,
        ["companies differs frozen"]
      ]
    ]
  },
  {
    what: "a company's fees replaced by malformed data",
    application: compared,
    owner: compared,
    attempts: [
      [
        `update satrail.companies set fees = '{"internal":7}'`,
        ["books: unreadable", "companies differs fees"]
      ],
      [
        `update satrail.companies set limits = '[]', loosening = '7'`,
        ["books: unreadable", "companies differs limits", "companies differs loosening"]
      ]
    ]
  },
  {
    what: "a webhook URL changed",
    application: compared,
    owner: compared,
    attempts: [
      ["update satrail.webhook_endpoints set url = 'https://eve.example/'", ["webhook_endpoints differs url"]]
    ]
  },
  {
    what: "a ledger posting changed",
    application: refused,
    owner: recomputed,
    attempts: [
      [
        "update satrail.entries set amount = amount + 1000",
        ["books: held", "books: posted", "books: transfer"]
      ]
    ]
  },
  {
    what: "a ledger posting appended",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [
        `insert into satrail.entries (company_id, transfer_id, from_account, to_account, amount, at_millis)
         select company_id, transfer_id, from_account, to_account, 7, at_millis from satrail.entries where to_account = 'available' limit 1`,
        ["books: posted", "books: transfer"]
      ]
    ]
  },
  {
    what: "a balance changed",
    application: recomputed,
    owner: recomputed,
    attempts: [["update satrail.balances set posted = posted + 1000", ["books: posted"]]]
  },
  {
    what: "a pending withdrawal marked failed",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [
        one("withdrawals", "status = 'failed', failure = 'unreachable'", "status = 'pending'"),
        ["books: holds", "books: transfer"]
      ]
    ]
  },
  {
    what: "an invoice marked settled without a payment",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [
        one("invoices", "status = 'settled', received = 1000, settled_at_millis = 1", "status = 'pending'"),
        ["books: credit", "books: proof"]
      ]
    ]
  },
  {
    what: "a payment in suspense, an assignment of one or a booked adjustment inserted",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [another("unmatched", newId), ["books: transfer"]],
      [
        another(
          "suspense_assignments",
          `${newId}, 'unmatched_id', gen_random_uuid(), 'ledger_tx_id', gen_random_uuid()`
        ),
        ["books: transfer"]
      ],
      [
        another(
          "adjustments",
          `${newId}, 'status', 'booked', 'decided_by', 'Eve', 'decided_at_millis', 1, 'ledger_tx_id', gen_random_uuid()`
        ),
        ["books: transfer"]
      ]
    ]
  },
  {
    what: "a request to assign suspense or release a lost result inserted, changed or extended",
    application: compared,
    owner: compared,
    attempts: [
      [another("operator_requests", newId), ["operator_requests unknown"]],
      [
        "update satrail.operator_requests set action = 'assign', to_company_id = gen_random_uuid()",
        ["operator_requests differs action", "operator_requests differs to_company_id"]
      ],
      [
        "update satrail.operator_requests set requested_by_id = 'e', requested_by = 'Eve'",
        ["operator_requests differs requested_by", "operator_requests differs requested_by_id"]
      ],
      [
        "update satrail.operator_requests set until_millis = 9999999999999",
        ["operator_requests differs until_millis"]
      ]
    ]
  },
  {
    what: "a transfer inserted",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [
        another("transfers", `${newId}, 'ledger_tx_id', gen_random_uuid()`),
        ["books: returned", "books: transfer"]
      ]
    ]
  },
  {
    what: "an open voucher inserted",
    application: recomputed,
    owner: recomputed,
    attempts: [
      [
        another("vouchers", `${newId}, 'secret_hash', repeat('3', 64), 'ledger_tx_id', gen_random_uuid()`),
        ["books: holds", "books: transfer"]
      ]
    ]
  },
  {
    what: "a voucher's secret swapped",
    application: refused,
    owner: missed("anyone who has the new secret can claim the voucher"),
    attempts: [["update satrail.vouchers set secret_hash = repeat('4', 64)", []]]
  },
  {
    what: "the destination of a pending withdrawal changed",
    application: refused,
    owner: missed("the withdrawal pays someone else"),
    attempts: [[one("withdrawals", "recipient = 'eve@example.com'", "status = 'pending'"), []]]
  },
  {
    what: "a Lightning address, an on-chain address, an offer or an invoice moved to another company",
    application: refused,
    owner: missed("later payments are credited to the other company"),
    attempts: [
      [elsewhere("lightning_addresses"), []],
      [elsewhere("on_chain_addresses"), []],
      [elsewhere("offers"), []],
      [elsewhere("invoices", "status = 'pending'"), []]
    ]
  },
  {
    what: "a domain assigned to another company",
    application: missed("the other company can create Lightning addresses on it"),
    owner: missed("the other company can create Lightning addresses on it"),
    attempts: [[elsewhere("domains"), []]]
  },
  {
    what: "a refund deleted, and its amount subtracted from the deposit's total",
    application: refused,
    owner: missed("the deposit can be refunded again"),
    attempts: [["delete from satrail.refunds; update satrail.deposits set refunded = 0", []]]
  },
  {
    what: "a deposit's total of refunds set to zero, or a refund marked failed",
    application: "Found, by recounting the refunds",
    owner: "Found, by recounting the refunds",
    attempts: [
      ["update satrail.deposits set refunded = 0", ["books: refunded"]],
      ["update satrail.refunds set status = 'failed'", ["books: refunded"]]
    ]
  },
  {
    what: "the counters of limits set to zero",
    application: missed("the limits can be used again"),
    owner: missed("the limits can be used again"),
    attempts: [["update satrail.spent set amount = 0, times = 0", []]]
  },
  {
    what: "stored responses of idempotent requests deleted or replaced",
    application: missed("a repeated request can take effect twice, or gets a false response"),
    owner: missed("a repeated request can take effect twice, or gets a false response"),
    attempts: [
      ["delete from satrail.answers", []],
      [
        "delete from satrail.answers; insert into satrail.answers values ('owner', 'key', 'fingerprint', '{}', null)",
        []
      ]
    ]
  },
  {
    what: "tasks deleted or rescheduled",
    application: missed("work waits"),
    owner: missed("work waits"),
    attempts: [
      ["delete from satrail.tasks", []],
      ["update satrail.tasks set due_at_millis = 9999999999999", []],
      ["delete from satrail.processes", []]
    ]
  },
  {
    what: "events deleted, or the record of deleted ones changed",
    application: missed("webhooks and the feed omit them"),
    owner: missed("webhooks and the feed omit them"),
    attempts: [
      ["delete from satrail.events", []],
      ["delete from satrail.told_events", []],
      ["update satrail.forgotten_events set until = 1", []]
    ]
  },
  {
    what: "coins of the wallet deleted, or a payout's transactions changed",
    application: missed("payouts fail or wait"),
    owner: missed("payouts fail or wait"),
    attempts: [
      ["delete from satrail.coins; delete from satrail.unspent", []],
      ["update satrail.candidates set raw_tx = '00'", []]
    ]
  },
  {
    what: "a checkout marked paid, or a delivery marked delivered",
    application: missed("the status is false, the books are not"),
    owner: missed("the status is false, the books are not"),
    attempts: [
      ["update satrail.checkouts set status = 'paid'", []],
      ["update satrail.webhook_deliveries set status = 'delivered', next_at_millis = null", []]
    ]
  },
  {
    what: "a statement's totals changed",
    application: refused,
    owner: missed("the statement is false, the books are not"),
    attempts: [["update satrail.month_ends set last_entry = '7'", []]]
  },
  {
    what: "the next reserved address key changed",
    application: refused,
    owner: missed("addresses may be issued twice"),
    attempts: [["update satrail.key_ranges set next = next + 1", []]]
  },
  {
    what: "labels, or the origin of event ids changed",
    application: refused,
    owner: missed("searches miss records, or later events have wrong ids"),
    attempts: [
      ["update satrail.invoices_labels set label = label + 1", []],
      ["update satrail.deposits_labels set label = label + 1", []],
      ["update satrail.withdrawals_labels set label = label + 1", []],
      ["update satrail.epoch set transactions = 0", []]
    ]
  }
]
