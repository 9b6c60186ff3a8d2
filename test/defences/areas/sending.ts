import { type Canary, core, coreTest, crashTest, featureTest, inMemory } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "held-too-long",
    rows: [1],
    bug: "a payment held for a long time is refunded",
    file: core("sending/LightningPayments"),
    in: "conclusions",
    find: `      case "pending":
      case "unknown":
        return "later"`,
    replace: `      case "pending":
        return task.attempts > 5 ? yield* fail(withdrawal, "timeout", task) : "later"
      case "unknown":
        return "later"`,
    test: coreTest("PaymentWorker"),
    titles: "C1:",
    isInStories: true
  },
  {
    name: "sent-after-all-and-not-noted",
    bug: "a payment whose first call was not sent counts as unsent after a later call, and is sent again without the grace period",
    file: core("sending/LightningPayments"),
    in: "make",
    find: "    unsent.forget(task)\n",
    replace: "",
    test: coreTest("PaymentCalls"),
    titles: "C8: payment worker: a call that follows an unsent call"
  },
  {
    name: "hold-released-on-expiry",
    rows: [1],
    bug: "a payment in flight is refunded when its invoice expires",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `    const payment = yield* nodePayment.lookup
`,
    replace: `    const sent = yield* Effect.orDie(Effect.fromResult(Bolt11.decode(withdrawal.paymentRequest ?? "")))
    if (Bolt11.expiresAtSeconds(sent) * 1000 < (yield* now)) return yield* fail(withdrawal, "invoice_expired", task)
    const payment = yield* nodePayment.lookup
`,
    test: coreTest("PaymentWorker"),
    titles: "C1:"
  },
  {
    name: "no-answer-is-failure",
    rows: [2, 7],
    bug: "a call to the node without a response counts as a failed payment",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `if (payment._tag === "unknown") {`,
    replace: `if (payment._tag === "unknown") {
      if (task.attempts > 0) return yield* fail(withdrawal, "timeout", task)`,
    test: coreTest("PaymentWorker"),
    titles: "C2 C6 C7:",
    isInStories: true
  },
  {
    name: "broken-call-is-failure",
    rows: [2],
    bug: "a crashing call to the node counts as a failed payment",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `Effect.as(Effect.logError("withdrawal: the call to pay crashed; its outcome is unknown", cause), { _tag: "unknown" } as const)`,
    replace: `Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: coreTest("PaymentCalls"),
    titles: "C2: payment worker: a call whose response cannot be read"
  },
  {
    name: "work-is-the-callers",
    rows: [5],
    bug: "the job that sends a payment is not stored with the hold, and is lost with the caller",
    file: core("sending/Withdrawal"),
    in: "requested",
    find: `  jobs: withdrawal.approval === "waiting" ? [] : [Change.enqueue({ ...work, id: withdrawal.id })],
`,
    replace: "",
    test: "packages/service/test/http/errors.test.ts",
    titles: "C5:"
  },
  {
    name: "reversed-on-lookup-error",
    rows: [6],
    bug: "a failed lookup releases the hold",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `if (payment._tag === "unknown") return unknown`,
    replace: `if (payment._tag === "unknown") return yield* fail(withdrawal, "node_error", task)`,
    test: coreTest("PaymentWorker"),
    titles: "C6: payment worker: a payment that was sent",
    isInStories: true
  },
  {
    name: "slow-counts-as-dead",
    rows: [2, 10],
    bug: "a payment of a process presumed dead fails while that process may still send it",
    file: core("sending/LightningPayments"),
    in: "conclusions",
    find: `if (heldMillis(task, yield* Clock.currentTimeMillis) > 0) return "later"`,
    replace: "",
    test: coreTest("PaymentWorker"),
    titles: "does not end a payment that a slow process may still send"
  },
  {
    name: "unanswered-forgets-the-slow",
    rows: [2, 10],
    bug: "after a lookup without a response, a payment of a process presumed dead fails while that process may still send it",
    file: core("sending/WithdrawalSteps"),
    in: "givers",
    find: "if (held > 0 && !isLost",
    replace: "if (held > 0 && task.isCalled",
    test: coreTest("PaymentWorker"),
    titles: "a lookup without a response, followed by an earlier failure"
  },
  {
    name: "called-again-unanswered",
    rows: [2, 8],
    bug: "a call without a response is repeated while it may still reach the node",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `if (isHeld && task.isCalled) return "later"`,
    replace: "",
    test: coreTest("PaymentCalls"),
    titles: "C8: payment worker: a call that gets no response"
  },
  {
    name: "not-found-is-failure",
    rows: [8],
    bug: "a payment that the node has no record of is refunded although the call may still arrive",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `    const isHeld = heldMillis(task, yield* now) > 0
`,
    replace: `    if (dispatchedAtMillis > 0) return yield* fail(withdrawal, "node_error", task)
    const isHeld = heldMillis(task, yield* now) > 0
`,
    test: coreTest("PaymentCalls"),
    titles: "C8:"
  },
  {
    name: "released-while-in-a-channel",
    rows: [1],
    bug: "an operator can release a payment that one of the node's channels still holds",
    file: core("sending/LostResult"),
    in: "judge",
    find: `if (hashes.has(paymentHash)) return "in_channel"`,
    replace: "",
    test: coreTest("LostResults"),
    titles: "an open channel holds it"
  },
  {
    name: "restored-node-believed",
    rows: [4, 8],
    bug: "a node that lost its records is asked to make a payment in flight again",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `if (record !== "kept") return record === "lost" ? "lost" : unknown`,
    replace: "",
    test: coreTest("LostPayments"),
    titles: "C4 C8:"
  },
  {
    name: "paid-before-recorded",
    rows: [9, 22],
    bug: "the payment hash is stored after the node is called",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `        yield* journal.commit(Withdrawal.dispatched(withdrawal, nodePayment.attempt, fence(task), atMillis))
        return yield* pay(withdrawal, nodePayment, task)`,
    replace: `      const next = yield* pay(withdrawal, nodePayment, task)
      yield* journal.commit(Withdrawal.dispatched(withdrawal, nodePayment.attempt, fence(task), atMillis))
      return next`,
    test: coreTest("PaymentWorker"),
    titles: "C9 C22:"
  },
  {
    name: "forgotten-after-dispatch",
    rows: [10],
    bug: "a sent payment has no task, so nobody looks it up after a crash",
    file: core("sending/Withdrawal"),
    in: "dispatched",
    find: `  followers,
  event: { type: "withdrawal.dispatched", subject: withdrawal.id }`,
    replace: `  followers,
  jobs: [Change.complete(withdrawal.id)],
  event: { type: "withdrawal.dispatched", subject: withdrawal.id }`,
    test: crashTest,
    titles: ": payment that settles$",
    isInStories: true
  },
  {
    name: "outside-still-open",
    rows: [15],
    bug: "an invoice that was settled internally stays payable at the node",
    file: core("sending/Transfers"),
    in: "make",
    find: "const canceled = yield* close(invoice)",
    replace: `const canceled = { _tag: "canceled", preimage: Redacted.make("00".repeat(32)) }`,
    test: coreTest("Transfers"),
    titles: "C15:",
    isInStories: true
  },
  {
    name: "internal-without-claim",
    rows: [15, 16],
    bug: "an invoice is settled internally without a claim",
    file: core("sending/Transfers"),
    in: "make",
    find: `      yield* journal.commit({ ...Invoice.claimed(invoice, withdrawal.id, fence(task), atMillis), jobs: jobsOf(invoice, atMillis) })
`,
    replace: "",
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "booked-before-closed",
    rows: [16],
    bug: "an internal payment is posted before its invoice is closed at the node",
    file: core("sending/Transfers"),
    in: "make",
    find: `        const canceled = yield* close(invoice)
        // An external payment arrived first, and is credited to the invoice. Or the node does not know the invoice.
        if (canceled._tag !== "canceled") return yield* fail(withdrawal, "invoice_not_payable", task)
        yield* book(`,
    replace: `      const canceled = { preimage: Redacted.make("00".repeat(32)) }
      const closing = Effect.ignore(receiver.cancelInvoice(invoice.paymentHash))
      const early = (...all: Parameters<typeof book>) => Effect.tap(book(...all), () => closing)
      yield* early(`,
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "recipient-credited-alone",
    rows: [17],
    bug: "a transfer credits the payee in one Change and debits the payer in another",
    file: core("sending/Withdrawal"),
    in: "transferred",
    find: `        { from: "held", to: "internal", amount: withdrawal.amount },
`,
    replace: "",
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "broadcast-before-recorded",
    rows: [19],
    bug: "a payout is broadcast before its bytes are stored",
    file: core("sending/Payouts"),
    in: "make",
    find: `      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))
      return Effect.andThen(
        broadcast(leader.withdrawal, attempt),`,
    replace: `      yield* broadcast(leader.withdrawal, attempt)
      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))
      return Effect.andThen(
        Effect.void,`,
    test: coreTest("Payouts"),
    titles: "C19: payout: a payout's bytes"
  },
  {
    name: "settled-failed-later",
    rows: [20, 54],
    bug: "a settled withdrawal may fail afterward and is refunded",
    file: core("sending/Withdrawal"),
    in: "life",
    find: `    from: ["pending"],
    to: "failed",`,
    replace: `    from: ["pending", "settled"],
    to: "failed",`,
    test: inMemory,
    titles: "C20"
  },
  {
    name: "given-back-twice",
    rows: [21],
    bug: "a hold is released once per failure report",
    file: core("sending/Withdrawal"),
    in: "life",
    find: `    from: ["pending"],
    to: "failed",
    sets: ["failure"],
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["failed"] }`,
    replace: `    from: ["pending", "failed"],
    to: "failed",
    sets: ["failure"],
    clears: ["counted"],
    stamps: ["updatedAtMillis"],
    again: { in: ["settled"] }`,
    test: inMemory,
    titles: "C21:"
  },
  {
    name: "key-looked-up-late",
    rows: [23],
    bug: "the destination is validated before the idempotency key is looked up",
    file: core("sending/Withdrawals"),
    in: "make",
    find: `      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      yield* stops.check("sending")
