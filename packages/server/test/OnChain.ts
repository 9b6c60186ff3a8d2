import { assert } from "@effect/vitest"
import type { Chain } from "@satrail/regtest/Chain"
import { Effect, Redacted } from "effect"
import * as Service from "./Service.ts"

const passphrase = "correct horse battery"

/** Settings for a chain backed by this node. */
export const settings = ({ url, user, password, certificateFile }: Chain["Service"]) => ({
  CHAIN: "bitcoin-rpc",
  // The scenarios use the demo company's key.
  SATRAIL_DEMO: "yes",
  BITCOIN_RPC_URL: url,
  BITCOIN_RPC_USER: user,
  BITCOIN_RPC_PASSWORD: Redacted.value(password),
  ...(certificateFile !== undefined && { CHAIN_TLS_CERT: certificateFile }),
  CHAIN_WALLET_PASSPHRASE: passphrase
})

/** A service with its own wallet, not started yet. */
export const made = Effect.acquireRelease(
  Effect.promise(async () => {
    const service = Service.make()
    const created = await Service.run("cli", ["wallet", "create", "--network", "regtest"], {
      SATRAIL_DATA: service.data,
      CHAIN_WALLET_PASSPHRASE: passphrase
    }).ended
    assert.strictEqual(created.code, 0, created.stderr)
    return service
  }),
  (service) => Effect.promise(() => service.end())
)
