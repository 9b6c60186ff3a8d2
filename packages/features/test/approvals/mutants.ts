import {
  type Canary,
  core,
  coreTest,
  feature,
  featureTest,
  inMemory
} from "../../../../test/defences/Canary.ts"

export const approvals: ReadonlyArray<Canary> = [
  {
    name: "asker-approves",
    bug: "the key that requested a withdrawal can approve it",
    file: feature("approvals/core/Approvals"),
    in: "make",
    find: "(yield* isSame(by, row.approvalAskedBy))",
    replace: "by === row.id",
    test: featureTest("approvals/core/Approvals"),
    titles: "approval: neither the requesting key"
  },
  {
    name: "sent-unapproved",
    bug: "a withdrawal that waits for approval already has a job to send it",
    file: core("sending/Withdrawal"),
    in: "requested",
    find: `jobs: withdrawal.approval === "waiting" ? [] : [`,
    replace: `jobs: withdrawal.approval === "rejected" ? [] : [`,
    test: featureTest("approvals/core/Approvals"),
    titles: "approval: a withdrawal above the threshold"
  },
  {
    name: "approved-after-rejection",
    bug: "a rejected or expired withdrawal can be approved after its hold was released",
    file: feature("approvals/core/Approval"),
    in: "life",
    find: `  approved: Noun.move(Withdrawal.noun, "approved", {
    from: waiting,
    expects: ["approval"],`,
    replace: `  approved: Noun.move(Withdrawal.noun, "approved", {
    from: ["pending", "failed"],
    expects: [],`,
    test: inMemory,
    titles: "approval: a rejection or expiry"
  },
  {
    name: "approved-at-any-fee",
    bug: "a withdrawal is approved although the network fee exceeds its hold",
    file: feature("approvals/core/Approvals"),
    in: "make",
    find: "if (fee.network > row.networkAllowance)",
    replace: "if (fee.network > row.amount)",
    test: featureTest("approvals/core/Approvals"),
    titles: "approval: if the fee exceeds the amount held"
  },
  {
    name: "hook-hides-refusal",
    bug: "if one hook delays a withdrawal, the hooks that would reject the withdrawal are skipped",
    file: core("sending/WithdrawalHooks"),
    in: "make",
    find: "      waits ??= found\n",
    replace: "      if (found !== undefined) return found\n",
    test: coreTest("WithdrawalHooks"),
    titles: "withdrawal hooks: a withdrawal delayed by the application"
  },
  {
    name: "approved-unasked",
    bug: "a delayed withdrawal is approved without calling the hooks again",
    file: core("sending/WithdrawalDrafts"),
    in: "make",
    find: "      yield* mayBegin({ spender: { company }, recipient, withdrawal: row })\n",
    replace: "",
    test: coreTest("WithdrawalHooks"),
    titles: "withdrawal hooks: a withdrawal delayed by the application"
  },
  {
    name: "approval-at-threshold",
    bug: "a withdrawal of exactly the threshold waits for approval",
    file: feature("approvals/core/ApprovalHook"),
    in: "thresholdOf",
    find: "amount > Msat.fromSats",
    replace: "amount >= Msat.fromSats",
    test: featureTest("approvals/core/Approvals"),
    titles: "approval: a withdrawal of exactly the threshold"
  },
  {
    name: "approval-outlives-offer",
    bug: "a withdrawal to an offer waits for approval after the offer expired",
    file: feature("approvals/core/ApprovalHook"),
    in: "waits",
    find: "(recipient.bolt12.absoluteExpirySeconds ?? Infinity) * 1000",
    replace: "Infinity",
    test: featureTest("approvals/core/Approvals"),
    titles: "approval: a withdrawal to an offer waits"
  }
]
