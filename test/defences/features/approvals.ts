import { type Canary, core, coreTest, inMemory } from "../Canary.ts"

export const approvals: ReadonlyArray<Canary> = [
  {
    name: "asker-approves",
    rows: [],
    bug: "the key that asked for a withdrawal approves it",
    file: core("features/approvals/Approvals"),
    find: "if (by === row.approvalAskedBy)",
    replace: "if (by === row.id)",
    test: coreTest("Approvals"),
    titles: "approval: the key that asked"
  },
  {
    name: "sent-unapproved",
    rows: [],
    bug: "a withdrawal that waits to be approved has the job of sending it",
    file: core("sending/Withdrawal"),
    find: `jobs: withdrawal.approval === "waiting" ? [] : [`,
    replace: `jobs: withdrawal.approval === "rejected" ? [] : [`,
    test: coreTest("Approvals"),
    titles: "approval: above the threshold"
  },
  {
    name: "approved-after-rejection",
    rows: [],
    bug: "what was rejected or has expired can be approved, with its money given back",
    file: core("features/approvals/Approval"),
    find: `  approved: Noun.move(Withdrawal.noun, "approved", {
    from: waiting,
    expects: ["approval"],`,
    replace: `  approved: Noun.move(Withdrawal.noun, "approved", {
    from: ["pending", "failed"],
    expects: [],`,
    test: inMemory,
    titles: "approval: rejected or expired"
  },
  {
    name: "approved-at-any-fee",
    rows: [],
    bug: "a withdrawal is approved for more of a network's fee than it holds",
    file: core("features/approvals/Approvals"),
    find: "if (fee.network > row.networkAllowance)",
    replace: "if (fee.network > row.amount)",
    test: coreTest("Approvals"),
    titles: "approval: a fee that has risen"
  },
  {
    name: "hook-hides-refusal",
    rows: [],
    bug: "a withdrawal that one hook has wait is not shown to the others, which would refuse it",
    file: core("sending/WithdrawalHooks"),
    find: "      waits ??= found\n",
    replace: "      if (found !== undefined) return found\n",
    test: coreTest("WithdrawalHooks"),
    titles: "withdrawal hooks: what a host has wait"
  },
  {
    name: "approved-unasked",
    rows: [],
    bug: "a withdrawal that waited is approved without asking the hooks again",
    file: core("sending/WithdrawalDrafts"),
    find: "      yield* mayBegin({ spender: { company }, recipient, withdrawal: row })\n",
    replace: "",
    test: coreTest("WithdrawalHooks"),
    titles: "withdrawal hooks: what a host has wait"
  }
]
