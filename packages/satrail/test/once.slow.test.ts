import { assert, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { satrail } from "../src/index.ts"
import { calls } from "./Once.ts"

it("once: with the embedded database, the result is stored, also when the program closes during the work", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "satrail-once-"))
  const open = () => satrail({ directory, logLevel: "error" })
  try {
    const pay = await open()
    const { company, first } = await calls(pay)
    const begun = Promise.withResolvers<void>()
    const going = Promise.withResolvers<string>()
    const last = pay.once(company, "last", () => {
      begun.resolve()
      return going.promise
    })
    await begun.promise
    const closed = pay.close()
    going.resolve("shipped")
    await closed
    assert.strictEqual(await last, "shipped")
    const later = await open()
    const again = () => assert.fail("it ran again")
    assert.deepStrictEqual(await later.once(company, "order-1", again), first)
    assert.strictEqual(await later.once(company, "last", again), "shipped")
    await later.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
