import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Writable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { copied } from "../src/client/Export.ts"

it.effect(
  "export: a full disk or a reader that is gone fails the command, and raises no error outside it",
  () =>
    Effect.gen(function* () {
      const to = new Writable({ write: (_bytes, _encoding, done) => done(new Error("write EPIPE")) })
      const error = yield* Effect.flip(copied(Stream.make(Buffer.from("company_id\r\n")), to))
      assert.instanceOf(error, CommandFailed)
      assert.strictEqual(error.message, "The output could not be written\n  write EPIPE")
      // A stream emits its error in the next tick, before this.
      yield* Effect.promise(() => setImmediate())
      assert.isTrue(to.destroyed)
    })
)
