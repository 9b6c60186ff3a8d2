import { assert } from "@effect/vitest"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { Context, Effect, Exit, Redacted } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"
import { hex } from "../Fixtures.ts"

/** The contract's peer: relays that behave as their names say. */
export class Peer extends Context.Service<
  Peer,
  {
    readonly takes: string
    readonly refuses: string
    /** An address without a server. */
    readonly away: string
    /** The events that a relay stores. */
    readonly events: (relay: string) => Effect.Effect<ReadonlyArray<Nostr.Event>, unknown>
  }
>()("@satrail/contracts/nodes/Relays/Peer") {}

const event = Effect.gen(function* () {
  const content = `zap \n"${yield* hex(8)}" ☕`
  return Nostr.signed(
    { kind: 9735, created_at: 1_700_000_000, tags: [["p", yield* hex(32)]], content },
    Redacted.make("21".repeat(32))
  )
})

const has = Effect.fnUntraced(function* (relay: string, { id }: Nostr.Event) {
  const { events } = yield* Peer
  return (yield* events(relay)).filter((one) => one.id === id)
})

/** Guarantees about relays. A zap receipt is not money, but the payer waits for it. */
export const other = {
  "an event that a relay accepts is stored byte for byte": Effect.gen(function* () {
    const [{ publish }, { takes }] = [yield* Nostr.Relays, yield* Peer]
    const told = yield* event
    assert.strictEqual(yield* publish(takes, told), "taken")
    const kept = yield* eventually(has(takes, told), ({ length }) => length > 0)
    assert.deepStrictEqual(kept, [told])
  }),
  "an event that is sent twice is accepted twice and stored once": Effect.gen(function* () {
    const [{ publish }, { takes }] = [yield* Nostr.Relays, yield* Peer]
    const told = yield* event
    for (let i = 0; i < 3; i++) assert.strictEqual(yield* publish(takes, told), "taken")
    assert.lengthOf(yield* eventually(has(takes, told), ({ length }) => length > 0), 1)
  }),
  "a relay's rejection is reported as rejected": Effect.gen(function* () {
    const [{ publish }, { refuses }] = [yield* Nostr.Relays, yield* Peer]
    const told = yield* event
    assert.strictEqual(yield* publish(refuses, told), "refused")
    assert.deepStrictEqual(yield* has(refuses, told), [])
  }),
  "a relay that does not respond is reported as unreachable, neither accepted nor rejected": Effect.gen(
    function* () {
      const [{ publish }, { away }] = [yield* Nostr.Relays, yield* Peer]
      const exit = yield* Effect.exit(publish(away, yield* event))
      assert.isTrue(Exit.isFailure(exit))
      const error = yield* Effect.flip(publish(away, yield* event))
      assert.strictEqual(error._tag, "RelayUnreachable")
      assert.strictEqual(error.relay, away)
    }
  ),
  "when publishing to several relays concurrently, each relay has its own result": Effect.gen(function* () {
    const [{ publish }, { takes, refuses, away }] = [yield* Nostr.Relays, yield* Peer]
    const told = yield* event
    const answers = yield* Effect.forEach(
      [refuses, takes, away, takes],
      (relay) =>
        Effect.catchTag(publish(relay, told), "RelayUnreachable", ({ _tag }) => Effect.succeed(_tag)),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(answers, ["refused", "taken", "RelayUnreachable", "taken"])
  })
} satisfies Contract.Promises<Nostr.Relays | Peer>

/** The guarantees that every relay client must provide. */
export const promises = other

export const suite = Contract.suite<Nostr.Relays | Peer, {}, typeof other>("Relays", { money: {}, other })
