import { assert, it } from "@effect/vitest"
import { satrail } from "../src/index.ts"
import { calls } from "./Once.ts"

it("once: in memory, concurrent calls with a key run the work once and get its result", async () => {
  const pay = await satrail.test({ logLevel: "error" })
  const { first } = await calls(pay)
  assert.strictEqual(first?.run, 1)
  await pay.close()
})
