import { assert, describe, it } from "@effect/vitest"
import { vouchers } from "@satrail/features/vouchers/core"
import * as Feature from "../src/ledger/Feature.ts"
import * as Catalogue from "@satrail/service/core/Catalogue"
import type { Change } from "../src/service/Changes.ts"
import * as Nouns from "@satrail/service/core/Nouns"

describe("events", () => {
  it("event: each event's subject is a declared record type, except that of the event for the audit log's head", () => {
    const names = new Set<string | null>(Nouns.all.map(({ name }) => name))
    const unknown = Array.from(Catalogue.events).filter(([, noun]) => !names.has(noun))
    assert.deepStrictEqual(unknown, [["audit_head.updated", null]])
    assert.isAbove(Catalogue.events.size, 25)
  })

  it("event: a feature that does not declare the events of its Changes does not compile", () => {
    const { events, ...rest } = vouchers
    assert.deepStrictEqual(Object.keys(events).length, 4)
    Feature.make({
      ...rest,
      // @ts-expect-error -- voucher.canceled is published but not declared
      events: { "voucher.created": "vouchers", "voucher.claimed": "vouchers", "voucher.expired": "vouchers" }
    })
  })

  it("event: code with the tag of a nonexistent Change does not compile", () => {
    const is = (change: Change["_tag"]) => change
    assert.strictEqual(is("VoucherCreated"), "VoucherCreated")
    // @ts-expect-error -- there is no such Change
    is("VoucherPaid")
  })
})
