import { type Canary, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const people: ReadonlyArray<Canary> = [
  {
    name: "invitation-used-twice",
    bug: "two people join with the same invitation in the same millisecond",
    file: feature("people/core/Person"),
    in: "again",
    find: `same: ["revision"]`,
    replace: `same: ["updatedAtMillis"]`,
    test: featureTest("people/core/People"),
    titles: "people:"
  },
  {
    name: "key-invites-sender",
    bug: "an API key with limits invites an administrator who has none",
    file: feature("people/core/People"),
    in: "mayManage",
    find: `by._tag === "Key" && Role.sends(role)`,
    replace: `by._tag === "Key" && role === undefined`,
    test: featureTest("people/core/People"),
    titles: "people: an API key can manage people who read and receive"
  },
  {
    name: "one-operator-invites-sender",
    bug: "one operator alone invites a person who can send a company's money",
    file: feature("people/core/People"),
    in: "makeWaiting",
    find: `!Role.sends(role) || (yield* isNew(companyId))`,
    replace: `!Role.sends(role) || by.operator.id !== ""`,
    test: featureTest("people/core/People"),
    titles: "people: once a company is in use"
  },
  {
    name: "approval-by-sock-puppet",
    bug: "administrators approve their own withdrawals by signing in as a person whom they invited",
    file: feature("people/core/PeopleHooks"),
    in: "layerDeciders",
    find: `return [...(yield* partyOf(other))].some((id) => party.has(id))`,
    replace: `return party.has(other)`,
    test: featureTest("people/core/People"),
    titles: "approval: a person cannot approve the withdrawals"
  },
  {
    name: "recovery-separates-sock-puppet",
    bug: "an administrator whom a colleague recovered approves withdrawals as a person whom they invited before",
    file: feature("people/core/Person"),
    in: "vouched",
    find: `...sponsorsOf(person), by`,
    replace: `by`,
    test: featureTest("people/core/People"),
    titles: "approval: the people who invited"
  }
]
