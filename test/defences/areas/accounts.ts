import { type Canary, core, coreTest } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "key-read-in-the-future",
    bug: "after the clock is set back, a cached key stays usable for longer",
    file: core("base/ReadCache"),
    in: "isYoung",
    find: "nowMillis >= beganMillis && ",
    replace: "",
    test: coreTest("ApiKeys"),
    titles: "C52: API key: a clock set back"
  },
  {
    name: "key-checked-before-the-body",
    bug: "a key that is revoked while a request's body arrives still acts",
    file: "packages/http/src/api/Authentication.ts",
    in: "layer",
    find: "changes ? serveCurrent(request, caller) : inLane",
    replace: "inLane",
    test: "packages/http/test/limits.test.ts",
    titles: "before the body is complete"
  },
  {
    name: "key-checked-before-the-lookup",
    bug: "a key that is revoked while a payee's server is slow still sends",
    file: core("sending/WithdrawalDrafts"),
    in: "make",
    find: "const ask = yield* current(request, askedAtMillis)",
    replace: "const ask = request",
    test: coreTest("ApiKeys"),
    titles: "while the payee's server is slow"
  },
  {
    name: "revoked-key-opens",
    rows: [52],
    bug: "a revoked key stays usable until it expires",
    file: core("accounts/ApiKey"),
    in: "refusal",
    find: `  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")
`,
    replace: "",
    test: coreTest("ApiKeys"),
    titles: "C52:"
  },
  {
    name: "revoked-operator-token",
    bug: "a revoked operator token still has full access",
    file: core("accounts/OperatorTokens"),
    in: "open",
    find: `(({ revokedAtMillis }) => revokedAtMillis === null)`,
    replace: `(() => true)`,
    test: "packages/http/test/operators.test.ts",
    titles: "a revoked token stops working"
  },
  {
    name: "own-key-that-sends",
    bug: "a company's key creates another key that can send, which bypasses its limits and approvals",
    file: core("accounts/ApiKey"),
    in: "harmless",
    find: `["read", "receive", "webhooks"] as const`,
    replace: `["read", "receive", "webhooks", "send", "approve", "admin"] as const`,
    test: "packages/http/test/ownKeys.test.ts",
    titles: "no created key can send"
  },
  {
    name: "foreign-key-revoked",
    bug: "a company can revoke another company's key",
    file: core("accounts/ApiKeys"),
    in: "finding",
    find: `(of !== undefined && apiKey.companyId !== of)`,
    replace: `false`,
    test: "packages/http/test/foreign.test.ts",
    titles: "C53:"
  },
  {
    name: "key-without-second-operator",
    bug: "one operator alone can issue a key that sends a company's money",
    file: core("accounts/ApiKeys"),
    in: "approvalOf",
    find: "if (by === undefined || !ApiKey.movesMoney(scopes) || (yield* isNew(companyId))) return null",
    replace: "if (by === undefined || !ApiKey.movesMoney(scopes) || companyId !== null) return null",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator:"
  },
  {
    name: "waiting-key-opens",
    bug: "a key is usable before a second operator approves it",
    file: core("accounts/ApiKey"),
    in: "refusal",
    find: `if (isWaiting(apiKey)) return closed(apiKey, "waiting")`,
    replace: "",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator:"
  },
  {
    name: "key-approved-by-who-asked",
    bug: "the operator who requested a key can approve it",
    file: core("accounts/ApiKey"),
    in: "approved",
    find: "if (approval !== null && isSameOperator(by,",
    replace: "if (approval === null && isSameOperator(by,",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator: a key with"
  },
  {
    name: "loosened-by-one-operator",
    bug: "one operator alone, by asking twice, can loosen the protection of a company with a large balance",
    file: core("accounts/Loosening"),
    in: "waiting",
    find: "return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? pending : undefined",
    replace:
      "return isSame(by, { id: pending.requestedById, name: pending.requestedBy }) ? undefined : undefined",
    test: "packages/http/test/twoOperators.slow.test.ts",
    titles: "two operators:"
  },
  {
    name: "another-loosening-granted",
    bug: "a second operator grants something other than what was requested",
    file: core("accounts/Loosening"),
    in: "waiting",
    find: " && Equal.equals(pending.wanted, wanted)",
    replace: "",
    test: "packages/http/test/twoOperators.slow.test.ts",
    titles: "two operators:"
  },
  {
    name: "raised-limit-is-tighter",
    bug: "raising a limit does not count as loosening it",
    file: core("accounts/Limits"),
    in: "loosens",
    find: "amounts.some((name) => (old[name] ?? Infinity) < (next[name] ?? Infinity)) ||",
    replace: "",
    test: "packages/http/test/loosening.slow.test.ts",
    titles: "operator scopes: the limits"
  },
  {
    name: "pause-answered-early",
    bug: "a pause is confirmed while other processes still act on a cached state",
    file: core("accounts/Stops"),
    in: "make",
    find: `    yield* awaitCacheExpiry
`,
    replace: "",
    test: coreTest("Stops"),
    titles: "pause: once a request to pause returns"
  }
]
