import * as Binaries from "@satrail/regtest/Binaries"
import { Chain } from "@satrail/regtest/Chain"
import * as Process from "@satrail/regtest/Process"
import { Effect, Redacted } from "effect"
import path from "node:path"

/** Settings for a service that uses the regtest bitcoind and starts the LDK node itself. */
export const settings = Effect.fnUntraced(function* (folder: string) {
  const { url, user, password } = yield* Chain
  const bitcoind = new URL(url)
  bitcoind.username = user
  bitcoind.password = Redacted.value(password)
  return {
    LIGHTNING: "ldk",
    RATES: "fixed",
    SATRAIL_DEMO: "yes",
    SATRAIL_RECONCILE_SECONDS: "1",
    LDK_PROGRAM: yield* Binaries.ensure("ldk"),
    LDK_SOCKET: path.join(folder, "s"),
    LDK_STORE: path.join(folder, "store"),
    LDK_BITCOIND: bitcoind.href,
    LDK_LISTEN: `127.0.0.1:${yield* Process.freePort}`,
    LDK_ALIAS: "dora",
    LDK_INVOICE_SECRET: "of-the-tests-of-ldk-and-of-nobody-else"
  }
})
