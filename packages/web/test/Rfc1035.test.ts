import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as DnsMessage from "../src/DnsMessage.ts"
import { answer, cname, nameBytes, type Record, type Said, signature, txt } from "./NameServer.ts"

const name = "alice.user._bitcoin-payment.shop.example"
const question = DnsMessage.question(name)

const read = (bytes: Uint8Array) => DnsMessage.decode(bytes, name)
const texts = (...records: ReadonlyArray<Record>) =>
  Result.getOrThrow(read(answer(question, { records }))).texts
const refusal = (bytes: Uint8Array): string => {
  const decoded = read(bytes)
  return Result.isFailure(decoded) ? decoded.failure.reason : "valid"
}
const refused = (said: Said) => refusal(answer(question, said))

/** Returns the processor time that this thread has used, which does not depend on the machine's load. */
const millisSince = (started: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(started)
  return (user + system) / 1000
}

describe("RFC 1035, a question for TXT records", () => {
  it("RFC 1035: the question has the name's labels, type TXT and class IN, and requests recursion and validation", () => {
    assert.strictEqual(
      Buffer.from(DnsMessage.question("a.shop.example")).toString("hex"),
      `${"0000 0120 0001 0000 0000 0000".replaceAll(" ", "")}01610473686f70076578616d706c650000100001`
    )
  })
  it("RFC 1035: a name has labels of 1 to 63 bytes and at most 255 bytes", () => {
    const label = "a".repeat(63)
    assert.isTrue(DnsMessage.isName(`${label}.example`))
    for (const none of ["", ".", "a..b", "a.", `${label}a.example`, [label, label, label, label].join(".")]) {
      assert.isFalse(DnsMessage.isName(none), none)
    }
  })
})

