import { type Canary, core, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const sessions: ReadonlyArray<Canary> = [
  {
    name: "step-up-before-its-time",
    bug: "after the clock is set back, a step-up stays valid for longer",
    file: feature("sessions/core/Session"),
    in: "steppedUpUntil",
    find: " && nowMillis >= steppedUpAtMillis",
    replace: "",
    test: featureTest("sessions/core/Sessions"),
    titles: "session: a step-up does not count"
  },
  {
    name: "session-outlives-its-key",
    bug: "a session stays usable after its key was revoked",
    file: core("accounts/KeyChecks"),
    in: "make",
    find: `return yield* open(found.value, yield* Clock.currentTimeMillis)`,
    replace: `return found.value`,
    test: "packages/features/test/sessions/http/session.test.ts",
    titles: "session: a session ends immediately when its key"
  },
  {
    name: "session-of-any-secret",
    bug: "anyone who knows a key's id can use its sessions",
    file: feature("sessions/core/Sessions"),
    in: "make",
    find: `ApiKey.isSame(Session.hashOf(proof, session, sign), session.secretHash) && Session.isOpen(session, nowMillis)`,
    replace: `Session.isOpen(session, nowMillis)`,
    test: featureTest("sessions/core/Sessions"),
    titles: "a session can be used only with the exact text"
  },
  {
    name: "session-unsigned",
    bug: "the hash of a session can be computed without the service's key",
    file: feature("sessions/core/Session"),
    in: "hashOf",
    find: `sign === undefined`,
    replace: `sign !== null`,
    test: featureTest("sessions/core/Sessions"),
    titles: "a row written by someone who has the database"
  },
  {
    name: "session-from-another-origin",
    bug: "a page of another origin can use its visitor's session",
    file: "packages/features/src/sessions/http/Session.ts",
    in: "make",
    find: `if (!isOwn(request)) return yield* Effect.fail(foreign)`,
    replace: ``,
    test: "packages/features/test/sessions/http/session.test.ts",
    titles: "another origin's page cannot use a session"
  },
  {
    name: "money-without-step-up",
    bug: "a session can move money without re-entering the key",
    file: "packages/features/src/sessions/http/Session.ts",
    in: "make",
    find: `if (Session.steppedUpUntil(session, yield* Clock.currentTimeMillis) === null)`,
    replace: `if (session.steppedUpAtMillis === 0)`,
    test: "packages/features/test/sessions/http/session.test.ts",
    titles: "sending requires the same key"
  }
]
