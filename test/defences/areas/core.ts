import { type Canary, core, coreTest, crashTest, inMemory } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "event-of-another-company",
    bug: "an event is returned to any company",
    file: core("events/Feed"),
    in: "make",
    find: "companyId === null || event.companyId === companyId",
    replace: "event.companyId !== undefined",
    test: coreTest("Events"),
    titles: "events: an event is returned only to the company"
  },
  {
    name: "retry-in-another-form",
    bug: "a request is recognized only in the form in which it was first sent",
    file: core("ledger/Answer"),
    in: "isSame",
    find: "stored.fingerprint === fingerprint || (meaning !== undefined && stored.meaning === meaning)",
    replace: "stored.fingerprint === fingerprint",
    test: "packages/http/test/meaning.test.ts",
    titles: "the same meaning in any form"
  },
  {
    name: "worker-is-cut-short",
    rows: [5],
    bug: "stopping a worker interrupts its current step",
    file: core("base/Worker"),
    in: "run",
    find: "forever(name, Effect.uninterruptible(step), pause)",
    replace: "forever(name, step, pause)",
    test: coreTest("Worker"),
    titles: "C5:"
  },
  {
    name: "offer-booked-by-hash",
    bug: "an offer payment is looked up by the hash that the offer's issuer chose",
    file: core("reports/reconciliation/LightningItems"),
    in: "make",
    find: "if (attempt === undefined) return",
    replace: "if (attempt !== paymentHash) return",
    test: coreTest("Reconciler"),
    titles: "offer payment"
  },
  {
    name: "more-than-there-is",
    rows: [29],
    bug: "an amount may exceed the total supply",
    file: core("base/Amount"),
    in: "wholeSats",
    find: "return amount > max",
    replace: "return amount < 0n",
    test: coreTest("Amount"),
    titles: "C29 C35:"
  },
  {
    name: "fractions-cut-off",
    rows: [34],
    bug: "a fraction of a satoshi is truncated instead of refused",
    file: core("base/Amount"),
    in: "toMsat",
    find: "if (scaled % divisor !== 0n) {",
    replace: "if (divisor < 0n) {",
    test: coreTest("Amount"),
    titles: "C34:"
  },
  {
    name: "nothing-and-less",
    rows: [35],
    bug: "an amount may be zero or negative",
    file: core("base/Amount"),
    in: "toMsat",
    find: "  if (digits <= 0n) return notPositive\n",
    replace: "",
    test: coreTest("Amount"),
    titles: "C29 C35:"
  },
  {
    name: "rounded-up",
    rows: [36],
    bug: "fiat amounts always round up, which makes many tiny payments profitable",
    file: core("base/Amount"),
    in: "fiatToMsat",
    find: "const sats = (2n * dividend + divisor) / (2n * divisor)",
    replace: "const sats = (dividend + divisor - 1n) / divisor",
    test: coreTest("Prices"),
    titles: "C36:"
  },
  {
    name: "secret-kept",
    rows: [57],
    bug: "the secret of a key is stored in plain text",
    file: core("base/SecretHash"),
    in: "of",
    find: "make(sha256.hex(secret))",
    replace: "make(secret)",
    test: coreTest("ApiKey"),
    titles: "C57:"
  },
  {
    name: "old-lnd-is-good",
    rows: [59],
    bug: "no warning is logged for a version of lnd with a known vulnerability",
    file: "packages/core/src/nodes/Versions.ts",
    in: "judge",
    find: "isBefore(version, fault.fixedIn)",
    replace: "isBefore([version[0], version[1] + 1, 0], fault.fixedIn)",
    test: "packages/core/test/Versions.test.ts",
    titles: "C59:"
  },
  {
    name: "balance-without-fees",
    bug: "an export's lines and running balance omit the fees",
    file: core("reports/Booking"),
    in: "total",
    find: `Msat.sum(amount, serviceFee, networkFee)`,
    replace: `Msat.sum(amount, Msat.make(serviceFee * 0n), Msat.make(networkFee * 0n))`,
    test: inMemory,
    titles: "sums, entries and balance"
  },
  {
    name: "adjustment-as-deposit",
    bug: "an adjustment by operators is exported as money received over the network",
    file: core("reports/Booking"),
    in: "kindOf",
    find: `if (owned(to)) return outside(from) ? "deposit" : "adjustment"`,
    replace: `if (owned(to)) return "deposit"`,
    test: "packages/http/test/exports.test.ts",
    titles: "each adjustment, whether"
  },
  {
    name: "webhook-rendered-when-sent",
    bug: "an event is rendered again for every delivery, and its body is not stored",
    file: core("events/Feed"),
    in: "make",
    find: `for (const one of yield* store.storePublicEvents(made.filter(({ events }) => events.length > 0))) known.set(one.id, one)`,
    replace: `for (const one of made.filter(({ events }) => events.length > 0)) known.set(one.id, one)`,
    test: crashTest,
    titles: "webhooks that their owner requests again$"
  },
  {
    name: "webhook-sender-skips-what-was-looked-at",
    bug: "the webhook sender gets the last cached page of events, whatever position it requested",
    file: core("events/Tail"),
    in: "make",
    find: `looked !== undefined && looked.after <= after`,
    replace: `looked !== undefined`,
    test: "packages/features/test/webhooks/core/Webhooks.test.ts",
    titles: "created while the others are listed"
  },
  {
    name: "one-claim-too-many",
    bug: "a worker claims again although its last claim returned every waiting task",
    file: core("base/WorkSlots"),
    in: "keepFilled",
    find: " || !isMore",
    replace: "",
    test: coreTest("PaymentSlots"),
    titles: "payment worker: a confirmed payment is claimed once"
  },
  {
    name: "listed-late-is-a-difference",
    bug: "a forward that lnd lists late remains a discrepancy once the next forward occurs",
    file: core("reports/reconciliation/Run"),
    in: "corrected",
    find: "Listed.explain(run.node, items) ?",
    replace: "Listed.explain(run.node, []) ?",
    test: coreTest("Listed"),
    titles: "reconciliation: forwards that are always listed late"
  },
  {
    name: "explained-by-whatever-is-listed",
    bug: "a loss is treated as a forward that the node has not listed yet",
    file: core("reports/reconciliation/Listed"),
    in: "explain",
    find: "if (unexplained === 0n || own === null) return false",
    replace: "if (unexplained === 0n || own === null) return false\n  if (items.length > 0) return true",
    test: coreTest("Listed"),
    titles: "reconciliation: a forward that the node never lists"
  },
  {
    name: "closing-may-cost-anything",
    bug: "a closed channel explains a loss of more than a fraction of a satoshi",
    file: core("reports/reconciliation/Listed"),
    in: "roundedAway",
    find: "999n *",
    replace: "1000n *",
    test: coreTest("Listed"),
    titles: "reconciliation: losing a whole satoshi"
  },
  {
    name: "listed-twice",
    bug: "entries that the node lists are counted again in every reconciliation run",
    file: core("reports/reconciliation/Reconciler"),
    in: "make",
    find: "statements.own(known?.place ?? null, options.lines)",
    replace: 'statements.own(known === undefined ? null : "0", options.lines)',
    test: coreTest("Listed"),
    titles: "reconciliation: a forward is counted once"
  },
  {
    name: "pool-evicts-the-smallest",
    bug: "a full pool evicts from the smallest network instead of the largest",
    file: core("base/Pool"),
    in: "heaviest",
    find: "share.size > found.size",
    replace: "share.size < found.size",
    test: coreTest("Pool"),
    titles: "pool:"
  },
  {
    name: "channels-inactive-count",
    bug: "an invoice counts as payable through channels whose peers are offline",
    file: core("nodes/Channels"),
    in: "make",
    find: "found.channels?.active === 0 ? Msat.zero : found.incoming",
    replace: "found.incoming",
    test: coreTest("Channels"),
    titles: "channels: the capacity of inactive channels"
  },
  {
    name: "channels-outage-warns",
    bug: "a node that does not respond counts as one without channels",
    file: core("nodes/Channels"),
    in: "make",
    find: "found === null ? [] : judge(found)",
    replace:
      "judge(found ?? { outgoing: Msat.zero, incoming: Msat.zero, channels: { active: 0, inactive: 0, opening: 0, closing: 0, forceClosing: 0 } })",
    test: coreTest("Channels"),
    titles: "channels: an outage does not cause a warning"
  },
  {
    name: "tracked-payment-hides",
    bug: "a payment that no worker records is never reported, because its job is due soon",
    file: core("reports/reconciliation/LightningItems"),
    in: "heldBack",
    find: "dueAtMillis - nowMillis > trackMillis.maximum",
    replace: "dueAtMillis > nowMillis",
    test: coreTest("Reconciler"),
    titles: "payment_not_booked:"
  },
  {
    name: "settled-counts-as-lost",
    bug: "a released payment that the node lists as settled is not reported",
    file: core("reports/reconciliation/LightningItems"),
    in: "make",
    find: `&& line.state === "pending"`,
    replace: "",
    test: coreTest("LostResults"),
    titles: "lost results: a released payment that the node lists as settled"
  },
  {
    name: "settled-becomes-pending",
    bug: "a payment that the node listed as settled counts as in flight again",
    file: core("reports/reconciliation/LightningItems"),
    in: "make",
    find: ` || line.state === "settled") return line`,
    replace: ") return line",
    test: coreTest("LostResults"),
    titles: "lost results: a released payment that the node lists as settled"
  },
  {
    name: "opening-wallet-forgotten",
    bug: "a theft from the wallet is never reported if the operator declared only the node's funds",
    file: core("reports/reconciliation/Reconciler"),
    in: "make",
    find: "wallet.own !== own.chain ||",
    replace: "",
    test: coreTest("Reconciler"),
    titles: "on_chain_balance: the wallet's opening funds"
  }
]
