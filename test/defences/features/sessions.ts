import { type Canary, core, coreTest } from "../Canary.ts"

export const sessions: ReadonlyArray<Canary> = [
  {
    name: "step-up-before-its-time",
    rows: [],
    bug: "a clock that was put back prolongs a step-up",
    file: core("features/sessions/Session"),
    find: " && nowMillis >= steppedUpAtMillis",
    replace: "",
    test: coreTest("Sessions"),
    titles: "session: a step-up does not count"
  },
  {
    name: "session-outlives-its-key",
    rows: [],
    bug: "a session goes on opening everything after its key was revoked",
    file: core("accounts/KeyChecks"),
    find: `return yield* open(found.value, yield* Clock.currentTimeMillis)`,
    replace: `return found.value`,
    test: "packages/http/test/session.test.ts",
    titles: "it ends at once with its key"
  },
  {
    name: "session-of-any-secret",
    rows: [],
    bug: "whoever knows a key's id has its sessions",
    file: core("features/sessions/Sessions"),
    find: `ApiKey.isSame(hash, session.secretHash) && Session.isOpen(session, nowMillis)`,
    replace: `Session.isOpen(session, nowMillis)`,
    test: coreTest("Sessions"),
    titles: "its own text opens it"
  },
  {
    name: "session-from-another-origin",
    rows: [],
    bug: "another origin's page acts by the session of its visitor",
    file: "packages/http/src/features/sessions/Session.ts",
    find: `if (!isOwn(request)) return yield* Effect.fail(foreign)`,
    replace: ``,
    test: "packages/http/test/session.test.ts",
    titles: "another origin's page opens nothing"
  },
  {
    name: "money-without-step-up",
    rows: [],
    bug: "a session moves money without its key being shown again",
    file: "packages/http/src/features/sessions/Session.ts",
    find: `if (Session.steppedUpUntil(session, yield* Clock.currentTimeMillis) === null)`,
    replace: `if (session.steppedUpAtMillis === 0)`,
    test: "packages/http/test/session.test.ts",
    titles: "money moves only once"
  }
]
