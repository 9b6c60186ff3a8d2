import { type Canary, coreTest, inMemory, memory, service } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "one-hash-twice",
    rows: [11, 14],
    bug: "two withdrawals may pay one payment hash",
    file: memory("Withdrawal"),
    in: "hashTaken",
    find: "Option.exists(State.named(state, Withdrawal.noun, { paymentHash }), ({ id }) => id !== byOtherThan)",
    replace: `byOtherThan === ""`,
    test: inMemory,
    titles: "C14:"
  },
  {
    name: "balance-not-checked",
    rows: [12],
    bug: "a hold is not checked against the balance",
    file: service("memory/Verdict"),
    in: "book",
    find: "if (needed > 0n && needed > Balance.available(balance)) return",
    replace: "if (needed < 0n) return",
    test: inMemory,
    titles: "C12:",
    isInStories: true
  },
  {
    name: "balance-checked-outside",
    rows: [12],
    bug: "the balance is checked before the hold instead of together with it",
    file: service("memory/Memory"),
    in: "layer",
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
    name: "transferred-unclaimed",
    rows: [17],
    bug: "a transfer pays an invoice that its withdrawal has not claimed",
    file: memory("Withdrawal"),
    in: "transferred",
    find: `invoice.status !== "claimed" || invoice.claimedBy !== change.id || hashTaken(`,
    replace: "hashTaken(",
    test: inMemory,
    titles: "C17:"
  },
  {
    name: "coin-spent-twice",
    rows: [19],
    bug: "two payouts may spend the same coin",
    file: memory("Withdrawal"),
    in: "offer",
    find: "if (coins.some((coin) => Option.exists(HashMap.get(state.withdrawalByCoin, coin), (id) => id !== row.id)))",
    replace: `if (coins.includes(""))`,
    test: inMemory,
    titles: "C19:"
  },
  {
    name: "stale-fence-accepted",
    rows: [10, 19],
    bug: "a worker that lost its task continues as if it still had the task",
    file: service("memory/Verdict"),
    in: "stale",
    find: "if (Option.getOrUndefined(HashMap.get(state.tasks, taskId))?.token !== token) return",
    replace: "if (token < 0) return",
    test: inMemory,
    titles: "C19:"
  },
  {
    name: "told-before-committed",
    rows: [24],
    bug: "an event is published although its Change is refused",
    file: service("memory/Verdict"),
    in: "apply",
    find: `return "_tag" in next ? [Exit.fail(next), state]`,
    replace: `return "_tag" in next ? [Exit.fail(next), record(state, change)]`,
    test: inMemory,
    titles: "C24:"
  },
  {
    name: "to-oneself",
    rows: [31],
    bug: "a payment to oneself posts only its second half",
    file: service("memory/Verdict"),
    in: "apply",
    find: "next = book(next, leg, ",
    replace: "next = book({ ...next, balances: state.balances }, leg, ",
    test: coreTest("Transfers"),
    titles: "C31:"
  },
  {
    name: "books-drift",
    rows: [41],
    bug: "only the first posting of a Change is recorded as an entry",
    file: service("memory/Verdict"),
    in: "book",
    find: "entries: State.push(state.entries, companyId, ...postings.map(",
    replace: "entries: State.push(state.entries, companyId, ...postings.slice(0, 1).map(",
    test: inMemory,
    titles: "C41:"
  },
  {
    name: "deposit-twice",
    rows: [42],
    bug: "an output that is seen twice becomes two deposits",
    file: memory("State"),
    in: "isTaken",
    find: "HashMap.has(state.names, name)",
    replace: `name === ""`,
    test: inMemory,
    titles: "C42:"
  },
  {
    name: "credited-twice",
    rows: [42, 44],
    bug: "a payment is credited once when notified and again when polled",
    file: memory("Writes"),
    in: "before",
    find: '  if (wasApplied(row, first, change.atMillis)) return "again"\n  return applies(row, first) ? undefined : refused(change, row, first)',
    replace: `  return wasApplied(row, first, change.atMillis) || applies(row, first) ? undefined : refused(change, row, first)`,
    test: coreTest("Settlements"),
    titles: "C42",
    isInStories: true
  },
  {
    name: "anybodys-id",
    rows: [53],
    bug: "anyone who knows an id can read its record",
    file: memory("State"),
    in: "get",
    find: "Option.filter(HashMap.get(of(state, noun), id), (row) => row.companyId === companyId)",
    replace: `Option.filter(HashMap.get(of(state, noun), id), () => companyId !== "")`,
    test: "packages/http/test/foreign.test.ts",
    titles: "C53:"
  },
  {
    name: "frozen-company-sends-in-memory",
    bug: "a commit does not check whether the company is frozen",
    file: service("memory/Verdict"),
    in: "apply",
    find: "earlier ?? overtaken ?? frozen(state, change)",
    replace: "earlier ?? overtaken",
    test: inMemory,
    titles: "freeze:"
  },
  {
    name: "fees-of-before-in-memory",
    bug: "a fee computed before the company's fees changed is charged after the change",
    file: service("memory/Verdict"),
    in: "apply",
    find: " ?? moved(state, change)",
    replace: "",
    test: inMemory,
    titles: "fees:"
  }
]
