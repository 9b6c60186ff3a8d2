import { originOf } from "@satrail/core/accounts/Installation"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Environment from "../src/deployment/Environment.ts"
import * as Links from "../src/deployment/Links.ts"

const origin = (env: Readonly<Record<string, string>>): string => {
  const environment = Result.getOrThrow(Environment.read({ SATRAIL_DATA: "/tmp/none", ...env }))
  return originOf(Links.hostOf(environment) ?? environment.domain)
}

describe("link targets", () => {
  for (const [env, expected] of [
    [{}, "http://127.0.0.1:8080"],
    [{ PORT: "9090" }, "http://127.0.0.1:9090"],
    [{ HOST: "::1" }, "http://[::1]:8080"],
    [{ HOST: "0.0.0.0" }, "http://localhost:8080"],
    // The port differs each time, so it is unknown when the services are built.
    [{ PORT: "0" }, "https://satrail.localhost"],
    [{ SATRAIL_DOMAIN: "pay.example.com" }, "https://pay.example.com"],
    [
      { SATRAIL_DOMAIN: "example.com", SATRAIL_PUBLIC_URL: "https://pay.example.com" },
      "https://pay.example.com"
    ],
    [{ SATRAIL_PUBLIC_URL: "https://pay.example.com:8443" }, "https://pay.example.com:8443"],
    [{ SATRAIL_PUBLIC_URL: "http://localhost:3000" }, "http://localhost:3000"],
    [
      { SATRAIL_DOMAIN: "example.com", SATRAIL_PUBLIC_URL: "https://example.com/pay" },
      "https://example.com/pay"
    ],
    [{ SATRAIL_PUBLIC_URL: "http://localhost:3000/pay" }, "http://localhost:3000/pay"],
    // Wallets follow links only with TLS.
    [{ SATRAIL_DOMAIN: "example.com", SATRAIL_PUBLIC_URL: "http://example.com" }, "https://example.com"]
  ] as const)
    it(`links: with the settings ${JSON.stringify(env)}, links lead to ${expected}`, () =>
      assert.strictEqual(origin(env), expected))
})
