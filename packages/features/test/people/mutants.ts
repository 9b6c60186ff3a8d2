import { type Canary, core, feature, featureTest } from "../../../../test/defences/Canary.ts"

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
  },
  {
    name: "step-up-before-its-time",
    bug: "after the clock is set back, a step-up stays valid for longer",
    file: feature("people/core/Session"),
    in: "steppedUpUntil",
    find: " && nowMillis >= steppedUpAtMillis",
    replace: "",
    test: featureTest("people/core/Sessions"),
    titles: "session: a step-up does not count"
  },
  {
    name: "session-outlives-its-key",
    bug: "a session stays usable after its key was revoked",
    file: core("accounts/KeyChecks"),
    in: "make",
    find: `return yield* open(found.value, yield* Clock.currentTimeMillis)`,
    replace: `return found.value`,
    test: "packages/features/test/people/http/session.test.ts",
    titles: "session: a session ends immediately when its key"
  },
  {
    name: "session-of-any-secret",
    bug: "anyone who knows a key's id can use its sessions",
    file: feature("people/core/Sessions"),
    in: "make",
    find: `ApiKey.isSame(Session.hashOf(proof, session, sign), session.secretHash) && Session.isOpen(session, nowMillis)`,
    replace: `Session.isOpen(session, nowMillis)`,
    test: featureTest("people/core/Sessions"),
    titles: "a session can be used only with the exact text"
  },
  {
    name: "session-unsigned",
    bug: "the hash of a session can be computed without the service's key",
    file: feature("people/core/Session"),
    in: "hashOf",
    find: `sign === undefined`,
    replace: `sign !== null`,
    test: featureTest("people/core/Sessions"),
    titles: "a row written by someone who has the database"
  },
  {
    name: "session-from-another-origin",
    bug: "a page of another origin can use its visitor's session",
    file: "packages/features/src/people/http/Session.ts",
    in: "make",
    find: `if (!isOwn(request)) return yield* Effect.fail(foreign)`,
    replace: ``,
    test: "packages/features/test/people/http/session.test.ts",
    titles: "another origin's page cannot use a session"
  },
  {
    name: "money-without-step-up",
    bug: "a session can move money without re-entering the key",
    file: "packages/features/src/people/http/Session.ts",
    in: "make",
    find: `if (Session.steppedUpUntil(session, yield* Clock.currentTimeMillis) === null)`,
    replace: `if (session.steppedUpAtMillis === 0)`,
    test: "packages/features/test/people/http/session.test.ts",
    titles: "sending requires the same key"
  }
]
