import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, References, Stream, Tracer } from "effect"
import * as Traced from "../src/base/Traced.ts"
import * as TraceContext from "../src/base/TraceContext.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { asked, companyWith, confirm, inWorld, outside } from "./World.ts"

/** A tracer that records every span. */
const keeping = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span(options) {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
}

const parentOf = ({ parent }: Tracer.NativeSpan) =>
  Option.match(parent, {
    onNone: () => undefined,
    onSome: (span) => (span._tag === "Span" ? span.name : span._tag)
  })

/** Makes a withdrawal, from the request to the payment, and an estimate that fails. */
const story = Effect.gen(function* () {
  const payer = yield* companyWith(5000)
  const { destination } = yield* outside({ sats: 1000 })
  yield* confirm(payer, destination)
  yield* (yield* PaymentWorker).step
  const { amount, currency } = yield* asked(1)
  yield* Effect.flip(
    (yield* Withdrawals).estimate({ company: payer, asked: { amount, currency }, destination: "nonsense" })
  )
})

describe("Traced", () => {
  it.effect(
    "spans: a withdrawal's commit has a span below the method's span, and the payment at the node has a span too",
    () =>
      Effect.gen(function* () {
        const { spans, tracer } = keeping()
        yield* Effect.provideService(inWorld(story), Tracer.Tracer, tracer)
        const seen = spans.map((span) => [span.name, parentOf(span)])
        assert.deepInclude(seen, ["Withdrawals.confirm", undefined])
        assert.deepInclude(seen, ["Recipients.choose", "Withdrawals.confirm"])
        assert.deepInclude(seen, ["Journal.commit", "Withdrawals.confirm"])
        assert.include(
          seen.map(([name]) => name),
          "LightningSender.pay"
        )
        const failed = spans.find(
          ({ name, status }) =>
            name === "Withdrawals.estimate" && status._tag === "Ended" && status.exit._tag === "Failure"
        )
        assert.isDefined(failed, "a method's outcome is in its span")
        for (const { name, attributes } of spans)
          assert.deepStrictEqual(
            [...attributes.keys()],
            name === "PaymentWorker.step" ? ["satrail.record"] : [],
            `${name}: no arguments or results`
          )
        assert.deepInclude(
          seen,
          ["PaymentWorker.step", "Journal.commit"],
          "the step is in the trace of the request that caused it"
        )
      })
  )

  it.effect(
    "spans: later work on a record joins the trace of the record's first commit, as long as the record is a recent one",
    () =>
      Effect.gen(function* () {
        const { spans, tracer } = keeping()
        const nothing = Effect.void
        yield* Effect.gen(function* () {
          yield* Effect.withSpan(TraceContext.remembered("first")(nothing), "request")
          yield* Effect.withSpan(TraceContext.remembered("first")(nothing), "a later commit")
          const around = yield* TraceContext.make
          yield* around("work", "first")(nothing)
          for (let i = 0; i < TraceContext.most; i++)
            yield* Effect.withSpan(TraceContext.remembered(`other ${i}`)(nothing), "another")
          yield* around("late work", "first")(nothing)
        }).pipe(Effect.provideService(Tracer.Tracer, tracer))
        const parents = new Map(spans.map((span) => [span.name, parentOf(span)]))
        assert.deepStrictEqual([parents.get("work"), parents.get("late work")], ["request", undefined])
        const around = yield* Effect.provideService(TraceContext.make, References.TracerEnabled, false)
        assert.strictEqual(
          around("work", "first")(nothing),
          nothing,
          "without tracing, the same object is returned"
        )
      })
  )

  it.effect(
    "spans: without a tracer, or with tracing disabled, the service is the exact object that its layer created",
    () =>
      Effect.gen(function* () {
        const service = LightningSender.of({
          graceMillis: 0,
          pay: () => Effect.die("unused"),
          lookupPayment: () => Effect.die("unused"),
          ends: Stream.empty,
          quote: () => Effect.die("unused")
        })
        const built = Effect.map(
          Layer.build(Traced.over(LightningSender, Layer.succeed(LightningSender, service))),
          (context) => Context.get(context, LightningSender)
        )
        const { tracer } = keeping()
        assert.strictEqual(yield* built, service)
        const disabled = built.pipe(
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.provideService(References.TracerEnabled, false)
        )
        assert.strictEqual(yield* disabled, service)
        assert.notStrictEqual(yield* Effect.provideService(built, Tracer.Tracer, tracer), service)
      })
  )
})
