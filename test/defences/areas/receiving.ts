import { type Canary, core, coreTest, crashTest, featureTest, inMemory, inSql } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "second-payer-unseen",
    rows: [15],
    bug: "a network payment of an internally settled invoice is treated as the same payment",
    file: core("receiving/Invoice"),
    in: "life",
    find: `same: ["received", "preimage", "claimedBy"]`,
    replace: `same: ["received", "preimage"]`,
    test: inMemory,
    titles: "C15:"
  },
  {
    name: "gone-and-waited-for",
    rows: [45],
    bug: "a deposit that was recorded late keeps waiting for a missing transaction",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "      yield* outputs.settle(elsewhere.flatMap(({ deposit }) => Outputs.outpointsOf(deposit)))",
    replace: "",
    test: coreTest("ChainDeposits"),
    titles: "C45:"
  },
  {
    name: "settled-expires-sql",
    rows: [20, 54],
    bug: "a settled invoice may expire afterward",
    file: core("receiving/Invoice"),
    in: "life",
    find: `    from: ["pending", "claimed"],
    to: "expired",
    again: { in: ["held", "settling", "settled", "expired", "canceling", "canceled"] },`,
    replace: `    from: ["pending", "claimed", "settled"],
    to: "expired",
    again: { in: ["held", "settling", "expired", "canceling", "canceled"] },`,
    test: inSql,
    titles: "grouped.*C20"
  },
  {
    name: "hold-settled-after-cancel",
    rows: [54],
    bug: "a hold invoice that its company canceled can be settled afterward",
    file: core("receiving/Invoice"),
    in: "life",
    find: `    from: ["held"],
    to: "settling",`,
    replace: `    from: ["held", "canceling", "canceled"],
    to: "settling",`,
    test: inMemory,
    titles: "C54: Journal: a held payment that was canceled"
  },
  {
    name: "held-is-credited",
    bug: "the amount held by a hold invoice is posted to the company before the invoice is settled",
    file: core("receiving/Invoice"),
    in: "held",
    find: `[Noun.step(life.held, invoice, payment)], { event`,
    replace: `[Noun.step(life.held, invoice, payment)], {
    transferId: invoice.id,
    legs: [{ companyId: invoice.companyId, postings: [{ from: "node", to: "available", amount: payment.held }] }],
    event`,
    test: inMemory,
    titles: "a held payment belongs to no company"
  },
  {
    name: "held-is-taken",
    bug: "the node settles a held payment although nobody requested it",
    file: core("receiving/InvoiceLookup"),
    in: "make",
    find: `if (invoice.status === "settling" && receiver.holding !== undefined)`,
    replace: `if (invoice.status !== "pending" && receiver.holding !== undefined)`,
    test: coreTest("Holds"),
    titles: "hold: an unsettled payment"
  },
  {
    name: "credited-as-requested",
    rows: [33, 37],
    bug: "the requested amount is credited instead of the received one",
    file: core("receiving/Credits"),
    in: "make",
    find: "amount: received,",
    replace: "amount: invoice.amount,",
    test: coreTest("Settlements"),
    titles: "C33:|C37:",
    isInStories: true
  },
  {
    name: "anybodys-invoice",
    rows: [40],
    bug: "a Lightning address reveals every invoice",
    file: core("receiving/PayRequests"),
    in: "make",
    find: "found.value.lightningAddressId === address.id",
    replace: `address.id !== ""`,
    test: "packages/http/test/Lud21.test.ts",
    titles: "C40:"
  },
  {
    name: "deposit-by-txid",
    rows: [43],
    bug: "a deposit is identified by its transaction instead of its output",
    file: core("receiving/Deposit"),
    in: "noun",
    find: `unique: [["chainTxId", "vout"]]`,
    replace: `unique: [["chainTxId"]]`,
    test: coreTest("ChainDeposits"),
    titles: "C43:",
    isInStories: true
  },
  {
    name: "reorganization-ignored",
    rows: [45],
    bug: "a credit remains after a reorganization removes its payment",
    file: core("receiving/Outputs"),
    in: "movesOf",
    find: `  if (placement._tag === "mempool" && deposit.status === "settled") return ["reverse"]
`,
    replace: "",
    test: coreTest("ChainDeposits"),
    titles: "C45: deposits: a deposit is reversed by a reorganization"
  },
  {
    name: "read-and-given-up",
    rows: [45, 60],
    bug: "a deposit that was read from a block is evicted because the chain source does not find it by id",
    file: core("receiving/Outputs"),
    in: "make",
    find: `if (placement._tag !== "gone" || told?._tag !== "mined") return placement`,
    replace: `if (placement._tag !== "gone" || told?._tag !== "gone") return placement`,
    test: coreTest("ChainDeposits"),
    titles: "deposits: a mined deposit is not evicted"
  },
  {
    name: "given-up-for-ever",
    rows: [45, 60],
    bug: "a wrongly evicted deposit is never looked for again",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "const givenUp = isNew ? yield* nextGivenUp : []",
    replace: "const givenUp = isNew ? (yield* nextGivenUp).slice(0, 0) : []",
    test: coreTest("ChainDeposits"),
    titles: "deposits: as blocks arrive, wrongly evicted deposits"
  },
  {
    name: "released-hold-of-a-reversed-deposit",
    rows: [45],
    bug: "a company keeps a hold that is released after its deposit was reversed",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "      const owed = yield* reclaim\n",
    replace: "      const owed = 0\n",
    test: coreTest("Reclaims"),
    titles: "C45: deposits: of two holds"
  },
  {
    name: "credited-when-mined",
    rows: [46],
    bug: "a deposit is credited in its first block, however large it is",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "if (Chain.confirmations(tip, height) < Confirmations.neededFor(options, atRisk)) continue",
    replace: "if (Chain.confirmations(tip, height) < 1) continue",
    test: coreTest("ChainDeposits"),
    titles: "C46:"
  },
  {
    name: "a-large-payment-in-pieces",
    rows: [46],
    bug: "several deposits are each credited as early as a single one would be",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "Msat.greatest(amount, ofCompany.get(companyId) ?? Msat.zero, inBlock.get(height) ?? Msat.zero)",
    replace: "Msat.greatest(amount, ofCompany.get(String(inBlock.size)) ?? Msat.zero)",
    test: coreTest("ChainDeposits"),
    titles: "C46: deposits: several deposits of a company in one block"
  },
  {
    name: "assigned-to-everybody",
    bug: "a payment in suspense becomes a deposit of every company that it is assigned to",
    file: core("receiving/SuspenseAssignment"),
    in: "noun",
    find: `unique: [["unmatchedId"]]`,
    replace: "unique: []",
    test: "packages/memory/test/memory.test.ts",
    titles: "suspense"
  },
  {
    name: "cursor-before-credit",
    rows: [60],
    bug: "the node's read cursor is stored before the payments read are credited",
    file: core("receiving/Credits"),
    in: "make",
    find: `    const change = {
      ...Invoice.settled(invoice, deposit, paid.preimage, reading),`,
    replace: `    if (reading !== undefined)
      yield* journal.commit(Cursor.moved(reading.cursor, Id.fromMillis(nowMillis, entropy), nowMillis, reading.fence))
    const change = {
      ...Invoice.settled(invoice, deposit, paid.preimage),`,
    test: crashTest,
    titles: "that the node had reported as closed$"
  },
  {
    name: "canceled-claimed",
    bug: "an invoice that its company canceled is settled internally",
    file: core("receiving/Invoice"),
    in: "life",
    find: `    from: ["pending"],
    expects: ["claimedBy"],`,
    replace: `    from: ["pending", "canceling", "canceled"],
    expects: ["claimedBy"],`,
    test: inMemory,
    titles: "a canceled invoice cannot be claimed"
  },
  {
    name: "canceled-never-credited",
    rows: [54],
    bug: "a payment in flight when its invoice was canceled is not credited",
    file: core("receiving/Invoice"),
    in: "life",
    find: `    from: ["pending", "claimed", "held", "settling", "expired", "canceling", "canceled"],
    to: "settled",`,
    replace: `    from: ["pending", "claimed", "held", "settling", "expired"],
    to: "settled",`,
    test: coreTest("Cancels"),
    titles: "C54: cancel: a payment that was on its way"
  },
  {
    name: "canceled-credited-twice",
    bug: "a canceled invoice that was paid anyway can be canceled again, and settles once more",
    file: core("receiving/Invoice"),
    in: "life",
    find: `    from: ["pending", "held"],
    to: "canceling",`,
    replace: `    from: ["pending", "held", "settled"],
    to: "canceling",`,
    test: inMemory,
    titles: "a canceled invoice can be closed; a later payment is credited"
  },
  {
    name: "canceled-without-the-node",
    bug: "an invoice is recorded as closed although the node holds a payment of it",
    file: core("receiving/NodeCancellation"),
    in: "make",
    find: `if (!(yield* isClosed(invoice))) return false`,
    replace: `yield* isClosed(invoice)`,
    test: coreTest("Cancels"),
    titles: "C54: cancel: a payment that was on its way"
  },
  {
    name: "held-without-limit",
    bug: "a company can have any number of hold invoices, which fill the HTLC slots of every channel",
    file: core("receiving/InvoiceIssuer"),
    in: "make",
    find: `>= holdInvoices.mostOpen)`,
    replace: `>= holdInvoices.mostOpen * 10)`,
    test: coreTest("Holds"),
    titles: "hold: the number of a company's open hold invoices"
  },
  {
    name: "failed-recheck-is-skipped",
    bug: "deposits whose recheck failed are not checked again, so a removed one stays credited",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "const rechecked = yield* recheck(activity)",
    replace: "const rechecked = yield* Effect.catch(recheck(activity), () => Effect.succeed(0))",
    test: coreTest("ChainDeposits"),
    titles: "C45: deposits: if a recheck fails"
  },
  {
    name: "deleted-within-grace",
    bug: "an expired invoice unknown to the node is deleted while a payment may still settle",
    file: core("receiving/Settlements"),
    in: "make",
    find: "nowMillis > invoice.expiresAtMillis + options.expiredGraceMillis",
    replace: "nowMillis > invoice.expiresAtMillis",
    test: coreTest("Unpaid"),
    titles: "invoice: an invoice that the node cannot close is kept"
  },
  {
    name: "deleted-after-one-lookup",
    bug: "an invoice that the node reports as unknown once is deleted, and its payment is lost",
    file: core("receiving/Settlements"),
    in: "make",
    find: `isOver && first._tag === "unknown" ? yield* look : first`,
    replace: "first",
    test: coreTest("Unpaid"),
    titles: "invoice: a node that cannot close invoices and reports a paid one"
  },
  {
    name: "listens-without-lease",
    rows: [60],
    bug: "a process that lost its lease keeps crediting for seconds",
    file: core("receiving/Settlements"),
    in: "make",
    find: `error._tag !== "StaleFence"`,
    replace: `error._tag !== "Conflict"`,
    test: coreTest("Settlements"),
    titles: "C60: invoice watcher: a process that lost its lease"
  },
  {
    name: "unproven-offer-invoice",
    bug: "a settlement without a valid preimage records an invoice of an offer",
    file: core("receiving/Credits"),
    in: "make",
    find: "|| !Preimage.proves(preimage, paymentHash)) return known",
    replace: ") return known",
    test: featureTest("offers/core/OwnOffers"),
    titles: "own offers: a settlement that the node reports without"
  },
  {
    name: "oldest-evicted-never-rechecked",
    bug: "evicted deposits beyond the newest 50 are never credited",
    file: core("receiving/ChainDeposits"),
    in: "make",
    find: "found.length < givenUpAtOnce ? null",
    replace: "found.length <= givenUpAtOnce ? null",
    test: coreTest("QuietChain"),
    titles: "deposits: each new block rechecks the next page"
  }
]
