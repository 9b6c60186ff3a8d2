/**
 * An incident in which money was lost or could have been, and its prevention here. The numbers are the rows
 * of docs/reference/defences.md and start the titles of tests.
 */
export interface Incident {
  readonly row: number
  /** The affected service, and the fault. */
  readonly incident: string
  /** The prevention here, or undefined if the incident does not apply. */
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
      "Only the node's final result releases money. A timeout does not"
    ],
    [
      2,
      "LNbits: a connection lost during the payment call released the money",
      "A payment whose call got no response is *unknown*, and is looked up until the node reports a result"
    ],
    [
      3,
      "LndHub: any error from the payment call released the money",
      "A payment fails only if lnd itself refused it and has no record of it"
    ],
    [
      4,
      "Blink: after a connection error the next node paid the same invoice too",
      "The service calls only the node with the expected public key, never another node at the same address"
    ],
    [
      5,
      "Alby Hub: the caller disconnected, and the payment was marked failed while it was still in flight",
      "A worker sends payments from stored jobs, outside any request"
    ],
    [
      6,
      "BTCPay 2.0.2: the lookup after the payment failed, and the payout could be claimed again",
      "A failed lookup does not change the status"
    ],
    [
      7,
      "BlueWallet and others: a payment reported as failed was paid again by the user, and both payments arrived",
      "A withdrawal keeps one id and stays `pending` until the final result"
    ],
    [
      8,
      "Lightning.Pub, found in review: a payment that the node did not find was refunded",
      "A payment that the node does not find is not marked failed. It is sent again once no earlier call can still arrive"
    ],
    [
      9,
      "Mostro: a placeholder was stored in place of the payment hash, so that nothing could be looked up",
      "The hash is stored before the node is called"
    ],
    [
      10,
      "lnd, LDK: a crash between a payment and its record",
      "The payment's job is stored, with a lease and a fencing token, until the payment is final. Tests crash the process between every two calls"
    ],
    [
      11,
      "LDK: a payment is idempotent only as long as the node keeps its record",
      "A unique key in our database ties a payment hash to one withdrawal permanently"
    ]
  ],
  "Paid twice or concurrently": [
    [
      12,
      "LNbank: concurrent withdrawals all passed the same balance check",
      "The balance check is part of the statement that places the hold, under a row lock"
    ],
    [
      13,
      "Alby Hub: an in-memory lock guarded a balance shared by several processes",
      "No in-memory state guards money. Database row locks serialize the processes"
    ],
    [
      14,
      "Alby Hub: one notification changed every payment with its hash",
      "Each write names one row and its previous state, and a payment hash belongs to one withdrawal"
    ],
    [
      15,
      "LNbits, Blink: an invoice paid internally could also be paid over the network",
      "The invoice is claimed, then canceled at the node, and only then paid internally"
    ],
    [
      16,
      "Blink: an internal payment was posted before its invoice was canceled",
      "The invoice is canceled first (C15), and payer and recipient are booked in one transaction"
    ],
    [
      17,
      "LndHub: the recipient was credited outside the transaction that could still fail",
      "Payer and recipient are booked in one transaction"
    ],
    [
      18,
      "LNbits, BTCPay and others: one LNURL-withdraw or pull payment claimed several times concurrently",
      "A voucher leaves the status `open` only once, when it is claimed"
    ],
    [
      19,
      "BTCPay 2.0.6: a payout was sent up to ten times",
      "A payout's transaction is signed and stored before it is broadcast. Each broadcast sends the same bytes, and no coin is used twice"
    ],
    [
      20,
      "BTCPay: payout workers raced with manual status changes",
      "The SQL statement checks each change of status, and a final status never changes"
    ],
    [
      21,
      "Blnk: concurrent refunds of one transaction",
      "A hold is voided by a state transition that happens only once"
    ],
    [
      22,
      "LNbits: the database was locked while the node paid, and no row was written",
      "The withdrawal is committed before the call, so no database transaction is open during the call"
    ],
    [
      23,
      "Fedimint: a repeated request was validated again and refused as expired",
      "The idempotency key is looked up before anything else, and again in the commit"
    ],
    [
      24,
      "Alby Hub: an event was published before its commit",
      "An event is committed in one transaction with the record it describes"
    ]
  ],
  "Fees and amounts": [
    [
      25,
      "LNbits, 2021: payments went out without a fee limit",
      "The fee reserve is held, passed to the node as its fee limit, and compared with the actual fee"
    ],
    [
      26,
      "Nutshell: a node's adapter ignored the fee limit",
      "The contract tests check the limit with every adapter"
    ],
    [
      27,
      "LndHub: no reserve for fees, so fees took accounts below zero",
      "Amount and fees are held together, and no payment skips the balance check"
    ],
    [
      28,
      "BTCPay 2.4.1: satoshis where millisatoshis were expected",
      "The code uses one unit, which has its own type, and names contain the unit"
    ],
    [29, "Alby Hub: unsigned integers overflowed", "Amounts are big integers with a maximum"],
    [
      30,
      "LNbits: a daily limit that counted only the latest payment",
      "The commit that holds a payment locks the limit's totals, checks them, and adds the payment"
    ],
    [
      31,
      "LNbits: a payment to oneself was credited although it failed",
      "Payer and recipient are booked in one transaction"
    ],
    [
      32,
      "lightning-dev, 2023: an invoice that reuses another invoice's hash",
      "The service recognizes its own invoices by hash and full text"
    ],
    [
      33,
      "BOLT 4 allows overpayment; only the invoice's amount was credited",
      "The received amount is credited, and both amounts are stored"
    ],
    [
      34,
      "lnd, LNbits, Blnk and others: floating-point numbers and truncation",
      "Amounts are exact decimals and big integers; an amount that does not fit is refused"
    ],
    [
      35,
      "lnd, Core Lightning, Blnk and others: negative and zero amounts",
      "Amounts are at least one satoshi. The tables check this too"
    ],
    [
      36,
      "Blink: rounding, and refunds at another rate, could be exploited",
      "The ledger is in bitcoin, so the released amount equals the held amount"
    ],
    [
      37,
      "Speed: a partial payment was marked paid",
      "A node accepts no less than the invoice's amount (BOLT 4); the received amount is credited, and both amounts are shown"
    ],
    [38, "minibits: units mixed up", "The same defense as for C28"],
    [
      39,
      "Wallets paid whatever amount an LNURL server put in its invoice",
      "The invoice's amount must equal the requested amount to the millisatoshi"
    ],
    [
      40,
      "Ark's LNURL server: a hijacked session, and another user's invoice shown",
      "LNURL requests have no sessions. The Lightning address in the request determines the invoice's owner"
    ],
    [
      41,
      "Core Lightning's bookkeeper: books that drifted away from the node",
      "The books are verified and reconciled with the node and the chain, in tests too"
    ]
  ],
  "On-chain": [
    [42, "LndHub: a deposit was credited twice", "Each transaction output can become only one deposit"],
    [
      43,
      "Blink: only one of several outputs in a transaction was credited",
      "Deposits are identified by their output"
    ],
    [
      44,
      "Blink: a repeated notification was treated as a new one",
      "A repeated notification is recognized and credits nothing"
    ],
    [
      45,
      "BTCPay: a replaced payment stayed credited",
      "A credit is reversed when its block is reorganized out; the operator bears any part already spent"
    ],
    [
      46,
      "BTCPay 2.4.7: one of its interfaces bypassed the confirmation policy",
      "Only the operator's policy sets the number of confirmations; no request can change it"
    ],
    [
      47,
      "RustChain: a payout whose broadcast failed was refunded although it could be in a mempool",
      "A payout stays pending whatever the result of its broadcast"
    ]
  ],
  "Web, keys, companies": [
    [
      48,
      "LNbits (CVE-2025-32013): server-side requests to internal addresses",
      "A guard checks every address, connects only to the checked address, and limits the response"
    ],
    [
      49,
      "LNbits: a failed check was only logged, and the request was sent",
      "Only the guard can open connections"
    ],
    [
      50,
      "BTCPay 2.4.5: connection strings, LNURL and webhooks reached internal addresses",
      "The guard covers every outbound request; only hosts named by the operator are exempt"
    ],
    [
      51,
      "Mostro, TollGate: an IP address as a Lightning address; a name that changes between check and use",
      "Only public names are accepted, and each is looked up once"
    ],
    [
      52,
      "BTCPay 2.4.2: a second login skipped the second factor and gave access to a macaroon",
      "There is one login, and macaroons have only the required permissions"
    ],
    [
      53,
      "BTCPay, 2026: records read by id without a check of their owner",
      "Every read names the company; every endpoint is tested with another company's id"
    ],
    [
      54,
      "BTCPay 2.4.7: payouts were reopened after they ended, and request bodies had no size limit",
      "A final status never changes, and request bodies have a size limit"
    ],
    [
      55,
      "BTCPay: scripts and redirects in its pages",
      "Pages escape all input, and a content security policy limits what they load"
    ],
    [
      56,
      "BTCPay, LNbits, Core Lightning: secrets in logs, URLs and arguments",
      "Keys are accepted only in headers, and are redacted when printed"
    ],
    [
      57,
      "LNbits and others: keys stored and compared as plain text",
      "Only a key's SHA-256 is stored, and it is compared in constant time"
    ],
    [
      58,
      "OpenNode: a webhook's signature covered only its id",
      "Every signature covers the whole body; Standard Webhooks signatures also cover id and time"
    ],
    [
      59,
      "lnd (CVE-2024-38359 and others), Core Lightning: bugs in the node itself",
      "A version with known bugs is reported"
    ],
    [
      60,
      "BTCPay: payments missed after a restart",
      "The checkpoint for notifications advances in the same commit as the credit, and every open invoice is polled"
    ]
  ]
} as const satisfies Record<string, ReadonlyArray<Row>>

/** Every row, grouped by subject. */
export const incidents: ReadonlyArray<readonly [group: string, rows: ReadonlyArray<Incident>]> =
  Object.entries(groups).map(
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