`,
    replace: `      yield* stops.check("sending")
      yield* drafts.withdrawal({ ...ask, metadata, refundId: null })
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
`,
    test: coreTest("Withdrawals"),
    titles: "C23:"
  },
  {
    name: "fee-limit-not-passed",
    rows: [25],
    bug: "the node may spend any fee on the route",
    file: core("sending/NodePayments"),
    in: "make",
    find: "sender.pay({ invoice: invoice(), amount, feeLimit })",
    replace: "sender.pay({ invoice: invoice(), amount, feeLimit: amount })",
    test: coreTest("PaymentWorker"),
    titles: "C25:"
  },
  {
    name: "fee-limit-not-passed-for-offers",
    rows: [25],
    bug: "offers are paid without a fee limit",
    file: core("sending/NodePayments"),
    in: "make",
    find: "offers?.payOffer({ attempt, offer: offer(), amount, feeLimit })",
    replace: "offers?.payOffer({ attempt, offer: offer(), amount, feeLimit: amount })",
    test: featureTest("offers/core/Offers"),
    titles: "C25: offers"
  },
  {
    name: "offer-paid-again",
    rows: [11],
    bug: "each call to pay an offer is a separate attempt, so a retry pays again",
    file: core("sending/NodePayments"),
    in: "make",
    find: "offers?.payOffer({ attempt, offer",
    replace: "offers?.payOffer({ attempt: crypto.randomUUID(), offer",
    test: featureTest("offers/core/Offers"),
    titles: "C8: offers"
  },
  {
    name: "offer-unknown-is-failure",
    rows: [2],
    bug: "a payment fails when the node that received it can no longer be queried",
    file: core("sending/NodePayments"),
    in: "unknown",
    find: `const unknown = Effect.succeed({ _tag: "unknown" } as const)`,
    replace: `const unknown = Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: featureTest("offers/core/Offers"),
    titles: "C2: offers"
  },
  {
    name: "offer-unproven",
    rows: [54],
    bug: "an offer payment settles whatever its preimage is",
    file: core("sending/LightningPayments"),
    in: "conclusions",
    find: `const hash = nodePayment.paymentHash ?? reportedHash`,
    replace: `const hash = nodePayment.paymentHash ?? Preimage.hashOf(payment.preimage)`,
    test: featureTest("offers/core/Offers"),
    titles: "C54: offers"
  },
  {
    name: "offer-amount-unchecked",
    bug: "an offer is paid with less than its amount",
    file: core("sending/Recipient"),
    in: "checkBolt12",
    find: "least !== undefined && amount < least",
    replace: "least !== undefined && amount < 0n",
    test: coreTest("Recipient"),
    titles: "BOLT 12"
  },
  {
    name: "overspent-by-the-customer",
    rows: [25],
    bug: "the customer pays for what the node spent above its limit",
    file: core("sending/Withdrawal"),
    in: "settled",
    find: `{ from: "loss", to: asset, amount: over }`,
    replace: `{ from: "available", to: asset, amount: over }`,
    test: coreTest("PaymentWorker"),
    titles: "C25:"
  },
  {
    name: "fee-not-held",
    rows: [27],
    bug: "the hold covers the amount without the fees",
    file: core("sending/Withdrawal"),
    in: "held",
    find: "=> Msat.sum(withdrawal.amount, fee(withdrawal))",
    replace: "=> withdrawal.amount",
    test: coreTest("Withdrawals"),
    titles: "C12 C27:"
  },
  {
    name: "hash-alone",
    rows: [32],
    bug: "an invoice that reuses the hash of one of our invoices is treated as ours, whatever its amount",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: " && invoice.value.paymentRequest === paymentRequest",
    replace: "",
    test: coreTest("Withdrawals"),
    titles: "C32:"
  },
  {
    name: "whatever-the-server-asks",
    rows: [39],
    bug: "an invoice for a different amount than requested is paid if the payee's server sends one",
    file: core("sending/Recipient"),
    in: "checkFetched",
    find: `  if (bolt11.amount !== amount) return Result.fail("an invoice for another amount")
`,
    replace: "",
    test: coreTest("AddressPayments"),
    titles: "C39:"
  },
  {
    name: "rejected-is-failure",
    rows: [47],
    bug: "a payout that the network does not accept immediately is refunded",
    file: core("sending/Payouts"),
    in: "make",
    find: `      return Effect.andThen(
        broadcast(leader.withdrawal, attempt),`,
    replace: `      const answer = yield* chain.broadcast(attempt.rawTx)
      if (answer._tag !== "accepted")
        yield* journal.commit(Withdrawal.failed(leader.withdrawal, "node_error", fence(leader.task), yield* now))
      return Effect.andThen(
        Effect.void,`,
    test: coreTest("Payouts"),
    titles: "C47:"
  },
  {
    name: "fee-above-what-was-accepted",
    bug: "the charged fee may exceed the limit in the confirmation",
    file: core("sending/WithdrawalDrafts"),
    in: "make",
    find: "if (ask.maxFee !== undefined && Fee.total(fee) > ask.maxFee)",
    replace: "if (ask.maxFee !== undefined && Fee.total(fee) < 0n)",
    test: coreTest("CompanyFees"),
    titles: "fees: no more than the estimated fee"
  },
  {
    name: "paused-worker-pays",
    bug: "a payment worker contacts payees' servers although sending is paused or the company is frozen",
    file: core("sending/WithdrawalSteps"),
    in: "make",
    find: `if (answer === "later") {`,
    replace: `if (answer === "later" && Object.is(0, 1)) {`,
    test: coreTest("PaymentSlots"),
    titles: "pause: if a payee"
  },
  {
    name: "handed-over-and-forgotten",
    bug: "a payment whose caller disconnected waits until this process's claim expires",
    file: core("sending/Handover"),
    in: "make",
    find: "Effect.andThen(Effect.sleep(lookAfter), worker.work(claim))",
    replace: "Effect.void",
    test: coreTest("Handover"),
    titles: "payment worker: a confirmed payment is paid a second later"
  },
  {
    name: "handed-over-unclaimed",
    rows: [19],
    bug: "a payment that a process handles itself is also handed to its worker",
    file: core("sending/Handover"),
    in: "make",
    find: "dueAtMillis: confirmed.withdrawal.createdAtMillis + worker.leaseMillis, claimedBy: worker.holder",
    replace: "claimedBy: worker.holder",
    test: coreTest("Handover"),
    titles: "payment worker: payments for which no slot is free"
  },
  {
    name: "handed-over-and-gone",
    bug: "a stopping process does not wait for the payments handed to its worker",
    file: core("sending/Handover"),
    in: "make",
    find: "            return idle",
    replace: "            return Effect.void",
    test: coreTest("Handover"),
    titles: "payment worker: before a process stops"
  },
  {
    name: "handed-over-by-who-asked",
    bug: "the audit log attributes an internal payment to the person who confirmed it instead of the worker",
    file: core("sending/Handover"),
    in: "make",
    find: "Effect.sync(() => fork(Effect.ensuring(work, leave)))",
    replace: "Effect.forkDetach(Effect.ensuring(work, leave))",
    test: coreTest("Handover"),
    titles: "payment worker: the audit log"
  },
  {
    name: "known-though-claimed-before",
    rows: [19],
    bug: "a worker treats a payment that another process may have sent as unsent because this process confirmed it",
    file: core("sending/ConfirmedCache"),
    in: "make",
    find: "attempts === 1 ? row : undefined",
    replace: "attempts > 0 ? row : undefined",
    test: coreTest("ConfirmedCache"),
    titles: "payment worker: a payment is read again if another"
  },
  {
    name: "a-share-is-all",
    bug: "the only company with waiting payments gets a quarter of the slots, and its other payments wait for the next poll",
    file: core("sending/PaymentWorker"),
    in: "make",
    find: "found.length === free || [...counts.values()].some((count) => count >= perLane)",
    replace: "found.length === free",
    test: coreTest("PaymentSlots"),
    titles: "payment worker: a company gets all free slots"
  },
  {
    name: "place-counted-and-lost",
    bug: "a claim that fails midway never frees the slots that it counted for a payee's host, so the host is never called again",
    file: core("ledger/TurnQueue"),
    in: "make",
    find: "Effect.ignoreCause(tasks.postpone(task, task.atMillis))",
    replace: "tasks.postpone(task, task.atMillis)",
    test: coreTest("PaymentSlots"),
    titles: "payment worker: if the store fails while"
  },
  {
    name: "paused-behind-other-payments",
    bug: "a payment that gets its slot after a pause began is stored as started during the pause",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `if ((yield* maySend(withdrawal)) !== "now") return`,
    replace: `if ((yield* maySend(withdrawal)) === undefined) return`,
    test: coreTest("PaymentSlots"),
    titles: "pause: a payment that waits"
  },
  {
    name: "frozen-while-a-payee-responds",
    bug: "a payment starts although its company was frozen while the payee's server responded",
    file: core("sending/Payees"),
    in: "make",
    find: `(yield* maySend(withdrawal)) !== "now" ? { millis: waitMillis } : `,
    replace: "",
    test: coreTest("AddressPayments"),
    titles: "freeze:"
  },
  {
    name: "never-sent-and-never-ended",
    rows: [45],
    bug: "a refund that the node did not get waits forever once its deposit was double-spent",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `(yield* maySend(withdrawal)) === "never" && nodePayment.isRefused(yield* now)`,
    replace: "false",
    test: featureTest("refunds/core/Refunds"),
    titles: "C8 C45: refund:"
  },
  {
    name: "failed-while-a-call-may-arrive",
    rows: [8],
    bug: "a sent payment that may no longer be sent fails although a late call could still make the node pay it",
    file: core("sending/LightningPayments"),
    in: "make",
    find: ` && nodePayment.isRefused(yield* now)`,
    replace: "",
    test: coreTest("PaymentCalls"),
    titles: "C8: payment worker: a sent payment that may no longer"
  },
  {
    name: "claim-of-another-released",
    rows: [15],
    bug: "a withdrawal that may not pay an invoice releases the claim of the one that is paying it",
    file: core("receiving/Invoice"),
    in: "released",
    find: "{ ...invoice, claimedBy: withdrawalId }",
    replace: "invoice",
    test: coreTest("Transfers"),
    titles: "a withdrawal that may not pay an invoice"
  },
  {
    name: "claim-outlasts-its-withdrawal",
    bug: "a withdrawal that fails keeps its claim on the payee's invoice",
    file: core("sending/WithdrawalOutcomes"),
    in: "make",
    find: "        yield* release(withdrawal, task)\n",
    replace: "",
    test: coreTest("Transfers"),
    titles: "payment worker: a withdrawal that is stopped after"
  },
  {
    name: "frozen-while-the-node-is-away",
    bug: "a payment that did not reach the node is sent although its company has been frozen since",
    file: core("sending/LightningPayments"),
    in: "make",
    find: `    if ((yield* maySend(withdrawal)) !== "now") {
      unsent.note(task)`,
    replace: `    if (false) {
      unsent.note(task)`,
    test: coreTest("PaymentCalls"),
    titles: "freeze:"
  },
  {
    name: "frozen-while-a-payout-is-signed",
    bug: "a payout is sent although its company was frozen while the wallet selected coins or the signer signed",
    file: core("sending/Payouts"),
    in: "make",
    find: `"now")) return yield* again()`,
    replace: `"now")) yield* Effect.void`,
    test: coreTest("Payouts"),
    titles: "freeze:"
  },
  {
    name: "unsigned-record-is-paid",
    bug: "an unsigned DNS record is paid",
    file: core("sending/Instructions"),
    in: "uriOf",
    find: "if (!isSigned) return",
    replace: "if (!isSigned && texts.length > 9) return",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "first-of-two-records",
    bug: "if a name has two records, the first is paid",
    file: core("sending/Instructions"),
    in: "uriOf",
    find: "if (others.length > 0) return",
    replace: "if (others.length > 9) return",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "down-to-the-server",
    bug: "an invalid record of a name falls back to the domain's server",
    file: core("sending/Instructions"),
    in: "make",
    find: "const uri = found && (yield* refused(Effect.fromResult(uriOf(found))))",
    replace:
      "const uri = found && (yield* Effect.orElseSucceed(Effect.fromResult(uriOf(found)), () => undefined))",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "no-answer-is-no-record",
    bug: "while no resolver responds, a name falls back to the domain's server",
    file: core("sending/Instructions"),
    in: "make",
    find: "yield* certain(validated(name))",
    replace: "yield* Effect.orElseSucceed(validated(name), () => undefined)",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "confirmed-by-the-dns-sent-by-the-server",
    bug: "a payment to a DNS record goes to the domain's server if the record has vanished by the time of sending",
    file: core("sending/Recipient"),
    in: "understood",
    find: `instructed !== undefined && destination._tag === "LightningAddress" ? { ...destination, isInDns: true } : destination`,
    replace: `instructed !== undefined ? destination : destination`,
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "another-rail-than-confirmed",
    bug: "a withdrawal that was confirmed as on-chain is paid over Lightning and posted as on-chain",
    file: core("sending/Instructions"),
    in: "make",
    find: "rail === undefined || rail === railOf(method)",
    replace: "rail !== undefined || method !== undefined",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "invoice-of-a-record-for-another-amount",
    rows: [39],
    bug: "the invoice in a name's DNS record is paid although its amount is different",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: "if (priced !== undefined && priced !== amount)",
    replace: "if (priced !== undefined && priced > amount + 10_000_000n)",
    test: coreTest("Bip353"),
    titles: "C39: BIP 353:"
  },
  {
    name: "paid-again-by-another-method",
    bug: "if the invoice in a URI was paid, its address or its offer is paid too",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: "if (methods.length < 2) return",
    replace: "if (methods.length < 200) return",
    test: coreTest("UnifiedUris"),
    titles: "bitcoin URI: an invoice that this company paid"
  },
  {
    name: "failed-counts-as-paid",
    bug: "a URI cannot be paid at all after the payment of its invoice failed",
    file: core("sending/PaymentChecks"),
    in: "make",
    find: `(status) => status !== "failed"`,
    replace: "() => true",
    test: coreTest("UnifiedUris"),
    titles: "bitcoin URI: if the payment of its invoice failed"
  },
  {
    name: "one-of-two-pasted",
    bug: "if a text contains two payments, one of them is made",
    file: core("sending/Pasted"),
    in: "isSeveral",
    find: "others.some((word) => beginning.test(word)) || ",
    replace: "",
    test: coreTest("Destination"),
    titles: "destination: refused: More than one payment"
  },
  {
    name: "released-before-final",
    rows: [1],
    bug: "a payout is released while a short reorganization can still bring it back",
    file: core("sending/LostPayout"),
    in: "unfit",
    find: "depth < finalConfirmations",
    replace: "depth < 6",
    test: coreTest("LostPayouts"),
    titles: "lost payout: is released after 100 confirmations"
  },
  {
    name: "released-for-one-of-two-transactions",
    rows: [1],
    bug: "a payout is released although one of its transactions can still confirm",
    file: core("sending/LostPayout"),
    in: "unpaid",
    find: "for (const { txId, rawTx, placement } of candidates) {",
    replace: "for (const { txId, rawTx, placement } of candidates.slice(-1)) {",
    test: coreTest("LostPayouts"),
    titles: "lost payout: a transaction that spends a coin of only one"
  },
  {
    name: "released-although-paid",
    rows: [1],
    bug: "a payout is released although the other wallet's transaction pays its payee",
    file: core("sending/LostPayout"),
    in: "unfit",
    find: "return payees.some((script) => scripts.has(script))",
    replace: "return payees.every((script) => scripts.has(script)) && payees.length > 1",
    test: coreTest("LostPayouts"),
    titles: "lost payout: a transaction that pays the payee"
  },
  {
    name: "leader-released-first",
    rows: [10],
    bug: "if the process dies during the release of a batch, its other payouts stay pending for good",
    file: core("sending/LostPayout"),
    in: "unpaid",
    find: "[...followers, leader]",
    replace: "[leader, ...followers]",
    test: coreTest("LostPayouts"),
    titles: "C10: lost payout: if the process dies"
  },
  {
    name: "change-below-dust",
    bug: "a payout creates change that no node relays, so the payout is never sent",
    file: core("sending/Payout"),
    in: "select",
    find: "changeSats >= changeDust",
    replace: "changeSats > 0n",
    test: coreTest("PayoutSelection"),
    titles: "payout: change is created only from the dust limit on"
  },
  {
    name: "resent-without-a-slot",
    bug: "payments that are sent again exceed the node's number of concurrent payments",
    file: core("sending/LightningPayments"),
    in: "make",
    find: "return yield* places.withPermit(pay(withdrawal, nodePayment, task))",
    replace: "return yield* pay(withdrawal, nodePayment, task)",
    test: coreTest("PaymentSlots"),
    titles: "payment worker: payments that are sent again"
  },
  {
    name: "claim-not-renewed",
    bug: "a withdrawal whose payee responds slowly is found, but not paid",
    file: core("sending/Payees"),
    in: "make",
    find: "task.atMillis + task.leaseMillis / 4",
    replace: "task.atMillis + task.leaseMillis",
    test: coreTest("PaymentSlots"),
    titles: "payment worker: a payee that responds in the second half"
  },
  {
    name: "unreachable-too-early",
    bug: "a withdrawal fails at five minutes instead of after them",
    file: core("sending/Payees"),
    in: "make",
    find: "<= resolveForMillis",
    replace: "< resolveForMillis",
    test: coreTest("AddressPayments"),
    titles: "payment worker: a withdrawal whose payee's server stays down"
  }
]
