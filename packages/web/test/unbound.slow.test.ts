import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@satrail/testing/freePort"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Dns from "../src/Dns.ts"
import * as Unbound from "./Unbound.ts"

const found = Unbound.find()
if (typeof found === "string") process.stderr.write(`the test with a real resolver is skipped: ${found}\n`)

const head = (origin: string) =>
  `$ORIGIN ${origin}.\n$TTL 60\n@ IN SOA ns.${origin}. root.${origin}. 1 3600 600 86400 60\n@ IN NS ns.${origin}.\nns IN A 127.0.0.1\n`
const long = `bitcoin:?lno=lno1${"q".repeat(600)}`
const strings = (text: string) => (text.match(/.{1,255}/g) ?? []).map((one) => `"${one}"`).join(" ")

const signed = `${head("shop.example")}alice.user._bitcoin-payment IN TXT ${strings(long)}
alice.user._bitcoin-payment IN TXT "v=spf1 -all"
bob.user._bitcoin-payment IN CNAME alice.user._bitcoin-payment
carol.user._bitcoin-payment IN TXT "bitcoin:?lno=lno1carol"
dave.user._bitcoin-payment IN CNAME alice.user._bitcoin-payment.plain.example.
*.user._bitcoin-payment IN TXT "bitcoin:?lno=lno1any"
`
const plain = `${head("plain.example")}alice.user._bitcoin-payment IN TXT "bitcoin:?lno=lno1plain"\n`

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(os.tmpdir(), "satrail-unbound-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const resolver = Effect.fnUntraced(function* (programs: Unbound.Programs) {
  const folder = yield* temporary
  const { zoneFile, keyFile } = Unbound.sign(programs, folder, "shop.example", signed)
  Unbound.forge(zoneFile, "lno1carol", "lno1other")
  const plainFile = path.join(folder, "plain.zone")
  writeFileSync(plainFile, plain)
  const port = yield* Effect.promise(freePort)
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof Unbound.start>, Error>((resume) => {
      const child = Unbound.start(programs, folder, port, keyFile, {
        "shop.example": zoneFile,
        "plain.example": plainFile
      })
      let said = ""
      child.stderr.on("data", (text: Buffer) => {
        said += text.toString()
        if (said.includes("start of service")) resume(Effect.succeed(child))
      })
      child.once("exit", () => resume(Effect.fail(new Error(said))))
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  return (
    Dns.make({ validating: [new URL(`tcp://127.0.0.1:${port}`)] }).validated ??
    (() => Effect.die("no resolver"))
  )
})

describe.skipIf(typeof found === "string")("a real validating resolver", () => {
  it.live(
    "BIP 353: signed, forged, unsigned and missing records from unbound are interpreted correctly",
    () =>
      Effect.gen(function* () {
        const validated = yield* resolver(
          yield* typeof found === "string" ? Effect.die(found) : Effect.succeed(found)
        )
        const at = (user: string, domain = "shop.example") =>
          validated(`${user}.user._bitcoin-payment.${domain}`)
        for (const user of ["alice", "bob", "ALICE"]) {
          const { texts, isSigned } = yield* at(user)
          assert.deepStrictEqual([texts.toSorted(), isSigned], [[long, "v=spf1 -all"], true], user)
        }
        assert.deepStrictEqual(yield* at("anybody"), { texts: ["bitcoin:?lno=lno1any"], isSigned: true })
        // A wrong signature counts as no response.
        assert.strictEqual((yield* Effect.flip(at("carol")))._tag, "DnsUnavailable")
        // The zone plain.example is unsigned, and a signed alias of another zone points to it.
        for (const [user, domain] of [
          ["alice", "plain.example"],
          ["dave", "shop.example"]
        ] as const)
          assert.deepStrictEqual(
            yield* at(user, domain),
            { texts: ["bitcoin:?lno=lno1plain"], isSigned: false },
            user
          )
        assert.deepStrictEqual(yield* validated("ns.shop.example"), { texts: [], isSigned: true })
        assert.deepStrictEqual(yield* validated("nobody.shop.example"), { texts: [], isSigned: true })
        assert.deepStrictEqual(yield* at("nobody", "plain.example"), { texts: [], isSigned: false })
      })
  )
})
