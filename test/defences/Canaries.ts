import { type Canary, core, memory, postgres, ldk, coreTest, inMemory, inSql, crashTest, lndTest, outboundTest } from "./Canary.ts"
import { features } from "./features/index.ts"

export type { Canary } from "./Canary.ts"

/** Where those are told. */
export const stories = "test/defences/stories.ts"

/** How often the right text stands in a source: once, or the canary does not fit it any more. */
export const fits = ({ find }: Canary, source: string): number => source.split(find).length - 1

/** The source with the bug in it. Throws where it does not fit. */
export const patched = (canary: Canary, source: string): string => {
  if (fits(canary, source) !== 1) throw new Error(`${canary.name} does not fit ${canary.file}`)
  return source.replace(canary.find, () => canary.replace)
}

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "held-too-long",
    rows: [1],
    bug: "a payment that is held for long is given back",
    file: core("sending/LightningPayments"),
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
    rows: [],
    bug: "a payment whose first call was not sent counts as unsent after a later call, and is called again without the grace",
    file: core("sending/LightningPayments"),
    find: "    unsent.forget(task)\n",
    replace: "",
    test: coreTest("PaymentCalls"),
    titles: "C8: payment worker: a call that was made after one that was not sent"
  },
  {
    name: "lnd-without-a-record-yet",
    rows: [],
    bug: "a call to lnd that may still arrive counts as not sent, since lnd has no record of it yet",
    file: "packages/nodes/src/LndSender.ts",
    find: `return known._tag === "notFound" ? ({ _tag: "unknown" } as const) : known`,
    replace: `return known._tag === "notFound" ? notSent : known`,
    test: lndTest,
    titles: "C3: lnd: a call to pay without a response after 2 s"
  },
  {
    name: "old-primary-not-cut-off",
    rows: [],
    bug: "queries to a silent machine wait for their timeout after another host was promoted",
    file: postgres("client/Primary"),
    find: "    for (const [client, { cut }] of open) if (isElsewhere(client)) cut()\n",
    replace: "",
    test: "packages/postgres/test/primary.test.ts",
    titles: "hosts: where a machine falls silent"
  },
  {
    name: "key-read-in-the-future",
    rows: [],
    bug: "a clock that was put back prolongs the use of a key that was read before",
    file: core("accounts/KeyChecks"),
    find: " && nowMillis >= before.readAtMillis",
    replace: "",
    test: coreTest("ApiKeys"),
    titles: "C52: API key: a clock that is put back"
  },
  {
    name: "page-of-bookings-ends-early",
    rows: [],
    bug: "a list of bookings ends at 20,000 entries that lie outside the period",
    file: postgres("reads/Bookings"),
    find: "row_number() over (order by e.id) = ${looks} as",
    replace: "row_number() over (order by e.id) = ${looks + 1} as",
    test: "packages/postgres/test/books.test.ts",
    titles: "pglite.* bookings: an entry behind 20,000"
  },
  {
    name: "first-millisecond-of-a-period",
    rows: [],
    bug: "an entry of the first millisecond of a period is missing",
    file: postgres("reads/Bookings"),
    find: "at_millis >= $4::bigint and",
    replace: "at_millis > $4::bigint and",
    test: inSql,
    titles: "a period has what was booked from its first moment on"
  },
  {
    name: "newest-task-first",
    rows: [],
    bug: "the newest task is claimed first",
    file: postgres("Tasks"),
    find: `where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis, id limit`,
    replace: `where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis desc, id limit`,
    test: inSql,
    titles: "Tasks: the longest due come first"
  },
  {
    name: "event-of-another-company",
    rows: [],
    bug: "one event is returned to any company",
    file: core("events/Feed"),
    find: "companyId === null || event.companyId === companyId",
    replace: "event.companyId !== undefined",
    test: coreTest("Events"),
    titles: "events: one event is returned to the company"
  },
  {
    name: "room-back-too-late",
    rows: [],
    bug: "a payment that fails after its window has passed gives its room to a later one",
    file: postgres("statements/Counts"),
    find: " and s.bucket = e.bucket\n",
    replace: "\n",
    test: inSql,
    titles: "limits: a withdrawal that fails after its window"
  },
  {
    name: "laxer-limit-of-two",
    rows: [],
    bug: "of two limits in one flush the higher one applies",
    file: postgres("statements/Counts"),
    find: "known.most < limit ? known.most : limit",
    replace: "known.most > limit ? known.most : limit",
    test: "packages/postgres/test/counts.test.ts",
    titles: "limits: of two limits and times"
  },
  {
    name: "later-time-of-two",
    rows: [],
    bug: "of two times in one flush the later one applies",
    file: postgres("statements/Counts"),
    find: "Math.min(known.since, since)",
    replace: "Math.max(known.since, since)",
    test: "packages/postgres/test/counts.test.ts",
    titles: "limits: of two limits and times"
  },
  {
    name: "old-primary-again",
    rows: [],
    bug: "a process goes back to a primary from before the failover",
    file: postgres("client/Primary"),
    find: "return standing.timeline === 0 || standing.timeline >= seen",
    replace: "return true",
    test: "packages/postgres/test/primary.test.ts",
    titles: "hosts: (the one that takes writes is chosen|an old primary)"
  },
  {
    name: "commit-without-its-standby",
    rows: [],
    bug: "a commit whose wait for the standby was ended is acknowledged",
    file: postgres("client/PgConnection"),
    find: "const problem = unwaited.delete(client) ? unknown() : error",
    replace: "const problem = error",
    test: "packages/postgres/test/server.test.ts",
    titles: "PgClient: a commit that was not waited for",
    needsServer: true
  },
  {
    name: "list-from-anywhere",
    rows: [],
    bug: "a standby is asked that has not replayed what the primary had",
    file: postgres("Standby"),
    find: "mark.of === of && mark.place <= place",
    replace: "mark.of === of",
    test: "packages/postgres/test/standby.test.ts",
    titles: "standby: what it has replayed"
  },
  {
    name: "limit-of-the-snapshot",
    rows: [12],
    bug: "what was counted against a limit is read as of when the statement began, and not as of its lock",
    file: postgres("migrations/LedgerTables"),
    find: "language plpgsql volatile as",
    replace: "language plpgsql stable as",
    test: "packages/postgres/test/twoStores.test.ts",
    titles: "C12: limits:",
    needsServer: true
  },
  {
    name: "limit-never-counted",
    rows: [12],
    bug: "a commit is held to its limits, and not counted against them",
    file: postgres("statements/Counts"),
    find: "times = case when excluded.bucket > s.bucket then 0 else s.times end + excluded.times",
    replace: "times = s.times where false",
    test: inSql,
    titles: "limits:"
  },
  {
    name: "hold-released-on-expiry",
    rows: [1],
    bug: "a payment is given back when its invoice expires, though it is on its way",
    file: core("sending/LightningPayments"),
    find: `    const payment = yield* way.lookup
`,
    replace: `    const sent = yield* Effect.orDie(Effect.fromResult(Bolt11.decode(withdrawal.paymentRequest ?? "")))
    if (Bolt11.expiresAtSeconds(sent) * 1000 < (yield* now)) return yield* fail(withdrawal, "invoice_expired", task)
    const payment = yield* way.lookup
`,
    test: coreTest("PaymentWorker"),
    titles: "C1:"
  },
  {
    name: "no-answer-is-failure",
    rows: [2, 7],
    bug: "a call to the node without an answer is a failed payment",
    file: core("sending/LightningPayments"),
    find: `if (payment._tag === "unknown") return { millis: Math.max(laterMillis(task, options), way.graceMillis) }`,
    replace: `if (payment._tag === "unknown") return yield* fail(withdrawal, "timeout", task)`,
    test: coreTest("PaymentWorker"),
    titles: "C2 C6 C7:",
    isInStories: true
  },
  {
    name: "broken-call-is-failure",
    rows: [2],
    bug: "a call to the node that breaks is a failed payment",
    file: core("sending/LightningPayments"),
    find: `Effect.as(Effect.logError("withdrawal: the call to pay crashed; its outcome is unknown", cause), { _tag: "unknown" } as const)`,
    replace: `Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: coreTest("PaymentCalls"),
    titles: "C2: payment worker: a call that breaks"
  },
  {
    name: "lost-answer-is-failure-lnd",
    rows: [2],
    bug: "lnd: whatever is not understood, or not answered, is a failed payment",
    file: "packages/nodes/src/LndSender.ts",
    find: `Effect.as(Effect.logDebug("node: payment status unavailable", outage), { _tag: "unknown" } as const)`,
    replace: `Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: lndTest,
    titles: "C2:"
  },
  {
    name: "every-error-is-failure-lnd",
    rows: [3],
    bug: "lnd: every error of the call to pay is a failed payment",
    file: "packages/nodes/src/LndSender.ts",
    find: `return isRefusal(refusal) ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }`,
    replace: `return { _tag: "failed", reason: "error" }`,
    test: lndTest,
    titles: "C3:"
  },
  {
    name: "another-node-is-asked",
    rows: [4],
    bug: "lnd: another node at the old address is asked to pay what the first may be paying",
    file: "packages/nodes/src/LndRest.ts",
    find: "if (found === expected)",
    replace: `if (expected !== "")`,
    test: lndTest,
    titles: "C4"
  },
  {
    name: "work-is-the-callers",
    rows: [5],
    bug: "the work of sending is not stored with the hold: it is done as long as the caller stays",
    file: core("sending/Withdrawal"),
    find: `  jobs: withdrawal.approval === "waiting" ? [] : [Change.enqueue({ ...work, id: withdrawal.id })],
`,
    replace: "",
    test: "packages/http/test/errors.test.ts",
    titles: "C5:"
  },
  {
    name: "worker-is-cut-short",
    rows: [5],
    bug: "a worker that is stopped leaves its step in the middle",
    file: core("base/Worker"),
    find: "forever(name, Effect.uninterruptible(step), pause)",
    replace: "forever(name, step, pause)",
    test: coreTest("Worker"),
    titles: "C5:"
  },
  {
    name: "reversed-on-lookup-error",
    rows: [6],
    bug: "a look-up that fails gives the money back",
    file: core("sending/LightningPayments"),
    find: `if (payment._tag !== "notFound") return`,
    replace: `if (payment._tag === "unknown") return yield* fail(withdrawal, "node_error", task)
    if (payment._tag !== "notFound") return`,
    test: coreTest("PaymentWorker"),
    titles: "C6: payment worker: a payment that was made",
    isInStories: true
  },
  {
    name: "slow-counts-as-dead",
    rows: [2, 10],
    bug: "a payment of a process that counts as dead is sent again while that process may still send it",
    file: core("sending/LightningPayments"),
    find: "Math.max(graceEndMillis, task.heldUntilMillis ?? 0)",
    replace: "graceEndMillis",
    test: coreTest("PaymentWorker"),
    titles: "nobody sends what a slow process may still send"
  },
  {
    name: "not-found-is-failure",
    rows: [8],
    bug: "a payment that the node does not know is given back, though the call may still arrive",
    file: core("sending/LightningPayments"),
    find: `    const graceEndMillis = isUnsent ? 0 : dispatchedAtMillis + way.graceMillis
`,
    replace: `    if (dispatchedAtMillis > 0) return yield* fail(withdrawal, "node_error", task)
    const graceEndMillis = isUnsent ? 0 : dispatchedAtMillis + way.graceMillis
`,
    test: coreTest("PaymentCalls"),
    titles: "C8:"
  },
  {
    name: "paid-before-recorded",
    rows: [9, 22],
    bug: "the payment hash is stored after the node was told",
    file: core("sending/LightningPayments"),
    find: `        yield* journal.commit(Withdrawal.dispatched(withdrawal, way.attempt, fence(task), atMillis))
        return yield* pay(withdrawal, way, task)`,
    replace: `      const next = yield* pay(withdrawal, way, task)
      yield* journal.commit(Withdrawal.dispatched(withdrawal, way.attempt, fence(task), atMillis))
      return next`,
    test: coreTest("PaymentWorker"),
    titles: "C9 C22:"
  },
  {
    name: "forgotten-after-dispatch",
    rows: [10],
    bug: "what was sent is nobody's task any more, so that nobody asks about it after a crash",
    file: core("sending/Withdrawal"),
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
    name: "one-hash-twice",
    rows: [11, 14],
    bug: "two withdrawals may pay one payment hash",
    file: memory("Withdrawal"),
    find: "Option.exists(State.named(state, Withdrawal.noun, { paymentHash }), ({ id }) => id !== byOtherThan)",
    replace: `byOtherThan === ""`,
    test: inMemory,
    titles: "C14:"
  },
  {
    name: "one-hash-twice-sql",
    rows: [11, 14],
    bug: "two withdrawals may pay one payment hash",
    file: postgres("journal/Dispatch"),
    find: "and n not in (select n from used) and n not in (select n from coins where taken)",
    replace: "and n not in (select n from coins where taken)",
    test: inSql,
    titles: "grouped.*C14:"
  },
  {
    name: "balance-not-checked",
    rows: [12],
    bug: "a hold is not held against the balance",
    file: memory("Verdict"),
    find: "if (needed > 0n && needed > Balance.available(balance)) return",
    replace: "if (needed < 0n) return",
    test: inMemory,
    titles: "C12:",
    isInStories: true
  },
  {
    name: "balance-not-checked-sql",
    rows: [12],
    bug: "a hold is not held against the balance",
    file: postgres("statements/Statements"),
    find: "where need <= left_before",
    replace: "where need is not null",
    test: inSql,
    titles: "grouped.*C12:"
  },
  {
    name: "balance-checked-outside",
    rows: [12],
    bug: "the balance is checked first, and held against afterwards",
    file: memory("Memory"),
    find: "Changes.journal((change) => Effect.flatten(Ref.modify(state, (now) => apply(now, change))))",
    replace: `Changes.journal((change) =>
        Effect.gen(function* () {
          const [verdict, next] = apply(yield* Ref.get(state), change)
          yield* Effect.yieldNow
          yield* Ref.set(state, next)
          return yield* verdict
        })
      )`,
    test: inMemory,
    titles: "C12:"
  },
  {
    name: "no-row-lock",
    rows: [12, 13],
    bug: "nothing but the process itself orders what happens to one balance",
    file: postgres("statements/Statements"),
    find: "any(array(select company_id from ${of})) order by company_id for no key update",
    replace: "any(array(select company_id from ${of})) order by company_id",
    test: "packages/postgres/test/postgres.test.ts",
    titles: "C13:",
    needsServer: true
  },
  {
    name: "second-payer-unseen",
    rows: [15],
    bug: "a payment from outside of what was paid from inside is taken for the same payment",
    file: core("receiving/Invoice"),
    find: `same: ["received", "preimage", "claimedBy"]`,
    replace: `same: ["received", "preimage"]`,
    test: inMemory,
    titles: "C15:"
  },
  {
    name: "second-payer-unseen-sql",
    rows: [15],
    bug: "the same in SQL",
    file: postgres("statements/Writes"),
    find: `if (clears.includes(member)) return "null"`,
    replace: "if (clears.includes(member)) return `${of}.${Table.columnOf(member)}`",
    test: inSql,
    titles: "C15:"
  },
  {
    name: "sent-however-late",
    rows: [1],
    bug: "a process that slept asks the node for a payment that others have given back",
    file: "packages/nodes/src/Https.ts",
    find: "if (clock.currentTimeMillisUnsafe() <= notAfter) {",
    replace: "if (notAfter > 0) {",
    test: lndTest,
    titles: "a process that slept longer than a call"
  },
  {
    name: "gone-and-waited-for",
    rows: [45],
    bug: "a deposit that was written down late waits for a payment that is gone",
    file: core("receiving/ChainDeposits"),
    find: `        yield* outputs.settle({ txId: chainTxId, vout })
        continue`,
    replace: "        continue",
    test: coreTest("ChainDeposits"),
    titles: "C45:"
  },
  {
    name: "outside-still-open",
    rows: [15],
    bug: "an invoice that is paid from inside stays payable at the node",
    file: core("sending/Transfers"),
    find: "const canceled = yield* receiver.cancelInvoice(invoice.paymentHash)",
    replace: `const canceled = { _tag: "canceled", preimage: Redacted.make("00".repeat(32)) }`,
    test: coreTest("Transfers"),
    titles: "C15:",
    isInStories: true
  },
  {
    name: "internal-without-claim",
    rows: [15, 16],
    bug: "an invoice is paid from inside without having been claimed",
    file: core("sending/Transfers"),
    find: `      yield* journal.commit({ ...Invoice.claimed(invoice, withdrawal.id, fence(task), atMillis), jobs: jobsOf(invoice, atMillis) })
`,
    replace: "",
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "booked-before-closed",
    rows: [16],
    bug: "a payment from inside is booked before the invoice is closed at the node",
    file: core("sending/Transfers"),
    find: `        const canceled = yield* receiver.cancelInvoice(invoice.paymentHash)
        // An outside payment was first: it is what the invoice gets.
        if (canceled._tag !== "canceled") return yield* fail(withdrawal, "invoice_not_payable", task)
        yield* journal.commit(`,
    replace: `      const canceled = { preimage: Redacted.make("00".repeat(32)) }
      const closing = Effect.ignore(receiver.cancelInvoice(invoice.paymentHash))
      const book = (change: Withdrawal.InternalTransferred) => Effect.tap(journal.commit(change), () => closing)
      yield* book(`,
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "transferred-unclaimed",
    rows: [17],
    bug: "a transfer pays an invoice that its withdrawal has not claimed",
    file: memory("Withdrawal"),
    find: `invoice.status !== "claimed" || invoice.claimedBy !== change.id || hashTaken(`,
    replace: "hashTaken(",
    test: inMemory,
    titles: "C17:"
  },
  {
    name: "transferred-unclaimed-sql",
    rows: [17],
    bug: "a transfer pays an invoice that its withdrawal has not claimed",
    file: postgres("journal/Settlement"),
    find: "n in (select b.n from billed b join asked a using (n) where b.status = 'claimed' and b.claimed_by = a.id)",
    replace: "n in (select b.n from billed b)",
    test: inSql,
    titles: "grouped.*C17:"
  },
  {
    name: "recipient-credited-alone",
    rows: [17],
    bug: "a transfer credits the recipient, and the payer's side is not of the same Change",
    file: core("sending/Withdrawal"),
    find: `        { from: "held", to: "internal", amount: withdrawal.amount },
`,
    replace: "",
    test: coreTest("Transfers"),
    titles: "C16 C17:"
  },
  {
    name: "broadcast-before-recorded",
    rows: [19],
    bug: "a payout is shown to the network before its bytes are stored",
    file: core("sending/Payouts"),
    find: `      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))
      yield* broadcast(leader.withdrawal, attempt.rawTx)`,
    replace: `      yield* broadcast(leader.withdrawal, attempt.rawTx)
      yield* journal.commit(Withdrawal.dispatched(leader.withdrawal, attempt, fence(leader.task), yield* now, followers))`,
    test: coreTest("Payouts"),
    titles: "C19: payout: its bytes"
  },
  {
    name: "coin-spent-twice",
    rows: [19],
    bug: "two payouts may spend one coin",
    file: memory("Withdrawal"),
    find: "if (coins.some((coin) => Option.exists(HashMap.get(state.withdrawalByCoin, coin), (id) => id !== row.id)))",
    replace: `if (coins.includes(""))`,
    test: inMemory,
    titles: "C19:",
    isInStories: true
  },
  {
    name: "stale-fence-accepted",
    rows: [10, 19],
    bug: "a worker that lost its task goes on as if it had it",
    file: memory("Verdict"),
    find: "if (Option.getOrUndefined(HashMap.get(state.tasks, taskId))?.token !== token) return",
    replace: "if (token < 0) return",
    test: inMemory,
    titles: "C19:"
  },
  {
    name: "stale-fence-accepted-sql",
    rows: [10, 19],
    bug: "a worker that lost its task goes on as if it had it",
    file: postgres("statements/Statements"),
    find: "where (n, task_id) not in (select n, task_id from fenced where current)",
    replace: "where (n, task_id) not in (select n, task_id from fenced)",
    test: inSql,
    titles: "grouped.*C19:"
  },
  {
    name: "settled-failed-later",
    rows: [20, 54],
    bug: "a withdrawal that settled may fail afterwards, and is given back",
    file: core("sending/Withdrawal"),
    find: `    from: ["pending"],
    to: "failed",`,
    replace: `    from: ["pending", "settled"],
    to: "failed",`,
    test: inMemory,
    titles: "C20"
  },
  {
    name: "settled-expires-sql",
    rows: [20, 54],
    bug: "an invoice that settled may expire afterwards",
    file: core("receiving/Invoice"),
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
    bug: "a hold invoice that its company has canceled is settled by it afterwards",
    file: core("receiving/Invoice"),
    find: `    from: ["held"],
    to: "settling",`,
    replace: `    from: ["held", "canceling", "canceled"],
    to: "settling",`,
    test: inMemory,
    titles: "C54: Journal: what was held and is canceled"
  },
  {
    name: "held-is-credited",
    rows: [],
    bug: "what a hold invoice holds is booked as its company's before it is settled",
    file: core("receiving/Invoice"),
    find: `  legs: [],
  writes: [Noun.step(life.held, invoice, payment)],`,
    replace: `  transferId: invoice.id,
  legs: [{ companyId: invoice.companyId, postings: [{ from: "node", to: "available", amount: payment.held }] }],
  writes: [Noun.step(life.held, invoice, payment)],`,
    test: inMemory,
    titles: "what is held for an invoice"
  },
  {
    name: "held-is-taken",
    rows: [],
    bug: "what a hold invoice holds is taken at the node though nobody has settled it",
    file: core("receiving/Looking"),
    find: `if (invoice.status === "settling" && receiver.holding !== undefined)`,
    replace: `if (invoice.status !== "pending" && receiver.holding !== undefined)`,
    test: coreTest("Holds"),
    titles: "hold: what nobody settles"
  },
  {
    name: "preimage-before-settlement",
    rows: [],
    bug: "an invoice shows its preimage before it is settled",
    file: "packages/http/src/resources/Invoices.ts",
    find: `(row) => (row.status === "settled" ? (row.preimage ?? "") : "")`,
    replace: `(row) => row.preimage ?? ""`,
    test: "packages/http/test/wire.test.ts",
    titles: "wire: an invoice is settled only"
  },
  {
    name: "given-back-twice",
    rows: [21],
    bug: "a hold is given back as often as it is told that the withdrawal failed",
    file: core("sending/Withdrawal"),
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
    bug: "an idempotency key is looked up after the destination was judged",
    file: core("sending/Withdrawals"),
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
    name: "told-before-committed",
    rows: [24],
    bug: "an event is published though its Change is refused",
    file: memory("Verdict"),
    find: `return "_tag" in next ? [Exit.fail(next), state]`,
    replace: `return "_tag" in next ? [Exit.fail(next), record(state, change)]`,
    test: inMemory,
    titles: "C24:"
  },
  {
    name: "fee-limit-not-passed",
    rows: [25],
    bug: "the node may spend what it likes on the route",
    file: core("sending/Ways"),
    find: "sender.pay({ invoice: invoice(), amount, feeLimit })",
    replace: "sender.pay({ invoice: invoice(), amount, feeLimit: amount })",
    test: coreTest("PaymentWorker"),
    titles: "C25:"
  },
  {
    name: "fee-limit-not-passed-for-offers",
    rows: [25],
    bug: "offers are paid without a fee limit",
    file: core("sending/Ways"),
    find: "offers?.payOffer({ attempt, offer: offer(), amount, feeLimit })",
    replace: "offers?.payOffer({ attempt, offer: offer(), amount, feeLimit: amount })",
    test: coreTest("Offers"),
    titles: "C25: offers"
  },
  {
    name: "offer-paid-again",
    rows: [11],
    bug: "each call to pay an offer is an attempt of its own: who asks again pays again",
    file: core("sending/Ways"),
    find: "offers?.payOffer({ attempt, offer",
    replace: "offers?.payOffer({ attempt: crypto.randomUUID(), offer",
    test: coreTest("Offers"),
    titles: "C8: offers"
  },
  {
    name: "offer-unknown-is-failure",
    rows: [2],
    bug: "what a node was sent that cannot be asked any more has failed",
    file: core("sending/Ways"),
    find: `const unknown = Effect.succeed({ _tag: "unknown" } as const)`,
    replace: `const unknown = Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: coreTest("Offers"),
    titles: "C2: offers"
  },
  {
    name: "offer-unproven",
    rows: [54],
    bug: "a payment by offer is settled whatever its preimage proves",
    file: core("sending/LightningPayments"),
    find: `const hash = way.paymentHash ?? reportedHash`,
    replace: `const hash = way.paymentHash ?? Preimage.hashOf(payment.preimage)`,
    test: coreTest("Offers"),
    titles: "C54: offers"
  },
  {
    name: "offer-amount-unchecked",
    rows: [],
    bug: "less is sent than an offer asks for",
    file: core("sending/Recipient"),
    find: "least !== undefined && amount < least",
    replace: "least !== undefined && amount < 0n",
    test: coreTest("Recipient"),
    titles: "BOLT 12"
  },
  {
    name: "offer-booked-by-hash",
    rows: [],
    bug: "a payment by offer is looked for by the hash that its issuer chose",
    file: core("reports/reconciliation/Items"),
    find: "if (attempt === undefined) return",
    replace: "if (attempt !== paymentHash) return",
    test: coreTest("Reconciler"),
    titles: "by offer"
  },
  {
    name: "overspent-by-the-customer",
    rows: [25],
    bug: "the customer bears what the node spent above its limit",
    file: core("sending/Withdrawal"),
    find: `{ from: "loss", to: asset, amount: over }`,
    replace: `{ from: "available", to: asset, amount: over }`,
    test: coreTest("PaymentWorker"),
    titles: "C25:"
  },
  {
    name: "fee-limit-not-passed-lnd",
    rows: [26],
    bug: "lnd is told no fee limit",
    file: "packages/nodes/src/LndSender.ts",
    find: "      fee_limit_msat: String(feeLimit), // always said: without one lnd takes free routes only\n",
    replace: "",
    test: lndTest,
    titles: "C25 C26 C28:"
  },
  {
    name: "fee-not-held",
    rows: [27],
    bug: "the amount is held, and not the fees",
    file: core("sending/Withdrawal"),
    find: "=> Msat.sum(withdrawal.amount, fee(withdrawal))",
    replace: "=> withdrawal.amount",
    test: coreTest("Withdrawals"),
    titles: "C12 C27:"
  },
  {
    name: "satoshis-for-millisatoshis",
    rows: [28],
    bug: "lnd is told the fee limit in the wrong unit",
    file: "packages/nodes/src/LndSender.ts",
    find: "fee_limit_msat: String(feeLimit)",
    replace: "fee_limit_msat: String(feeLimit / 1000n)",
    test: lndTest,
    titles: "C25 C26 C28:"
  },
  {
    name: "more-than-there-is",
    rows: [29],
    bug: "an amount may be larger than all there is",
    file: core("base/Amount"),
    find: "return amount > max",
    replace: "return amount < 0n",
    test: coreTest("Amount"),
    titles: "C29 C35:"
  },
  {
    name: "to-oneself",
    rows: [31],
    bug: "of a payment to oneself only the second half counts",
    file: memory("Verdict"),
    find: "next = book(next, leg, ",
    replace: "next = book({ ...next, balances: state.balances }, leg, ",
    test: coreTest("Transfers"),
    titles: "C31:"
  },
  {
    name: "hash-alone",
    rows: [32],
    bug: "an invoice that borrows the hash of one of ours is taken for ours, whatever it asks",
    file: core("sending/Recipients"),
    find: " && invoice.value.paymentRequest === bolt11.paymentRequest",
    replace: "",
    test: coreTest("Withdrawals"),
    titles: "C32:"
  },
  {
    name: "credited-as-requested",
    rows: [33, 37],
    bug: "what was asked is credited, not what came",
    file: core("receiving/Credits"),
    find: "amount: received,",
    replace: "amount: invoice.amount,",
    test: coreTest("Settlements"),
    titles: "C33:|C37:",
    isInStories: true
  },
  {
    name: "fractions-cut-off",
    rows: [34],
    bug: "a fraction of a satoshi is cut off instead of refused",
    file: core("base/Amount"),
    find: "if (scaled % divisor !== 0n) {",
    replace: "if (divisor < 0n) {",
    test: coreTest("Amount"),
    titles: "C34:"
  },
  {
    name: "nothing-and-less",
    rows: [35],
    bug: "an amount may be nothing, or negative",
    file: core("base/Amount"),
    find: "  if (digits <= 0n) return notPositive\n",
    replace: "",
    test: coreTest("Amount"),
    titles: "C29 C35:"
  },
  {
    name: "nothing-and-less-sql",
    rows: [35],
    bug: "the ledger's table takes postings of nothing, and negative ones",
    file: postgres("migrations/LedgerTables"),
    find: `  to_account text not null check (to_account <> from_account),
  amount bigint not null check (amount > 0),`,
    replace: `  to_account text not null check (to_account <> from_account),
  amount bigint not null,`,
    test: "packages/postgres/test/embedded.test.ts",
    titles: "C35:"
  },
  {
    name: "rounded-up",
    rows: [36],
    bug: "fiat is always rounded up, so that many tiny payments gain",
    file: core("base/Amount"),
    find: "const sats = (2n * dividend + divisor) / (2n * divisor)",
    replace: "const sats = (dividend + divisor - 1n) / divisor",
    test: coreTest("Prices"),
    titles: "C36:"
  },
  {
    name: "whatever-the-server-asks",
    rows: [39],
    bug: "an invoice for another amount is paid, if a recipient's server sends one",
    file: core("sending/Recipient"),
    find: `  if (bolt11.amount !== amount) return Result.fail("an invoice for another amount")
`,
    replace: "",
    test: coreTest("AddressPayments"),
    titles: "C39:"
  },
  {
    name: "anybodys-invoice",
    rows: [40],
    bug: "a Lightning address tells of every invoice that there is",
    file: core("receiving/PayRequests"),
    find: "found.value.lightningAddressId === address.id",
    replace: `address.id !== ""`,
    test: "packages/http/test/Lud21.test.ts",
    titles: "C40:"
  },
  {
    name: "books-drift",
    rows: [41],
    bug: "of what is booked only the first posting is entered",
    file: memory("Verdict"),
    find: "entries: State.push(state.entries, companyId, ...postings.map(",
    replace: "entries: State.push(state.entries, companyId, ...postings.slice(0, 1).map(",
    test: inMemory,
    titles: "C41:"
  },
  {
    name: "deposit-twice",
    rows: [42],
    bug: "an output that is seen twice is two deposits",
    file: memory("State"),
    find: "Option.exists(HashMap.get(state.names, name), (id) => id !== record.id)",
    replace: `name === ""`,
    test: inMemory,
    titles: "C42:"
  },
  {
    name: "deposit-twice-sql",
    rows: [42],
    bug: "an output that is seen twice is two deposits",
    file: postgres("migrations/MoneyTables"),
    find: "create unique index deposits_outpoint",
    replace: "create index deposits_outpoint",
    test: inSql,
    titles: "grouped.*C42:"
  },
  {
    name: "deposit-by-txid",
    rows: [43],
    bug: "a deposit is known by its transaction, not by its output",
    file: core("receiving/Deposit"),
    find: `unique: [["chainTxId", "vout"]]`,
    replace: `unique: [["chainTxId"]]`,
    test: coreTest("ChainDeposits"),
    titles: "C43:",
    isInStories: true
  },
  {
    name: "deposit-by-txid-sql",
    rows: [43],
    bug: "a deposit is known by its transaction, not by its output",
    file: postgres("migrations/MoneyTables"),
    find: "on satrail.deposits (chain_tx_id, vout) where",
    replace: "on satrail.deposits (chain_tx_id) where",
    test: inSql,
    titles: "grouped.*C43:"
  },
  {
    name: "credited-twice",
    rows: [42, 44],
    bug: "a payment that is told and found is credited each time",
    file: memory("Writes"),
    find: '  if (wasApplied(row, first, change.atMillis)) return "again"\n  return applies(row, first) ? undefined : refused(change, row, first)',
    replace: `  return wasApplied(row, first, change.atMillis) || applies(row, first) ? undefined : refused(change, row, first)`,
    test: coreTest("Settlements"),
    titles: "C42",
    isInStories: true
  },
  {
    name: "reorganisation-ignored",
    rows: [45],
    bug: "a credit stays when its payment is taken out of the chain",
    file: core("receiving/Outputs"),
    find: `  if (placement._tag === "mempool" && deposit.status === "settled") return ["reverse"]
`,
    replace: "",
    test: coreTest("ChainDeposits"),
    titles: "C45: deposits: reversed by a reorganisation"
  },
  {
    name: "every-minus-5-is-gone",
    rows: [45, 60],
    bug: "what a bitcoin node cannot know while it indexes is taken for gone",
    file: "packages/chain/src/BitcoinRpc.ts",
    find: "code === codes.noInformation && /^no (?:such mempool or blockchain transaction|information available about transaction)/i.test(message)",
    replace: `code === codes.noInformation && message !== ""`,
    test: "packages/chain/test/Sources.test.ts",
    titles: "RPC: -5"
  },
  {
    name: "index-behind-is-gone",
    rows: [45, 60],
    bug: "a bitcoin node whose index is a block behind is believed that a transaction is gone",
    file: "packages/chain/src/BitcoinRpc.ts",
    find: "if (before.index !== undefined && before.index.height < before.tip.height)",
    replace: "if (before.index !== undefined && before.index.height < 0)",
    test: "packages/chain/test/txindex.test.ts",
    titles: "has not read the newest block"
  },
  {
    name: "every-404-is-gone",
    rows: [45, 60],
    bug: "a proxy's 404 in front of Esplora is taken for the server's own",
    file: "packages/chain/src/Esplora.ts",
    find: `status === 404 && /^(?:transaction|block) not found$/i.test(body.toString("utf8").trim())`,
    replace: "status === 404 && body.length > 0",
    test: "packages/chain/test/Sources.test.ts",
    titles: "says 404"
  },
  {
    name: "read-and-given-up",
    rows: [45, 60],
    bug: "a deposit that was read in a block is given up because the chain source does not find it by its id",
    file: core("receiving/Outputs"),
    find: `if (placement._tag !== "gone" || told?._tag !== "mined") return placement`,
    replace: `if (placement._tag !== "gone" || told?._tag !== "gone") return placement`,
    test: coreTest("ChainDeposits"),
    titles: "deposits: one that was mined is not evicted"
  },
  {
    name: "given-up-for-ever",
    rows: [45, 60],
    bug: "a deposit that was given up by mistake is never looked for again",
    file: core("receiving/ChainDeposits"),
    find: "const givenUp = isNew ? yield* nextGivenUp : []",
    replace: "const givenUp = isNew ? (yield* nextGivenUp).slice(0, 0) : []",
    test: coreTest("ChainDeposits"),
    titles: "deposits: what was given up"
  },
  {
    name: "credited-when-mined",
    rows: [46],
    bug: "a deposit is credited in its first block, however large it is",
    file: core("receiving/ChainDeposits"),
    find: "if (Chain.confirmations(tip, height) < Confirmations.neededFor(options, atRisk)) continue",
    replace: "if (Chain.confirmations(tip, height) < 1) continue",
    test: coreTest("ChainDeposits"),
    titles: "C46:"
  },
  {
    name: "a-large-payment-in-pieces",
    rows: [46],
    bug: "many deposits are credited as early as each of them would be by itself",
    file: core("receiving/ChainDeposits"),
    find: "Msat.greatest(amount, ofCompany.get(companyId) ?? Msat.zero, inBlock.get(height) ?? Msat.zero)",
    replace: "Msat.greatest(amount, ofCompany.get(String(inBlock.size)) ?? Msat.zero)",
    test: coreTest("ChainDeposits"),
    titles: "C46: deposits: several of a company in one block"
  },
  {
    name: "rejected-is-failure",
    rows: [47],
    bug: "a payout that the network does not take at once is given back",
    file: core("sending/Payouts"),
    find: `      yield* broadcast(leader.withdrawal, attempt.rawTx)
      return`,
    replace: `      const answer = yield* chain.broadcast(attempt.rawTx)
      if (answer._tag !== "accepted")
        yield* journal.commit(Withdrawal.failed(leader.withdrawal, "node_error", fence(leader.task), yield* now))
      return`,
    test: coreTest("Payouts"),
    titles: "C47:"
  },
  {
    name: "private-addresses",
    rows: [48],
    bug: "a name that leads inside is followed there",
    file: "packages/web/src/Outbound.ts",
    find: "const addresses = found.filter(isAllowed)",
    replace: "const addresses = found",
    test: outboundTest,
    titles: "C48:"
  },
  {
    name: "checked-and-sent-anyway",
    rows: [49],
    bug: "where no address is allowed those that there are are connected to all the same",
    file: "packages/web/src/Outbound.ts",
    find: "return addresses.length > 0 ? addresses :",
    replace: "return addresses.length > 0 ? addresses : found.length > 0 ? found :",
    test: outboundTest,
    titles: "C49:"
  },
  {
    name: "vouched-for-every-port",
    rows: [50],
    bug: "what the operator vouches for is taken for every port of that host",
    file: "packages/web/src/Outbound.ts",
    find: "allow.get(url.host)",
    replace: "allow.get(url.hostname)",
    test: outboundTest,
    titles: "C50:"
  },
  {
    name: "looked-up-again",
    rows: [51],
    bug: "a name is looked up once for the check, and again for the connection",
    file: "packages/web/src/Outbound.ts",
    find: "Effect.flatMap(addressesOf(target), (addresses) => opened(target, addresses))",
    replace: `Effect.flatMap(
      Effect.andThen(addressesOf(target), Effect.promise(() => lookup(target.name ?? ""))),
      (addresses) => opened(target, addresses)
    )`,
    test: outboundTest,
    titles: "C51:"
  },
  {
    name: "revoked-key-opens",
    rows: [52],
    bug: "a key that was revoked opens until it expires",
    file: core("accounts/ApiKey"),
    find: `  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")
`,
    replace: "",
    test: coreTest("ApiKeys"),
    titles: "C52:"
  },
  {
    name: "anybodys-id",
    rows: [53],
    bug: "whoever knows an id reads what it is of",
    file: memory("State"),
    find: "Option.filter(HashMap.get(of(state, noun), id), (row) => row.companyId === companyId)",
    replace: `Option.filter(HashMap.get(of(state, noun), id), () => companyId !== "")`,
    test: "packages/http/test/foreign.test.ts",
    titles: "C53:"
  },
  {
    name: "anybodys-id-sql",
    rows: [53],
    bug: "whoever knows an id reads what it is of",
    file: postgres("statements/Reads"),
    find: "where t.company_id = a.company_id and t.id = a.id",
    replace: "where t.id = a.id",
    test: inSql,
    titles: "grouped.*C53:"
  },
  {
    name: "body-without-limit",
    rows: [54],
    bug: "a body of any size is read",
    file: "packages/http/src/edge/Edge.ts",
    find: "options.maxBodyBytes ?? maxBodyBytes",
    replace: "1000 * (options.maxBodyBytes ?? maxBodyBytes)",
    test: "packages/http/test/endpoints.test.ts",
    titles: "C54:"
  },
  {
    name: "page-from-anywhere",
    rows: [55],
    bug: "the page of the documentation may load from anywhere",
    file: "packages/http/src/pages/Docs.ts",
    find: `"default-src 'none'",`,
    replace: `"default-src *",`,
    test: "packages/http/test/openapi.test.ts",
    titles: "C55:"
  },
  {
    name: "key-in-the-log",
    rows: [56],
    bug: "a request that crashes is logged with its key",
    file: "packages/http/src/edge/Edge.ts",
    find: `path: request.url.split("?")[0] }, cause)`,
    replace: `path: request.url.split("?")[0], key: request.headers["authorization"] }, cause)`,
    test: "packages/http/test/errors.test.ts",
    titles: "C56:"
  },
  {
    name: "logged-path",
    rows: [56],
    bug: "the log of requests has their paths, and with them the secrets of vouchers",
    file: "packages/http/src/edge/Exchange.ts",
    find: "      route,\n      status,\n      ms:",
    replace: "      route: asked.url,\n      status,\n      ms:",
    test: "packages/http/test/requestLog.test.ts",
    titles: "C56:"
  },
  {
    name: "traced-url",
    rows: [56],
    bug: "traces name what other servers were asked for",
    file: "packages/web/src/Outbound.ts",
    find: `attributes: { "server.address": URL.parse(request.url)?.hostname ?? "" }`,
    replace: `attributes: { "server.address": request.url }`,
    test: "packages/server/test/traces.test.ts",
    titles: "C56:"
  },
  {
    name: "secret-kept",
    rows: [57],
    bug: "the secret of a key is kept as it is",
    file: core("base/SecretHash"),
    find: "make(Id.toHex(sha256(utf8ToBytes(secret))))",
    replace: "make(secret)",
    test: coreTest("ApiKey"),
    titles: "C57:"
  },
  {
    name: "old-lnd-is-good",
    rows: [59],
    bug: "a version of lnd that others can rob is not warned of",
    file: "packages/core/src/nodes/Versions.ts",
    find: "isBefore(version, fault.fixedIn)",
    replace: "isBefore([version[0], version[1] + 1, 0], fault.fixedIn)",
    test: "packages/core/test/Versions.test.ts",
    titles: "C59:"
  },
  {
    name: "any-accepted-version",
    rows: [59],
    bug: "who accepted one version of a node with faults has accepted all of them",
    file: "packages/server/src/backends/KnownFaults.ts",
    find: "accept.version === version",
    replace: "accept.version !== undefined",
    test: "packages/server/test/check.test.ts",
    titles: "check: lnd of another version"
  },
  {
    name: "assigned-to-everybody",
    rows: [],
    bug: "a payment in suspense becomes a deposit of each company that it is assigned to",
    file: core("receiving/Assignment"),
    find: `unique: [["unmatchedId"]]`,
    replace: "unique: []",
    test: "packages/memory/test/memory.test.ts",
    titles: "lay in suspense"
  },
  {
    name: "balance-without-fees",
    rows: [],
    bug: "the running balance of an export, and its lines, forget the fees",
    file: core("reports/Booking"),
    find: `Msat.sum(amount, serviceFee, networkFee)`,
    replace: `Msat.sum(amount, Msat.make(serviceFee * 0n), Msat.make(networkFee * 0n))`,
    test: inMemory,
    titles: "sums, entries and the balance"
  },
  {
    name: "adjustment-as-deposit",
    rows: [],
    bug: "what operators gave a company by hand is exported as money that came in from outside",
    file: core("reports/Booking"),
    find: `if (owned(to)) return outside(from) ? "deposit" : "adjustment"`,
    replace: `if (owned(to)) return "deposit"`,
    test: "packages/http/test/exports.test.ts",
    titles: "what two operators book by hand"
  },
  {
    name: "export-skips-at-a-page",
    rows: [],
    bug: "an export takes a page that stopped looking for its end",
    file: postgres("reads/Bookings"),
    find: `rows.length === query.limit || rows.some(({ isLast }) => isLast === "true")`,
    replace: `rows.length > query.limit || rows.some(({ isLast }) => isLast === "true")`,
    test: inSql,
    titles: "each page of entries"
  },
  {
    name: "formula-in-an-export",
    rows: [],
    bug: "a text in an export runs as a formula in a spreadsheet",
    file: "packages/http/src/wire/Sheet.ts",
    find: `/^[=+\\-@|＝＋－＠\\t\\r\\n]/`,
    replace: `/^[=+\\-@|\\t\\r\\n]/`,
    test: "packages/http/test/exports.test.ts",
    titles: "no text runs as a formula"
  },
  {
    name: "half-a-file",
    rows: [],
    bug: "a file that was cut short looks like a whole one",
    file: "packages/http/src/edge/Edge.ts",
    find: `isFile(response) ? Effect.andThen(end, cutShort) : end`,
    replace: `isFile(response) ? end : end`,
    test: "packages/http/test/extension.test.ts",
    titles: "stream: a file that lasts too long"
  },
  {
    name: "cursor-before-credit",
    rows: [60],
    bug: "how far the node was read is stored before what was read is credited",
    file: core("receiving/Credits"),
    find: `    yield* journal
      .commit({
        ...Invoice.settled(invoice, deposit, paid.preimage, reading),`,
    replace: `    if (reading !== undefined)
      yield* journal.commit(Cursor.moved(reading.cursor, Id.fromMillis(nowMillis, entropy), nowMillis, reading.fence))
    yield* journal
      .commit({
        ...Invoice.settled(invoice, deposit, paid.preimage),`,
    test: crashTest,
    titles: "that the node had reported closed$"
  },
  {
    name: "webhook-rendered-when-sent",
    rows: [],
    bug: "an event is rendered each time that it is told, and nothing is kept",
    file: core("events/Feed"),
    find: `for (const one of yield* store.keepTold(made.filter(({ tellings }) => tellings.length > 0))) known.set(one.id, one)`,
    replace: `for (const one of made.filter(({ tellings }) => tellings.length > 0)) known.set(one.id, one)`,
    test: crashTest,
    titles: "webhooks that their owner has sent again$"
  },
  {
    name: "webhook-sender-skips-what-was-looked-at",
    rows: [],
    bug: "whoever sends webhooks is given the last page of events that was looked at, whatever he had before it",
    file: core("events/Tail"),
    find: `looked !== undefined && looked.after <= after`,
    replace: `looked !== undefined`,
    test: "packages/core/test/Webhooks.test.ts",
    titles: "made while the others are listed"
  },
  {
    name: "connection-kept-for-ever",
    rows: [51],
    bug: "a connection that is kept is used again however long ago its address was checked",
    file: "packages/web/src/Idle.ts",
    find: `if (!socket.destroyed && nowMillis - one.atMillis < maxAgeMillis)`,
    replace: `if (!socket.destroyed && nowMillis >= one.atMillis)`,
    test: outboundTest,
    titles: "C51: outbound: a connection that is kept is to an address that was checked"
  },
  {
    name: "connection-of-another-host",
    rows: [51],
    bug: "a connection that is kept is used for another host, whose address nobody has checked",
    file: "packages/web/src/Outbound.ts",
    find: 'const placeOf = ({ host, port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${host} ${port}`',
    replace: 'const placeOf = ({ port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${port}`',
    test: outboundTest,
    titles: "C51: outbound: a connection that is kept is used for its own host"
  },
  {
    name: "canceled-claimed",
    rows: [],
    bug: "an invoice that its company canceled is paid from inside",
    file: core("receiving/Invoice"),
    find: `    from: ["pending"],
    to: "claimed",`,
    replace: `    from: ["pending", "canceling", "canceled"],
    to: "claimed",`,
    test: inMemory,
    titles: "a canceled invoice is claimed by no withdrawal"
  },
  {
    name: "canceled-never-credited",
    rows: [54],
    bug: "a payment that was on its way when its invoice was canceled is not credited",
    file: core("receiving/Invoice"),
    find: `    from: ["pending", "claimed", "held", "settling", "expired", "canceling", "canceled"],
    to: "settled",`,
    replace: `    from: ["pending", "claimed", "held", "settling", "expired"],
    to: "settled",`,
    test: coreTest("Cancels"),
    titles: "C54: cancel: a payment that was on its way"
  },
  {
    name: "canceled-credited-twice",
    rows: [],
    bug: "a canceled invoice that was paid all the same can be canceled, and settles once more",
    file: core("receiving/Invoice"),
    find: `    from: ["pending", "held"],
    to: "canceling",`,
    replace: `    from: ["pending", "held", "settled"],
    to: "canceling",`,
    test: inMemory,
    titles: "a canceled invoice is closed, and one that is paid all the same is credited"
  },
  {
    name: "canceled-without-the-node",
    rows: [],
    bug: "an invoice is recorded as closed though the node holds a payment of it",
    file: core("receiving/Closing"),
    find: `if (!(yield* isClosed(invoice))) return false`,
    replace: `yield* isClosed(invoice)`,
    test: coreTest("Cancels"),
    titles: "C54: cancel: a payment that was on its way"
  },
  {
    name: "revoked-operator-token",
    rows: [],
    bug: "a revoked token of an operator's still opens everything",
    file: core("accounts/OperatorTokens"),
    find: `(({ revokedAtMillis }) => revokedAtMillis === null)`,
    replace: `(() => true)`,
    test: "packages/http/test/operators.test.ts",
    titles: "revoked it opens nothing"
  },
  {
    name: "own-key-that-sends",
    rows: [],
    bug: "a company's key makes another that sends, and so gets around its limits and approvals",
    file: core("accounts/ApiKey"),
    find: `["read", "receive", "webhooks"] as const`,
    replace: `["read", "receive", "webhooks", "send", "approve", "admin"] as const`,
    test: "packages/http/test/ownKeys.test.ts",
    titles: "none that it makes sends"
  },
  {
    name: "foreign-key-revoked",
    rows: [],
    bug: "a company revokes another company's key",
    file: core("accounts/ApiKeys"),
    find: `(of !== undefined && apiKey.companyId !== of)`,
    replace: `false`,
    test: "packages/http/test/ownKeys.test.ts",
    titles: "another company's are not found"
  },
  {
    name: "operator-scope-unchecked",
    rows: [],
    bug: "any token of an operator's opens every route",
    file: "packages/http/src/api/Authentication.ts",
    find: `if (!scopes.some((scope) => Operators.allows(caller, scope)))`,
    replace: `if (scopes.length === 0)`,
    test: "packages/http/test/operators.test.ts",
    titles: "operator token:"
  },
  {
    name: "frozen-company-sends",
    rows: [],
    bug: "a freeze is not looked at in the commit",
    file: postgres("statements/Statements"),
    find: `["company_id not in (select company_id from locked where frozen)"]`,
    replace: "[]",
    test: inSql,
    titles: "freeze:"
  },
  {
    name: "frozen-company-sends-in-memory",
    rows: [],
    bug: "a freeze is not looked at in the commit",
    file: memory("Verdict"),
    find: "earlier ?? overtaken ?? frozen(state, change)",
    replace: "earlier ?? overtaken",
    test: inMemory,
    titles: "freeze:"
  },
  {
    name: "key-without-second-operator",
    rows: [],
    bug: "one operator alone issues a key that can send from a company's money",
    file: core("accounts/ApiKeys"),
    find: "if (by === undefined || !ApiKey.movesMoney(scopes) || (yield* isNew(records, companyId))) return null",
    replace: "if (by === undefined || !ApiKey.movesMoney(scopes) || companyId !== null) return null",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator:"
  },
  {
    name: "waiting-key-opens",
    rows: [],
    bug: "a key opens before a second operator has approved it",
    file: core("accounts/ApiKey"),
    find: `if (isWaiting(apiKey)) return closed(apiKey, "waiting")`,
    replace: "",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator:"
  },
  {
    name: "key-approved-by-who-asked",
    rows: [],
    bug: "the operator who requested a key approves it",
    file: core("accounts/ApiKey"),
    find: "if (approval !== null && isSameOperator(by,",
    replace: "if (approval === null && isSameOperator(by,",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator: a key with"
  },
  {
    name: "stop-loosens",
    rows: [],
    bug: "a token with the scope stop removes a limit",
    file: "packages/http/src/api/Authentication.ts",
    find: `if (!loosens || Operators.allows(yield* OperatorCaller, "loosen")) return`,
    replace: `if (!loosens || Operators.allows(yield* OperatorCaller, "loosen") || loosens) return`,
    test: "packages/http/test/loosening.test.ts",
    titles: "operator scopes:"
  },
  {
    name: "loosened-by-one-operator",
    rows: [],
    bug: "one operator alone, by asking twice, loosens what protects a company that holds much",
    file: core("accounts/Loosening"),
    find: "return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? pending : undefined",
    replace: "return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? undefined : undefined",
    test: "packages/http/test/twoOperators.test.ts",
    titles: "two operators:"
  },
  {
    name: "another-loosening-granted",
    rows: [],
    bug: "a second operator grants something else than was requested",
    file: core("accounts/Loosening"),
    find: " && Equal.equals(pending.wanted, wanted)",
    replace: "",
    test: "packages/http/test/twoOperators.test.ts",
    titles: "two operators:"
  },
  {
    name: "raised-limit-is-tighter",
    rows: [],
    bug: "a limit that is raised does not count as loosened",
    file: core("accounts/Limits"),
    find: "amounts.some((name) => (old[name] ?? Infinity) < (next[name] ?? Infinity)) ||",
    replace: "",
    test: "packages/http/test/loosening.test.ts",
    titles: "operator scopes: the limits"
  },
  {
    name: "fees-of-before",
    rows: [],
    bug: "a fee that was counted before the company's fees were changed is charged after it",
    file: postgres("statements/Statements"),
    find: "...(carried.unlessFeesMoved ? [isPriced] : [])",
    replace: "",
    test: inSql,
    titles: "fees:"
  },
  {
    name: "fees-of-before-in-memory",
    rows: [],
    bug: "a fee that was counted before the company's fees were changed is charged after it",
    file: memory("Verdict"),
    find: " ?? moved(state, change)",
    replace: "",
    test: inMemory,
    titles: "fees:"
  },
  {
    name: "fees-of-another-company",
    rows: [],
    bug: "fees that one company is charged are every company's",
    file: postgres("reads/Company"),
    find: "where t.id = f.id and g.${member}::text",
    replace: "where g.${member}::text",
    test: inSql,
    titles: "fees: those of one company"
  },
  {
    name: "fee-above-what-was-accepted",
    rows: [],
    bug: "a fee is charged that is more than the confirm accepts",
    file: core("sending/WithdrawalDrafts"),
    find: "if (ask.maxFee !== undefined && Fee.total(fee) > ask.maxFee)",
    replace: "if (ask.maxFee !== undefined && Fee.total(fee) < 0n)",
    test: coreTest("CompanyFees"),
    titles: "fees: what an estimate"
  },
  {
    name: "description-is-markup",
    rows: [],
    bug: "the page of a checkout takes what its company wrote for markup",
    file: "packages/ui/src/checkout/View.ts",
    find: `h("h1", null, description === "" ? say.pay : description)`,
    replace: `h("h1", { dangerouslySetInnerHTML: { __html: description } })`,
    test: "packages/http/test/corpus.test.ts",
    titles: "corpus:"
  },
  {
    name: "pages-let-elements-through",
    rows: [],
    bug: "a page without script lets elements through in what others wrote",
    file: "packages/http/src/wire/Html.ts",
    find: `/[&<>"]/g`,
    replace: `/[&>"]/g`,
    test: "packages/http/test/corpus.test.ts",
    titles: "corpus:"
  },
  {
    name: "pages-end-attributes",
    rows: [],
    bug: "a page without script lets what others wrote end an attribute",
    file: "packages/http/src/wire/Html.ts",
    find: `/[&<>"]/g`,
    replace: `/[&<>]/g`,
    test: "packages/http/test/corpus.test.ts",
    titles: "corpus:"
  },
  {
    name: "paused-worker-pays",
    rows: [],
    bug: "a payment worker takes up what has not begun though sending is paused, or its company is frozen",
    file: core("sending/Steps"),
    find: "if (yield* stops.waits(task.companyId)) {",
    replace: "if (yield* Effect.as(stops.waits(task.companyId), false)) {",
    test: coreTest("Stops"),
    titles: "freeze: what was confirmed"
  },
  {
    name: "handed-over-and-forgotten",
    rows: [],
    bug: "what was confirmed for who is gone waits until the claim of this process ends",
    file: core("sending/Handover"),
    find: "Effect.andThen(Effect.sleep(lookAfter), worker.work(claim))",
    replace: "Effect.void",
    test: coreTest("Handover"),
    titles: "payment worker: what was confirmed, though who asked"
  },
  {
    name: "handed-over-unclaimed",
    rows: [19],
    bug: "what a process carries out itself is handed to the next worker that asks as well",
    file: core("sending/Handover"),
    find: "dueAtMillis: withdrawal.createdAtMillis + worker.leaseMillis, claimedBy: worker.holder",
    replace: "claimedBy: worker.holder",
    test: coreTest("Handover"),
    titles: "payment worker: what finds no place"
  },
  {
    name: "handed-over-and-gone",
    rows: [],
    bug: "a process that stops does not wait for what was handed to its worker",
    file: core("sending/Handover"),
    find: "            return idle",
    replace: "            return Effect.void",
    test: coreTest("Handover"),
    titles: "payment worker: a process that stops"
  },
  {
    name: "handed-over-by-who-asked",
    rows: [],
    bug: "the audit log has a payment inside done by who confirmed it",
    file: core("sending/Handover"),
    find: "Effect.sync(() => fork(Effect.ensuring(work, leave)))",
    replace: "Effect.forkDetach(Effect.ensuring(work, leave))",
    test: coreTest("Handover"),
    titles: "payment worker: the audit log"
  },
  {
    name: "known-though-claimed-before",
    rows: [19],
    bug: "a worker takes for unsent what another process may have sent, since this one confirmed it",
    file: core("sending/Confirmed"),
    find: "attempts === 1 ? row : undefined",
    replace: "attempts > 0 ? row : undefined",
    test: coreTest("Confirmed"),
    titles: "payment worker: is read where"
  },
  {
    name: "one-claim-too-many",
    rows: [],
    bug: "a worker that was given all there is asks again",
    file: core("base/Places"),
    find: " || !isMore",
    replace: "",
    test: coreTest("PaymentPlaces"),
    titles: "payment worker: what is confirmed is claimed once"
  },
  {
    name: "a-share-is-all",
    rows: [],
    bug: "a company that waits alone gets a quarter of the places, and waits for the next look with the rest",
    file: core("sending/PaymentWorker"),
    find: "found.length === free || [...counts.values()].some((count) => count >= perLane)",
    replace: "found.length === free",
    test: coreTest("PaymentPlaces"),
    titles: "payment worker: a company that waits alone"
  },
  {
    name: "claim-not-written",
    rows: [19],
    bug: "a task that is claimed by who enqueues it has the token of one that nobody has claimed",
    file: postgres("statements/Statements"),
    find: "job_due_at_millis, num_nonnulls(job_holder), num_nonnulls(job_holder)",
    replace: "job_due_at_millis, 0, 0",
    test: inSql,
    titles: "a task that is claimed by who enqueues it"
  },
  {
    name: "listed-late-is-a-difference",
    rows: [],
    bug: "a forward that lnd lists late stays a difference beside the next one",
    file: core("reports/reconciliation/Look"),
    find: "Listed.explain(look.node, items) ?",
    replace: "Listed.explain(look.node, []) ?",
    test: coreTest("Listed"),
    titles: "reconciliation: forwards that are always listed late"
  },
  {
    name: "explained-by-whatever-is-listed",
    rows: [],
    bug: "a loss is taken for what the node has not listed yet",
    file: core("reports/reconciliation/Listed"),
    find: "if (unexplained === 0n || own === null) return false",
    replace: "if (unexplained === 0n || own === null) return false\n  if (items.length > 0) return true",
    test: coreTest("Listed"),
    titles: "reconciliation: a forward that the node never lists"
  },
  {
    name: "closing-may-cost-anything",
    rows: [],
    bug: "a channel that is closed explains a loss of more than the part below a satoshi",
    file: core("reports/reconciliation/Listed"),
    find: "999n *",
    replace: "1000n *",
    test: coreTest("Listed"),
    titles: "reconciliation: a whole satoshi"
  },
  {
    name: "listed-twice",
    rows: [],
    bug: "what a node listed is counted at each comparison again",
    file: core("reports/reconciliation/Reconciler"),
    find: "statements.own(known?.place ?? null, options.lines)",
    replace: 'statements.own(known === undefined ? null : "0", options.lines)',
    test: coreTest("Listed"),
    titles: "reconciliation: a forward is counted by name"
  },
  {
    name: "place-counted-and-lost",
    rows: [],
    bug: "a claim that fails half way keeps the places it has counted at a recipient's host, which is never asked again",
    file: core("sending/Resolving"),
    find: "Effect.ignoreCause(tasks.postpone(task, task.atMillis))",
    replace: "tasks.postpone(task, task.atMillis)",
    test: coreTest("PaymentPlaces"),
    titles: "payment worker: the store is away"
  },
  {
    name: "paused-behind-a-slow-recipient",
    rows: [],
    bug: "a payment whose recipient's server answers after a pause begins during it",
    file: core("sending/LightningPayments"),
    find: "if (yield* stops.waits(withdrawal.companyId)) return",
    replace: "if (yield* Effect.as(stops.waits(withdrawal.companyId), false)) return",
    test: coreTest("PaymentPlaces"),
    titles: "pause:"
  },
  {
    name: "frozen-while-coins-are-chosen",
    rows: [],
    bug: "a payout goes out though its company was frozen while the wallet chose its coins",
    file: core("sending/Payouts"),
    find: ".includes(true)) return yield* again()",
    replace: ".includes(true)) yield* Effect.void",
    test: coreTest("Payouts"),
    titles: "freeze:"
  },
  {
    name: "pause-answered-early",
    rows: [],
    bug: "a pause is answered while other processes still go by what they read before",
    file: core("accounts/Stops"),
    find: `    yield* everywhere
`,
    replace: "",
    test: coreTest("Stops"),
    titles: "pause: when it is answered"
  },
  {
    name: "key-from-anywhere",
    rows: [],
    bug: "a key that may send from some addresses only sends from all",
    file: "packages/http/src/api/Authentication.ts",
    find: `scopes.every((scope) => scope === "send" || scope === "approve")`,
    replace: `scopes.every((scope) => scope !== "send")`,
    test: "packages/http/test/allowedFrom.test.ts",
    titles: "allowed from: for sending"
  },
  {
    name: "caller-says-where",
    rows: [],
    bug: "the address that a caller writes into X-Forwarded-For is believed",
    file: "packages/http/src/wire/Address.ts",
    find: "forwarded.at(-proxies)",
    replace: "forwarded.at(0)",
    test: "packages/http/test/allowedFrom.test.ts",
    titles: "allowed from: from elsewhere"
  },
  {
    name: "flood-of-one-key",
    rows: [],
    bug: "requests with a key are counted, and taken however many there are",
    file: "packages/http/src/edge/RequestRates.ts",
    find: "noting(refused === undefined ? taken :",
    replace: "noting(refused === undefined || refused !== undefined ? taken :",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates:"
  },
  {
    name: "flood-refused-at-once",
    rows: [],
    bug: "who is refused and asks again at once is refused at once, as fast as the process can",
    file: "packages/http/src/edge/RequestRates.ts",
    find: "isPrompt(name, nowMillis) ? refused : later(refused)",
    replace: "isPrompt(name, nowMillis) ? refused : refused",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: who is refused and asks again"
  },
  {
    name: "second-at-once",
    rows: [],
    bug: "all requests of a key's second are worked on at once, and others wait for all of them",
    file: "packages/http/src/edge/RequestRates.ts",
    find: "const wait = refused === undefined ? waitMillis(rooms) : 0",
    replace: "const wait = refused === undefined ? 0 : waitMillis(rooms)",
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: what comes all at once"
  },
  {
    name: "one-lane-for-all",
    rows: [],
    bug: "whatever a company asks for is worked on at once, and others wait for all of it",
    file: "packages/http/src/edge/Lanes.ts",
    find: "lane.inWork < places && lane.waiting.size === 0",
    replace: "lane.inWork >= 0",
    test: "packages/http/test/lanes.test.ts",
    titles: "lanes:"
  },
  {
    name: "stranger-guesses-on",
    rows: [],
    bug: "who guesses keys is told each time, however often",
    file: "packages/http/src/edge/RequestRates.ts",
    find: `failed.error.code === "unauthorized"`,
    replace: `failed.error.code !== "unauthorized"`,
    test: "packages/http/test/requestRates.test.ts",
    titles: "request rates: who shows no key"
  },
  {
    name: "operator-events-kept",
    rows: [],
    bug: "an old event of the operator's own keeps every old event from being deleted",
    file: postgres("reads/EventStore"),
    find: "from old where company_id <> '${Id.nil}' group by 1",
    replace: "from old group by 1",
    test: inSql,
    titles: "the operator's own events are deleted"
  },
  {
    name: "held-without-limit",
    rows: [],
    bug: "a company has any number of hold invoices, which take the places of every channel",
    file: core("receiving/Issuing"),
    find: `>= holds.mostOpen)`,
    replace: `>= holds.mostOpen * 10)`,
    test: coreTest("Holds"),
    titles: "hold: a company has so many"
  },
  {
    name: "pool-evicts-the-smallest",
    rows: [],
    bug: "a full pool takes a place from the network that has fewest",
    file: core("base/Pool"),
    find: "share.size > found.size",
    replace: "share.size < found.size",
    test: coreTest("Pool"),
    titles: "pool:"
  },
  {
    name: "signature-not-asked-for",
    rows: [],
    bug: "a name's record counts though the resolver did not validate it: whoever can forge an answer is paid",
    file: "packages/web/src/ValidatingResolver.ts",
    find: "isSigned: isAuthenticated",
    replace: "isSigned: isAuthenticated || texts.length > 0",
    test: "packages/web/test/Rfc8484.test.ts",
    titles: "RFC 8484: without the AD bit"
  },
  {
    name: "servfail-is-none",
    rows: [],
    bug: "a record that is signed wrongly is taken for none, and the domain's server is asked instead",
    file: "packages/web/src/ValidatingResolver.ts",
    find: "code !== noError && code !== noSuchName",
    replace: "code === 5",
    test: "packages/web/test/Rfc8484.test.ts",
    titles: "RFC 8484: SERVFAIL"
  },
  {
    name: "unsigned-record-is-paid",
    rows: [],
    bug: "what a record says is paid though it is not signed",
    file: core("sending/Instructions"),
    find: "if (!isSigned) return",
    replace: "if (!isSigned && texts.length > 9) return",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "first-of-two-records",
    rows: [],
    bug: "of two records for a name the first is paid",
    file: core("sending/Instructions"),
    find: "if (others.length > 0) return",
    replace: "if (others.length > 9) return",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "down-to-the-server",
    rows: [],
    bug: "where a name's record is wrong, the domain's server is asked who is paid",
    file: core("sending/Instructions"),
    find: "const uri = found && (yield* refused(Effect.fromResult(uriOf(found))))",
    replace: "const uri = found && (yield* Effect.orElseSucceed(Effect.fromResult(uriOf(found)), () => undefined))",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "no-answer-is-no-record",
    rows: [],
    bug: "while no resolver answers, the domain's server is asked who is paid",
    file: core("sending/Instructions"),
    find: "yield* certain(validated(name))",
    replace: "yield* Effect.orElseSucceed(validated(name), () => undefined)",
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "confirmed-by-the-dns-sent-by-the-server",
    rows: [],
    bug: "what was confirmed by a name's record goes to the domain's server where the record has vanished when it is sent",
    file: core("sending/Recipient"),
    find: `instructed !== undefined && destination._tag === "LightningAddress" ? { ...destination, isInDns: true } : destination`,
    replace: `instructed !== undefined ? destination : destination`,
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "another-rail-than-confirmed",
    rows: [],
    bug: "a withdrawal that was confirmed on the chain is paid over Lightning, and booked on the chain",
    file: core("sending/Instructions"),
    find: `.filter(({ _tag }) => rail === undefined || rail === (_tag === "ChainAddress" ? "on_chain" : "lightning"))`,
    replace: `.filter(() => rail !== undefined || true)`,
    test: coreTest("Bip353"),
    titles: "BIP 353:"
  },
  {
    name: "invoice-of-a-record-for-another-amount",
    rows: [39],
    bug: "the invoice in a name's record is paid though it is for another amount",
    file: core("sending/Instructions"),
    find: "if (invoice.amount !== undefined && invoice.amount !== amount)",
    replace: "if (invoice.amount !== undefined && invoice.amount > amount + 10_000_000n)",
    test: coreTest("Bip353"),
    titles: "C39: BIP 353:"
  },
  {
    name: "ldk-two-owners",
    rows: [],
    bug: "two processes run the node of one store",
    file: ldk("store.go"),
    find: "syscall.LOCK_EX|syscall.LOCK_NB",
    replace: "syscall.LOCK_SH|syscall.LOCK_NB",
    test: ldk("store_test.go"),
    titles: "TestAStoreHasOneOwner"
  },
  {
    name: "ldk-store-of-a-backup",
    rows: [],
    bug: "a store is as good as the newest if it has counted as far by itself",
    file: ldk("store.go"),
    find: "is = run != nil && decodeNumber(run) >= seen.Count",
    replace: "is = run != nil || decodeNumber(tx.Bucket(bucketMeta).Get(keyCount)) >= seen.Count",
    test: ldk("store_test.go"),
    titles: "TestAStoreOfABackup"
  },
  {
    name: "ldk-sent-and-forgotten",
    rows: [8],
    bug: "after a crash every payment without an end counts as never sent",
    file: ldk("unsent.go"),
    find: "one.isFound = one.isFound || bytes.Contains(content, trace)",
    replace: "_ = bytes.Contains(content, trace)",
    test: ldk("store_test.go"),
    titles: "TestAPaymentThatLDK"
  },
  {
    name: "ldk-attempt-without-id",
    rows: [8],
    bug: "an attempt whose id LDK did not get to write down counts as never sent",
    file: ldk("unsent.go"),
    find: "case isLost:",
    replace: "case isLost && one.isFound:",
    test: ldk("store_test.go"),
    titles: "TestAnAttemptWhoseId"
  },
  {
    name: "ldk-open-socket",
    rows: [],
    bug: "everybody on the machine can have the node pay",
    file: ldk("socket.go"),
    find: "syscall.Umask(0o177)",
    replace: "syscall.Umask(0)",
    test: ldk("serve_test.go"),
    titles: "TestTheSocketIsItsOwners"
  },
  {
    name: "ldk-mainnet-unasked",
    rows: [],
    bug: "the node opens mainnet for who has not accepted what that means",
    file: ldk("main.go"),
    find: 'env("LDK_MAINNET") != mainnetWords',
    replace: 'env("LDK_MAINNET") == "no"',
    test: ldk("serve_test.go"),
    titles: "TestMainnetIsBehindWords"
  },
  {
    name: "channels-inactive-count",
    rows: [],
    bug: "an invoice counts as payable through channels whose peers are away",
    file: core("nodes/Channels"),
    find: "found.channels?.active === 0 ? Msat.zero : found.incoming",
    replace: "found.incoming",
    test: coreTest("Channels"),
    titles: "channels: what inactive channels hold"
  },
  {
    name: "channels-outage-warns",
    rows: [],
    bug: "a node that does not answer counts as one without channels",
    file: core("nodes/Channels"),
    find: "found === null ? [] : judge(found)",
    replace:
      "judge(found ?? { outgoing: Msat.zero, incoming: Msat.zero, channels: { active: 0, inactive: 0, opening: 0, closing: 0, forceClosing: 0 } })",
    test: coreTest("Channels"),
    titles: "channels: an outage is no warning"
  },
  {
    name: "lnd-forward-half-settled",
    rows: [],
    bug: "a forward whose payer's side has not settled counts as missing money",
    file: "packages/nodes/src/LndBooks.ts",
    find: "initiator || incoming",
    replace: "initiator",
    test: "packages/nodes/test/LndBooks.test.ts",
    titles: "lnd: a forward is explained"
  },
  ...features.flat()
]
