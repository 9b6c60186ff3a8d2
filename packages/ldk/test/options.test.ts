import { assert, describe, it } from "@effect/vitest"
import { OptionsInvalid } from "satrail"
import * as Ldk from "../src/index.ts"

const [directory, bitcoind, program] = [
  "/var/lib/shop/ldk",
  "http://user:password@127.0.0.1:18443",
  "/usr/local/bin/satrail-ldk"
]

describe("ldk", () => {
  it("ldk: the options become the settings of a node that the service starts, and the socket is in the node's directory", () => {
    const { lightning, variables } = Ldk.ldk({
      directory,
      bitcoind,
      program,
      alias: "shop",
      secret: "s".repeat(32)
    })
    assert.strictEqual(lightning, "ldk")
    assert.deepStrictEqual(
      Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)),
      {
        LDK_ALIAS: "shop",
        LDK_BITCOIND: bitcoind,
        LDK_INVOICE_SECRET: "s".repeat(32),
        LDK_PROGRAM: program,
        LDK_SOCKET: `${directory}/socket`,
        LDK_STORE: directory
      }
    )
  })

  it("ldk: the error for an invalid option says what is valid, and does not contain the password", () => {
    const refused = (options: Partial<Ldk.LdkOptions>, message: RegExp) => {
      const error = (() => {
        try {
          return void Ldk.ldk({ directory, program, ...options })
        } catch (cause) {
          return cause
        }
      })()
      assert.instanceOf(error, Error)
      assert.match(error.message, message)
      assert.notInclude(error.message, "password@127")
    }
    for (const given of [undefined, null, {}])
      assert.throws(
        () => Ldk.ldk(given as never),
        OptionsInvalid,
        "ldk's directory must be the path of a directory (got undefined)"
      )
    refused(
      { directory: undefined, bitcoind },
      /^ldk's directory must be the path of a directory \(got undefined\)$/
    )
    refused({ directory: "", bitcoind }, /^ldk's directory must be the path of a directory \(got ""\)$/)
    refused({}, /^ldk needs either bitcoind \(http:\S+\) or esplora/)
    refused({ bitcoind, esplora: "https://example.com" }, /^ldk needs either bitcoind/)
    refused(
      { bitcoind, socket: `/${"s".repeat(107)}` },
      /^ldk's socket must be a path of at most 107 bytes \(got 108\)/
    )
  })

  it("ldk: if the machine has no prebuilt program, the error lists alternatives; if the package is missing, the error names the package", () => {
    assert.throws(
      () => Ldk.program("darwin-arm64"),
      Ldk.ProgramMissing,
      /^there is no prebuilt satrail-ldk for darwin-arm64, only for linux-x64 and/
    )
    // Only releases contain the programs.
    assert.throws(
      () => Ldk.program("linux-arm64"),
      Ldk.ProgramMissing,
      /^@satrail\/ldk-linux-arm64 is not installed: run npm install/
    )
  })
})
