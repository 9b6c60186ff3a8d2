import { type Canary, feature, featureTest } from "../../../../test/defences/Canary.ts"

const test = "packages/features/test/platform/http/platform.test.ts"

export const platform: ReadonlyArray<Canary> = [
  {
    name: "platform-key-manages-keys",
    bug: "a platform key with `admin` creates API keys for the account",
    file: "packages/http/src/api/Authentication.ts",
    in: "layer",
    find: "manages && caller.kind !== undefined",
    replace: "manages && caller.kind === undefined && isOpen === undefined",
    test,
    titles: "platform: no key shows or changes the company's keys and people"
  },
  {
    name: "platform-key-approved-alone",
    bug: "the operator who requests a platform key that sends approves it",
    file: feature("platform/core/PlatformKey"),
    in: "approved",
    find: 'if (requestedById !== null && isSame(by, { id: requestedById, name: requestedBy ?? "" }))',
    replace: 'if (requestedById !== null && isSame(by, { id: "", name: "" }))',
    test,
    titles: "platform: a key that can send needs another operator's approval"
  },
  {
    name: "platform-key-revoked-late",
    bug: "a revocation returns while processes still accept the key",
    file: feature("platform/core/PlatformKeys"),
    in: "make",
    find: "      yield* journal.commit(PlatformKey.revoked(yield* get(id), yield* Clock.currentTimeMillis))\n      yield* awaitCacheExpiry",
    replace:
      "      yield* journal.commit(PlatformKey.revoked(yield* get(id), yield* Clock.currentTimeMillis))",
    test,
    titles: "platform: a revoked key and a revoked request are not valid"
  },
  {
    name: "platform-header-ignored",
    bug: "a company's key that names another account acts for its own",
    file: "packages/http/src/api/Credentials.ts",
    in: "make",
    find: "if (other === undefined) return Effect.void",
    replace: 'if (other === undefined || other.prefix !== "") return Effect.void',
    test,
    titles: "platform: every route rejects the header with a company's key"
  },
  {
    name: "platform-key-request-outlives-key",
    bug: "a payment that a platform key requested is approved after the key was revoked",
    file: feature("platform/core/PlatformHooks"),
    in: "layer",
    find: "return isValid && ApiKey.movesMoney(key.scopes) ? { limits: key.limits } : undefined",
    replace: "return isValid || key.limits !== null ? { limits: key.limits } : undefined",
    test,
    titles: "platform: a payment that waits for approval ends with the key that requested it"
  },
  {
    name: "platform-key-sends-without-scope",
    bug: "a payment of a platform key without the scope is sent",
    file: feature("platform/core/PlatformHooks"),
    in: "layer",
    find: "isValid && ApiKey.movesMoney(key.scopes)",
    replace: "isValid",
    test: featureTest("platform/core/PlatformHooks"),
    titles: "platform: a key may send only with the scope"
  }
]