describe("RFC 1035, a response", () => {
  it("RFC 1035: the strings of one record are joined, and records stay separate", () => {
    assert.deepStrictEqual(texts(txt(name, "bitcoin:?lno=", "", "lno1abc"), txt(name, "v=spf1")), [
      "bitcoin:?lno=lno1abc",
      "v=spf1"
    ])
    assert.deepStrictEqual(texts(), [])
  })
  it("RFC 1035: names are case-insensitive", () => {
    assert.deepStrictEqual(texts(txt(name.toUpperCase(), "tea")), ["tea"])
  })
  it("RFC 1035: aliases are followed in any order, and records of other names are ignored", () => {
    const records = [
      txt("pay.example", "there"),
      signature(name),
      cname("b.example", "pay.example"),
      cname(name, "b.example"),
      txt(name, "here")
    ]
    assert.deepStrictEqual(texts(...records), ["there"])
    assert.deepStrictEqual(texts(txt("other.example", "x")), [])
  })
  it("RFC 1035: compressed names are read", () => {
    const compressed = answer(question, { records: [] })
    compressed.writeUInt16BE(1, 6)
    const record = Buffer.concat([
      Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 1, 0, 4]),
      Buffer.from("\u0003tea", "latin1")
    ])
    assert.deepStrictEqual(Result.getOrThrow(read(Buffer.concat([compressed, record]))).texts, ["tea"])
  })
  it("RFC 1035: the response code and the AD bit come from the header", () => {
    const { code, isAuthenticated } = Result.getOrThrow(
      read(answer(question, { code: 3, isAuthentic: false }))
    )
    assert.deepStrictEqual([code, isAuthenticated], [3, false])
    assert.isTrue(Result.getOrThrow(read(answer(question))).isAuthenticated)
  })

  it("RFC 1035: a truncated response is rejected, wherever it is cut", () => {
    const whole = answer(question, {
      records: [cname(name, "b.example"), txt("b.example", "bitcoin:", "?x=y")]
    })
    assert.isTrue(Result.isSuccess(read(whole)))
    for (let length = 0; length < whole.length; length++)
      assert.notStrictEqual(refusal(whole.subarray(0, length)), "valid", String(length))
  })
  it("RFC 1035: a response to another question is rejected", () => {
    for (const other of [
      "bob.user._bitcoin-payment.shop.example",
      "alice.user._bitcoin-payment.shop.example.evil.example"
    ])
      assert.strictEqual(
        refusal(answer(DnsMessage.question(other), { records: [txt(other, "x")] })),
        "is for a different question"
      )
    for (const [at, byte] of [
      [1, 7], // the id
      [2, 0x01], // a question
      [2, 0xa9], // an update
      [5, 2], // two questions
      [question.length - 3, 1], // asks for an address
      [question.length - 1, 3] // another class
    ] as const) {
      const changed = answer(question)
      changed[at] = byte
      assert.notStrictEqual(refusal(changed), "valid", `${at}`)
    }
  })
  it("RFC 1035: a response that is truncated, is too long or has too many records is rejected", () => {
    assert.strictEqual(refused({ isTruncated: true }), "is truncated")
    assert.strictEqual(
      refused({ records: Array.from({ length: DnsMessage.maxRecords + 1 }, () => txt(name, "x")) }),
      "has more than 256 records"
    )
    assert.strictEqual(refusal(Buffer.alloc(DnsMessage.maxBytes + 1)), "is too long")
  })
  it("RFC 1035: names that are too long or have circular or forward pointers are rejected", () => {
    const withOwner = (owner: ReadonlyArray<number>) => {
      const begun = answer(question)
      begun.writeUInt16BE(1, 6)
      return Buffer.concat([begun, Buffer.from([...owner, 0, 16, 0, 1, 0, 0, 0, 1, 0, 2, 1, 65])])
    }
    const here = question.length
    assert.strictEqual(refusal(withOwner([0xc0, 12])), "valid")
    for (const owner of [
      [0xc0, here],
      [0xc0, here + 1],
      [1, 97, 0xc0, here],
      [0xff, 0xff],
      [0x40, 0],
      [0x80, 0],
      [64, ...Array(64).fill(97), 0]
    ])
      assert.notStrictEqual(refusal(withOwner(owner)), "valid", owner.join())
    assert.notStrictEqual(
      refusal(withOwner([...Array.from({ length: 130 }, () => [1, 97]).flat(), 0])),
      "valid"
    )
  })
  it("RFC 1035: circular aliases, too many aliases, and two aliases for one name are rejected", () => {
    assert.strictEqual(refused({ records: [cname(name, name)] }), "has more than 8 aliases in a row")
    assert.strictEqual(
      refused({ records: [cname(name, "b.example"), cname("b.example", name)] }),
      "has more than 8 aliases in a row"
    )
    const chain = (length: number) => [
      cname(name, "n0.example"),
      ...Array.from({ length: length - 1 }, (_, n) => cname(`n${n}.example`, `n${n + 1}.example`)),
      txt(`n${length - 1}.example`, "end")
    ]
    assert.deepStrictEqual(texts(...chain(8)), ["end"])
    assert.strictEqual(refused({ records: chain(9) }), "has more than 8 aliases in a row")
    assert.strictEqual(
      refused({ records: [cname(name, "b.example"), cname(name, "c.example")] }),
      "has two aliases for one name"
    )
  })
  it("RFC 1035: record data that does not match its type is rejected", () => {
    const wrong = (type: "TXT" | "CNAME", data: Buffer) => refused({ records: [{ owner: name, type, data }] })
    assert.strictEqual(wrong("TXT", Buffer.alloc(0)), "has an invalid TXT record")
    assert.strictEqual(wrong("TXT", Buffer.from([5, 97])), "has an invalid TXT record")
    assert.strictEqual(wrong("CNAME", Buffer.alloc(0)), "has an invalid alias")
    assert.strictEqual(
      wrong("CNAME", Buffer.concat([nameBytes("b.example"), Buffer.from([0])])),
      "has an invalid alias"
    )
  })
  it("RFC 1035: a label that contains dots does not match a name with the same text", () => {
    const owner = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([0])])
    const begun = answer(question)
    begun.writeUInt16BE(1, 6)
    const bytes = Buffer.concat([begun, owner, Buffer.from([0, 16, 0, 1, 0, 0, 0, 1, 0, 2, 1, 65])])
    assert.deepStrictEqual(Result.getOrThrow(read(bytes)).texts, [])
  })

  const bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
  it.prop(
    "RFC 1035: decoding arbitrary bytes after the question neither throws nor takes long",
    { behind: Arbitrary.schema(bytes) },
    ({ behind }) => {
      const begun = answer(question)
      begun.writeUInt16BE(behind.length % 300, 6)
      const started = process.threadCpuUsage()
      read(Buffer.concat([begun, Buffer.from(behind)]))
      read(Buffer.from(behind))
      assert.isBelow(millisSince(started), 1000)
    },
    { arbitrary: { seed: 11, runs: 2000 } }
  )
  it.prop(
    "RFC 1035: decoding a response with any one byte changed never throws",
    {
      at: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))),
      byte: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
    },
    ({ at, byte }) => {
      const whole = answer(question, {
        records: [cname(name, "b.example"), txt("b.example", "bitcoin:", "?x=y"), signature(name)]
      })
      whole[at % whole.length] = byte
      read(whole)
    },
    { arbitrary: { seed: 11, runs: 2000 } }
  )
  it("RFC 1035: the longest response, whose names are pointers to pointers, is rejected immediately", () => {
    const data = question.length + nameBytes("x.example").length + 10
    const chain = Buffer.alloc(16_000 - data)
    for (let at = 0; at + 1 < chain.length; at += 2)
      chain.writeUInt16BE(0xc000 | (at === 0 ? 12 : data + at - 2), at)
    const begun = answer(question, { records: [{ owner: "x.example", type: "RRSIG", data: chain }] })
    begun.writeUInt16BE(DnsMessage.maxRecords, 6)
    const last = data + Math.floor(chain.length / 2) * 2 - 2
    const record = Buffer.from([0xc0 | (last >> 8), last & 0xff, 0, 16, 0, 1, 0, 0, 0, 1, 0, 2, 1, 65])
    const started = process.threadCpuUsage()
    assert.notStrictEqual(
      refusal(Buffer.concat([begun, ...Array.from({ length: 255 }, () => record)])),
      "valid"
    )
    assert.isBelow(millisSince(started), 1000)
  })
})
