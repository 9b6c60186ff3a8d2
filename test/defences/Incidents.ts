/** An incident in which money was lost, or could have been, and what prevents it here. The numbers are the rows of docs/reference/defences.md, and begin the titles of tests. */
export interface Incident {
  readonly row: number
  /** Who, and what went wrong. */
  readonly incident: string
  /** What prevents it here; absent where it does not apply. */
  readonly defence?: string
  /** Why it does not apply. */
  readonly reason?: string
}

type Row =
  | readonly [row: number, incident: string, defence: string]
  | readonly [row: number, incident: string, defence: null, reason: string]

const groups = {
  "Unknown treated as failed": [
    [
      1,
      "LNbits on Eclair (CVE-2024-34694): a payment that took more than 30 seconds was refunded, and settled later",
      "No timeout releases money, only the node's final result"
    ],
    [
      2,
      "LNbits: a connection that broke in the call to pay released the money",
      "A call without a response is *unknown*, and looked up again"
    ],
    [3, "LndHub: every error of the call to pay released the money", "Only what lnd itself refuses, and has no record of, has failed"],
    [
      4,
      "Blink: after a connection error the next node paid the same invoice too",
      "One node, identified by its key; another one at its address receives no calls"
    ],
    [
      5,
      "Alby Hub: the caller disconnected, and the payment was marked failed while it went on",
      "Sending is a stored job of a worker, outside any request"
    ],
    [
      6,
      "BTCPay 2.0.2: after the payment its look-up failed, and the payout could be claimed again",
      "A look-up that fails decides nothing"
    ],
    [
      7,
      "BlueWallet and others: reported failed, paid again by the user, and both payments arrived",
      "`pending` until the final result, under one id"
    ],
    [
      8,
      "Lightning.Pub, found in review: a payment that the node did not find was refunded",
      "Not found is not failed: it is sent again once no earlier call can still arrive"
    ],
    [
      9,
      "Mostro: a placeholder was stored in place of the payment hash, so that nothing could be looked up",
      "The hash is stored before the node is called"
    ],
    [
      10,
      "lnd, LDK: a crash between a payment and its record",
      "The job stays until the end, leased and fenced; tests crash the process between every two calls"
    ],
    [
      11,
      "LDK: a payment is idempotent only as long as the node keeps its record",
      "One payment hash is one withdrawal's for ever, by a unique key of ours"
    ]
  ],
  "Twice, or concurrently": [
    [12, "LNbank: withdrawals at once passed one balance check", "The check is part of the statement that holds, under a row lock"],
    [
      13,
      "Alby Hub: a lock in the process guarded the balance of all processes",
      "Nothing in memory guards money: processes are ordered by rows alone"
    ],
    [
      14,
      "Alby Hub: one notification changed every payment with its hash",
      "A Change names one row and the state that it leaves; one hash is one withdrawal's"
    ],
    [
      15,
      "LNbits, Blink: an invoice paid internally could be paid from outside too",
      "It is claimed, then canceled at the node, and only then paid"
    ],
    [16, "Blink: an internal payment was booked before its invoice was canceled", "The order of row 15, and both legs in one Change"],
    [17, "LndHub: the recipient was credited outside the transaction that could still fail", "Both legs are one Change: all or nothing"],
    [
      18,
      "LNbits, BTCPay and others: one LNURL-withdraw or pull payment claimed several times at once",
      "A claim is the voucher's one transition from open"
    ],
    [
      19,
      "BTCPay 2.0.6: a payout was sent up to ten times",
      "Selected, signed and stored before it is broadcast; then the same bytes, however often; no coin for two"
    ],
    [20, "BTCPay: payout workers raced with manual status changes", "The statement checks each transition; a final state stays final"],
    [21, "Blnk: refunds of one transaction at once", "A hold is voided by the transition, once"],
    [
      22,
      "LNbits: the database was locked while the node paid, and no row was written",
      "The decision is committed before the call; a Change is a value, so no database transaction is open meanwhile"
    ],
    [
      23,
      "Fedimint: a repeated request was validated again, and refused as expired",
      "The idempotency key is looked up before anything else, and again in the commit"
    ],
    [24, "Alby Hub: an event was published before its commit", "The event is a part of the Change"]
  ],
  "Fees and amounts": [
    [25, "LNbits, 2021: payments went out without a fee limit", "One number: held, given to the node, and compared with the actual cost"],
    [26, "Nutshell: a node's adapter ignored the fee limit", "Every adapter is tested for it by the contract"],
    [
      27,
      "LndHub: no reserve for fees, which then took accounts below zero",
      "Amount and fees are held together, and the guard has no exception"
    ],
    [28, "BTCPay 2.4.1: satoshis where millisatoshis were expected", "One unit with a type of its own; units are in names"],
    [29, "Alby Hub: unsigned integers overflowed", "Big integers, and a largest amount"],
    [
      30,
      "LNbits: a daily limit that counted the latest payment only",
      "The commit that holds a payment checks and adds to the totals of its windows, under their row locks"
    ],
    [31, "LNbits: a payment to oneself was credited though it failed", "Both legs are one Change"],
    [32, "lightning-dev, 2023: an invoice that borrows another's hash", "Our invoices are recognized by hash and whole text"],
    [
      33,
      "BOLT 4 allows overpayment; only the invoice's amount was credited",
      "The received amount is credited, and both amounts are stored"
    ],
    [
      34,
      "lnd, LNbits, Blnk and others: floating-point numbers and truncation",
      "Exact decimals and big integers; amounts that do not fit are refused"
    ],
    [35, "lnd, Core Lightning, Blnk and others: negative and zero amounts", "At least one satoshi; the tables check it too"],
    [
      36,
      "Blink: rounding, and refunds at another rate, could be exploited",
      "The ledger is in bitcoin: the held amount is the released one"
    ],
    [
      37,
      "Speed: a partial payment was marked paid",
      "A node accepts no less than the invoice's amount (BOLT 4); the received amount is credited, and both amounts are shown"
    ],
    [38, "minibits: units mixed up", "As row 28"],
    [39, "Wallets paid any amount that the invoice of an LNURL server had", "Its amount must be the requested one, to the millisatoshi"],
    [
      40,
      "Ark's LNURL server: a hijacked session, and another user's invoice shown",
      "No sessions: the address in the request determines the invoice's owner"
    ],
    [
      41,
      "Core Lightning's bookkeeper: books that drifted away from the node",
      "Double entry, verified; in tests reconciled with node and chain"
    ]
  ],
  "On the chain": [
    [42, "LndHub: a deposit was credited twice", "One output is one deposit"],
    [43, "Blink: of several outputs in one transaction one was credited", "Deposits are known by their output"],
    [44, "Blink: a repeated notification was taken for a new one", "A repeated notification is recognized"],
    [
      45,
      "BTCPay: a payment that was replaced stayed credited",
      "A credit is reversed with its block; what was spent is the operator's loss"
    ],
    [
      46,
      "BTCPay 2.4.7: one of its interfaces bypassed the confirmation policy",
      "The operator's policy alone sets the depth; no request can"
    ],
    [
      47,
      "RustChain: a payout whose broadcast failed was refunded, though it may be in a mempool",
      "A payout stays pending whatever the result of its broadcast"
    ]
  ],
  "Web, keys, companies": [
    [
      48,
      "LNbits (CVE-2025-32013): server-side requests to internal addresses",
      "A guard checks every address, connects to the checked one, and limits the response"
    ],
    [49, "LNbits: the check failed, was logged, and the request went out", "The guard is the only one that can connect"],
    [
      50,
      "BTCPay 2.4.5: connection strings, LNURL and webhooks led to internal addresses",
      "The guard covers every outbound request; the operator vouches for hosts by name"
    ],
    [
      51,
      "Mostro, TollGate: an IP address as a Lightning address; a name that changes between check and use",
      "Public names only, looked up once"
    ],
    [
      52,
      "BTCPay 2.4.2: a second login without the second factor, with access to a macaroon",
      "One login; macaroons with the needed permissions and no more"
    ],
    [
      53,
      "BTCPay, 2026: records read by id without a check of their owner",
      "Every read names the company; every endpoint is tested with another company's id"
    ],
    [54, "BTCPay 2.4.7: payouts reopened after they ended, bodies without limit", "A final state stays final; bodies have a limit"],
    [55, "BTCPay: scripts and redirects in its pages", "No pages but the documentation, which may load nothing"],
    [
      56,
      "BTCPay, LNbits, Core Lightning: secrets in logs, addresses and arguments",
      "Keys come in headers only, and are redacted by their type"
    ],
    [57, "LNbits and others: keys stored, and compared, as plain text", "A SHA-256 is stored, and compared in constant time"],
    [
      58,
      "OpenNode: a webhook's signature covered its id only",
      "Each signature of a webhook covers all of its body; those of Standard Webhooks its id and time as well"
    ],
    [59, "lnd (CVE-2024-38359 and others), Core Lightning: faults of the node itself", "A version with known faults is reported"],
    [
      60,
      "BTCPay: payments missed after a restart",
      "The node's notifications, from a checkpoint that moves with the credit; and polling of every open invoice"
    ]
  ]
} as const satisfies Record<string, ReadonlyArray<Row>>

/** Every row, by what it is about. */
export const incidents: ReadonlyArray<readonly [group: string, rows: ReadonlyArray<Incident>]> = Object.entries(groups).map(
  ([group, rows]) =>
    [
      group,
      rows.map(([row, incident, defence, reason]: Row) => ({
        row,
        incident,
        ...(defence === null ? { reason } : { defence })
      }))
    ] as const
)
