import { type Canary, core, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const walletConnect: ReadonlyArray<Canary> = [
  {
    name: "app-of-a-live-key",
    bug: "one operator alone connects an app to an active key and can send with it",
    file: feature("wallet-connect/core/WalletConnections"),
    in: "make",
    find: "if (by !== undefined && refusal === undefined && ApiKey.movesMoney(scopes)",
    replace: "if (by !== undefined && refusal !== undefined && ApiKey.movesMoney(scopes)",
    test: "packages/features/test/wallet-connect/http/walletConnections.test.ts",
    titles: "second operator: an app"
  },
  {
    name: "wallet-replay",
    bug: "an app's repeated event causes another payment",
    file: feature("wallet-connect/core/WalletPayments"),
    in: "requestOf",
    find: "key: keyOf(event)",
    replace: "key: `${keyOf(event)}:${Math.random()}`",
    test: "packages/features/test/wallet-connect/core/WalletRequests.test.ts",
    titles: "repeating the event later returns the payment's result$"
  },
  {
    name: "wallet-limitless",
    bug: "an app is subject to its company's limits but not to the limits of its key",
    file: feature("wallet-connect/core/WalletPayments"),
    in: "make",
    find: "      apiKey,\n      asked: undefined,",
    replace: "      asked: undefined,",
    test: "packages/web/test/walletConnect.test.ts",
    titles: "wallet connect: an app pays within its key's limit"
  },
  {
    name: "wallet-revoked",
    bug: "an app stays connected after its key is revoked",
    file: core("accounts/ApiKey"),
    in: "refusal",
    find: '  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")\n',
    replace: "",
    test: "packages/web/test/walletConnect.test.ts",
    titles: "wallet connect: an app does what its key's scopes allow"
  },
  {
    name: "wallet-pending-failed",
    bug: "an app is notified that a pending payment failed, and pays again",
    file: feature("wallet-connect/core/WalletPayments"),
    in: "resultOf",
    find: 'refuse("OTHER", isWaiting',
    replace: 'refuse("PAYMENT_FAILED", isWaiting',
    test: featureTest("wallet-connect/core/WalletRequests"),
    titles: "wallet connect: a pending payment"
  },
  {
    name: "wallet-tells-all",
    bug: "every app of a company is notified of its payments, whatever its key may read",
    file: feature("wallet-connect/core/WalletNotices"),
    in: "make",
    find: ' && ApiKey.allows(apiKey, "read")',
    replace: "",
    test: featureTest("wallet-connect/core/WalletNotices"),
    titles: "wallet connect: apps whose keys may read"
  },
  {
    name: "wallet-outage-is-failure",
    bug: "an app learns that a payment failed, although it may have been made",
    file: feature("wallet-connect/core/WalletPayments"),
    in: "make",
    find: `StoreUnavailable: () => refuse("INTERNAL", unknown)`,
    replace: `StoreUnavailable: () => refuse("PAYMENT_FAILED", unknown)`,
    test: featureTest("wallet-connect/core/WalletRequests"),
    titles: "wallet connect: a payment that may have been made"
  },
  {
    name: "wallet-failure-untold",
    bug: "an app does not learn that nothing was paid",
    file: feature("wallet-connect/core/WalletPayments"),
    in: "resultOf",
    find: 'refuse("PAYMENT_FAILED", `Nothing',
    replace: 'refuse("OTHER", `Nothing',
    test: featureTest("wallet-connect/core/WalletRequests"),
    titles: "wallet connect: a payment that failed for good"
  }
]
