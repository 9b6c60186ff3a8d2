import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Nostr from "../src/Nostr.ts"

// Events signed by other programs.
const events: ReadonlyArray<Nostr.Event> = [
  {
    id: "70b10f70c1318967eddf12527799411b1a9780ad9c43858f5e5fcd45486a13a5",
    pubkey: "379e863e8357163b5bce5d2688dc4f1dcc2d505222fb8d74db600f30535dfdfe",
    created_at: 1612809991,
    kind: 1,
    tags: [],
    content: "test",
    sig: "273a9cd5d11455590f4359500bccb7a89428262b96b3ea87a756b770964472f8c3e87f5d5e64d8d2e859a71462a3f477b554565c4f2f326cb01dd7620db71502"
  },
  {
    id: "53443506e7d09e55b922a2369b80f926007a8a8a8ea5f09df1db59fe1993335e",
    pubkey: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
    created_at: 1698632644,
    kind: 1,
    tags: [],
    content: "hello from the nostr army knife",
    sig: "4bdb609c975b2b61338c2ff4c7ce91d4afe74bea4ed1601a62e1fd125bd4c0ae6e0166cca96e5cfb7e0f50583eb6a0dd0b66072566299b6007742db56278010c"
  }
]
const key = Redacted.make("01".padStart(64, "0"))

describe("a Nostr event", () => {
  it("Nostr event: an event signed by another program is verified unchanged", () => {
    for (const event of events) {
      assert.isTrue(Nostr.isGenuine(event))
      for (const forged of [
        { ...event, content: `${event.content}.` },
        { ...event, created_at: event.created_at + 1 },
        { ...event, kind: 2 },
        { ...event, tags: [["p", event.pubkey]] },
        { ...event, id: event.id.replace(/^./, "0") },
        { ...event, pubkey: "ff".repeat(32) },
        { ...event, sig: `${event.sig.slice(0, -1)}e` },
        { ...event, sig: "00".repeat(64) }
      ]) {
        assert.isFalse(Nostr.isGenuine(forged))
      }
    }
  })

  it("Nostr event: an event that we sign is valid, has our key, and has the same bytes every time", () => {
    const draft = { kind: 1, created_at: 1, tags: [["a", 'q"\n\\ü🎉']], content: "line\nline \u2028 end" }
    const event = Nostr.signed(draft, key)
    assert.strictEqual(event.pubkey, events[1]?.pubkey)
    assert.isTrue(Nostr.isGenuine(event))
    assert.deepStrictEqual(Nostr.signed(draft, key), event)
  })
})
