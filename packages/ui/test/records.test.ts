import { assert, describe, it } from "@effect/vitest"
import { recordOf } from "../src/console/features/audit/Audit.ts"
import { features } from "../src/console/features/index.ts"

describe("ui", () => {
  it("audit log: every feature with a word for its records has a page of one record", () => {
    const found = features.flatMap(({ name, record, operatorRecord, pages = [], operatorPages = [] }) => {
      const isMissing = (those: ReadonlyArray<{ readonly path: string }>) => !those.some(({ path }) => path === `${name}/:id`)
      return [
        ...(record !== undefined && isMissing(pages) ? [name] : []),
        ...(operatorRecord !== undefined && isMissing(operatorPages) ? [`operator ${name}`] : [])
      ]
    })
    assert.deepStrictEqual(found, [])
    assert.isAbove(features.filter(({ record }) => record !== undefined).length, 4)
  })

  it("audit log: an entry links to the page of its record, and shows the id of a record without a page", () => {
    const entry = { verb: "vouchers.cancelVoucher", subject: "1" }
    const to = (path: string) => `/console/${path}`
    assert.deepInclude(recordOf(entry, { to }, { vouchers: "Voucher" }), { props: { href: "/console/vouchers/1", children: ["Voucher"] } })
    assert.strictEqual(recordOf(entry, { to }, {}), "1")
  })
})
