import { type Canary, core, coreTest } from "../Canary.ts"

export const walletConnect: ReadonlyArray<Canary> = [
  {
    name: "app-of-a-live-key",
    rows: [],
    bug: "one operator alone connects an app to a key that is in use, and can send with it",
    file: core("features/wallet-connect/WalletConnections"),
    find: "if (by !== undefined && refusal === undefined && ApiKey.movesMoney(scopes)",
    replace: "if (by !== undefined && refusal !== undefined && ApiKey.movesMoney(scopes)",
    test: "packages/http/test/approvedKeys.test.ts",
    titles: "second operator: an app"
  },
  {
    name: "wallet-replay",
    rows: [],
    bug: "each time that an app's event comes it is another payment",
    file: core("features/wallet-connect/WalletPayments"),
    find: "key: `nwc:${event.id}`",
    replace: "key: `nwc:${event.id}:${Math.random()}`",
    test: "packages/core/test/WalletRequests.test.ts",
    titles: "and the same event has its end later$"
  },
  {
    name: "wallet-limitless",
    rows: [],
    bug: "an app is held to the limits of its company, and not to those of its key",
    file: core("features/wallet-connect/WalletPayments"),
    find: "      apiKey,\n      asked: undefined,",
    replace: "      asked: undefined,",
    test: "packages/web/test/walletConnect.test.ts",
    titles: "wallet connect: an app pays within its key's limit"
  },
  {
    name: "wallet-revoked",
    rows: [],
    bug: "an app goes on with a key that is revoked",
    file: core("accounts/ApiKey"),
    find: '  if (apiKey.revokedAtMillis !== null) return closed(apiKey, "revoked")\n',
    replace: "",
    test: "packages/web/test/walletConnect.test.ts",
    titles: "wallet connect: an app does what its key's scopes allow"
  },
  {
    name: "wallet-pending-failed",
    rows: [],
    bug: "an app is told that a payment failed which is pending, and pays again",
    file: core("features/wallet-connect/WalletPayments"),
    find: 'refuse("OTHER", approval === "waiting"',
    replace: 'refuse("PAYMENT_FAILED", approval === "waiting"',
    test: coreTest("WalletRequests"),
    titles: "wallet connect: a payment that is pending"
  },
  {
    name: "wallet-tells-all",
    rows: [],
    bug: "every app of a company is told of its payments, whatever its key may read",
    file: core("features/wallet-connect/WalletNotices"),
    find: ' && ApiKey.allows(apiKey, "read")',
    replace: "",
    test: coreTest("WalletNotices"),
    titles: "wallet connect: apps whose keys may read"
  }
]
