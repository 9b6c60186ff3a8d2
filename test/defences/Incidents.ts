/** How somebody lost money, or could have, and what stops it here. The numbers are the rows of docs/reference/defences.md, and begin the titles of tests. */
export interface Incident {
  readonly row: number
  /** Who, and what went wrong. */
  readonly incident: string
  /** What stops it here; absent where it does not apply. */
  readonly defence?: string
  /** Why it does not apply. */
  readonly reason?: string
}

const groups = {
  "Unknown taken for failed": [
    [
      1,
      "LNbits on Eclair (CVE-2024-34694): a payment that took more than 30 seconds was given back, and settled later",
      "No clock gives money back, only the node's final word"
    ],
    [
      2,
      "LNbits: a connection that broke in the call to pay freed the money",
      "A call without an answer is *unknown*, and asked about again"
    ],
    [3, "LndHub: every error of the call to pay freed the money", "Only what lnd itself refuses, and has no record of, has failed"],
    [
      4,
      "Blink: after a connection error the next node was asked to pay the same invoice",
      "One node, known by its key; another one at its address is asked nothing"
    ],
    [
      5,
      "Alby Hub: the caller went away, and the payment was called failed while it went on",
      "Sending is a stored task and a worker's, in no request's scope"
    ],
    [
      6,
      "BTCPay 2.0.2: it was paid, the look-up behind it failed, and the payout could be claimed again",
      "A look-up that fails decides nothing"
    ],
    [7, "BlueWallet and others: told that it failed, people paid again, and both arrived", "`pending` until the final word, under one id"],
    [
      8,
      "Lightning.Pub, seen in review: a payment that the node did not know was given back",
      "Not found is not failed: it is sent once more when no call can be under way any longer"
    ],
    [
      9,
      "Mostro: a placeholder was stored in place of the payment hash, so that nothing could be looked up",
      "The hash is stored before the node is told"
    ],
    [
      10,
      "lnd, LDK: a crash between a payment and its record",
      "The task stays until the end, leased and fenced; every death between two calls is tried in tests"
    ],
    [
      11,
      "LDK: a payment is made once only as long as the node remembers it",
      "One payment hash is one withdrawal's for ever, by a unique key of ours"
    ]
  ],
  "Twice, or at once": [
    [12, "LNbank: withdrawals at once passed one balance check", "The check is part of the statement that holds, under a row lock"],
    [
      13,
      "Alby Hub: a lock in the process guarded the balance of all processes",
      "Nothing in memory guards money: processes are ordered by rows alone"
    ],
    [
      14,
      "Alby Hub: one notice changed every payment with its hash",
      "A Change names one row and the state that it leaves; one hash is one withdrawal's"
    ],
    [
      15,
      "LNbits, Blink: an invoice paid from inside could be paid from outside too",
      "It is claimed, then closed at the node, and only then paid"
    ],
    [16, "Blink: a payment inside was booked before its invoice was closed", "The order of row 15, and both legs in one Change"],
    [17, "LndHub: the recipient was credited outside the transaction that could still fail", "Both legs are one Change: all or nothing"],
    [
      18,
      "LNbits, BTCPay and others: one LNURL-withdraw or pull payment claimed several times at once",
      "A claim is the voucher's one change from open"
    ],
    [
      19,
      "BTCPay 2.0.6: a payout was sent up to ten times",
      "Chosen, signed and stored before anyone sees it; then the same bytes, however often; no coin for two"
    ],
    [
      20,
      "BTCPay: payout workers raced with marks made by hand",
      "Which state may follow which is in the statement; what ended stays ended"
    ],
    [21, "Blnk: refunds of one transaction at once", "A hold is voided by the change of state, once"],
    [
      22,
      "LNbits: the database was locked while the node paid, and no row was written",
      "What will be done is committed before it is; a Change is a value, so that no transaction is open meanwhile"
    ],
    [
      23,
      "Fedimint: a repeated request was judged anew, and called expired",
      "The key is looked up before anything else, and again in the commit"
    ],
    [24, "Alby Hub: an event was published before its commit", "The event is a part of the Change"]
  ],
  "Fees and amounts": [
    [25, "LNbits, 2021: payments went out without a fee limit", "One number: held, told to the node, and compared with what it took"],
    [26, "Nutshell: a node's adapter ignored the fee limit", "Every adapter is held to it by the contract"],
    [
      27,
      "LndHub: no reserve for fees, which then took accounts below zero",
      "Amount and fees are held together, and the guard has no exception"
    ],
    [28, "BTCPay 2.4.1: satoshis where millisatoshis were wanted", "One unit with a type of its own; units are in names"],
    [29, "Alby Hub: unsigned numbers ran over", "Big integers, and a largest amount"],
    [
      30,
      "LNbits: a daily limit that counted the latest payment only",
      null,
      "There is no limit over a time: those that there are hold for each payment"
    ],
    [31, "LNbits: a payment to oneself was credited though it failed", "Both legs are one Change"],
    [32, "lightning-dev, 2023: an invoice that borrows another's hash", "What is ours is known by its hash and its whole text"],
    [
      33,
      "BOLT 4 lets a payer send more than was asked; the amount asked was credited",
      "What arrived is credited, and both amounts are kept"
    ],
    [
      34,
      "lnd, LNbits, Blnk and others: floating-point numbers and truncation",
      "Exact decimals and big integers; what does not fit is refused"
    ],
    [35, "lnd, Core Lightning, Blnk and others: negative amounts, and nothing", "At least one satoshi; the tables check it too"],
    [
      36,
      "Blink: rounding, and late failures given back at another rate, were worth money",
      "The ledger is in bitcoin: what was held is what comes back"
    ],
    [
      37,
      "Speed: a partial payment was called paid",
      "A node takes no less than its invoice asks (BOLT 4); what came is what is credited, and both amounts are shown"
    ],
    [38, "minibits: units mixed up", "As row 28"],
    [39, "Wallets paid whatever the invoice of an LNURL server asked", "It must ask for this amount, to the millisatoshi"],
    [
      40,
      "Ark's LNURL server: a session taken over, and another's invoice shown",
      "No sessions: the address in a request says whose invoice it gets"
    ],
    [
      41,
      "Core Lightning's bookkeeper: books that drifted away from the node",
      "Double entry, recounted; in tests compared with what node and chain own"
    ]
  ],
  "On the chain": [
    [42, "LndHub: a deposit was credited twice", "One output is one deposit"],
    [43, "Blink: of several outputs in one transaction one was credited", "Deposits are known by their output"],
    [44, "Blink: a notice that came again was taken for another", "Whatever is told again is known"],
    [
      45,
      "BTCPay: a payment that was replaced stayed credited",
      "A credit is taken back with its block; what was spent is the operator's loss"
    ],
    [
      46,
      "BTCPay 2.4.7: one of its interfaces went around the confirmation policy",
      "The operator's policy alone says how deep; no request names a depth"
    ],
    [
      47,
      "RustChain: a payout whose broadcast failed was given back, though it may lie in a mempool",
      "A payout stays pending whatever the network says of its broadcast"
    ]
  ],
  "Web, keys, companies": [
    [
      48,
      "LNbits (CVE-2025-32013): a request to any address inside",
      "A guard checks every address, connects to what it checked, and limits what comes back"
    ],
    [49, "LNbits: the check failed, was logged, and the request went out", "The guard is the only one that can connect"],
    [
      50,
      "BTCPay 2.4.5: connection strings, LNURL and webhooks led inside",
      "The guard is there from the start; the operator vouches for hosts by name"
    ],
    [
      51,
      "Mostro, TollGate: an address of a machine as a Lightning address; a name that changes between check and use",
      "Public names only, looked up once"
    ],
    [
      52,
      "BTCPay 2.4.2: a second way in without the second factor, and a macaroon behind it",
      "One way in; macaroons that may do what they are for and no more"
    ],
    [
      53,
      "BTCPay, 2026: records read by their id, whosever they are",
      "Every read names the company; every endpoint is tried with another's id"
    ],
    [54, "BTCPay 2.4.7: payouts opened again after they ended, bodies without limit", "What ended stays ended; bodies have a limit"],
    [55, "BTCPay: scripts and redirects in its pages", "No pages but the documentation, which may load nothing"],
    [
      56,
      "BTCPay, LNbits, Core Lightning: secrets in logs, addresses and arguments",
      "Keys come in headers only, and are redacted by their type"
    ],
    [57, "LNbits and others: keys kept, and compared, as plain text", "A SHA-256 is kept, and compared in constant time"],
    [58, "OpenNode: a webhook's signature covered its id only", null, "There are no webhooks"],
    [59, "lnd (CVE-2024-38359 and others), Core Lightning: faults of the node itself", "A version with known faults is warned of"],
    [
      60,
      "BTCPay: payments that nobody saw after a restart",
      "The node's notices, from a cursor that moves with the credit; and a look at every open invoice"
    ]
  ]
} as const satisfies Record<
  string,
  ReadonlyArray<
    readonly [row: number, incident: string, defence: string] | readonly [row: number, incident: string, defence: null, reason: string]
  >
>

/** Every row, by what it is about. */
export const incidents: ReadonlyArray<readonly [group: string, rows: ReadonlyArray<Incident>]> = Object.entries(groups).map(
  ([group, rows]) =>
    [
      group,
      rows.map(([row, incident, defence, reason]) => ({
        row,
        incident,
        ...(defence === null ? { reason } : { defence })
      }))
    ] as const
)
