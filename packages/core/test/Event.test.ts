import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Event from "../src/ledger/Event.ts"
import * as Nouns from "../src/service/Nouns.ts"

describe("events", () => {
  it("event: the subject of every type is a record of a kind that is declared; of the audit log's head, the head itself", () => {
    const names = new Set<string | null>(Nouns.all.map(({ name }) => name))
    const unknown = Object.entries(Event.subjects).filter(([, noun]) => !names.has(noun))
    assert.deepStrictEqual(unknown, [["audit_head.updated", null]])
    assert.isAbove(Object.keys(Event.subjects).length, 25)
  })

  it("event: a type that is not in the catalogue is refused", () => {
    const isEvent = Schema.is(Event.Event)
    assert.isTrue(isEvent({ type: "invoice.settled", subject: "i" }))
    assert.isFalse(isEvent({ type: "invoice.paid", subject: "i" }))
    assert.isFalse(isEvent({ type: "invoice.settled" }))
  })
})
