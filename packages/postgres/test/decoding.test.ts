import { assert, it } from "@effect/vitest"
import * as Noun from "@satrail/core/ledger/Noun"
import * as Transaction from "@satrail/core/reports/Transaction"
import * as Nouns from "@satrail/service/core/Nouns"
import { Option, Schema, type SchemaAST } from "effect"
import * as Table from "../src/statements/Table.ts"

const literals = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Literal" ? [String(ast.literal)] : ast._tag === "Union" ? ast.types.flatMap(literals) : []

/** Valid and invalid contents of a column. Reading an invalid value may fail, in the schema at the latest. */
const texts = [
  "a text",
  "",
  "7",
  "-7",
  "0.5",
  "9007199254740993",
  "{}",
  "[]",
  '{"a":"b"}',
  '{"a":1}',
  "null",
  null,
  undefined
]

const outcome = (ask: () => unknown): unknown => {
  try {
    return ask()
  } catch (error) {
    return String(error)
  }
}

/** A schema that requires more of a string than its type. */
const checked = Noun.members("checked", Schema.Struct({ id: Noun.Id, name: Schema.NonEmptyString }), [])

for (const kind of [...Nouns.all, checked, Noun.members("transactions", Transaction.Transaction, [])]) {
  it(`store: ${kind.name}: any column values give a row that matches the schema, or a schema error`, () => {
    const { name, schema, members } = kind
    const read = (member: string, text: string): unknown => {
      const what = members.find(([one]) => one === member)?.[1]
      return what === "msat"
        ? BigInt(text)
        : what === "millis" || what === "integer"
          ? Number(text)
          : what === "json"
            ? JSON.parse(text)
            : text
    }
    const decode = Schema.decodeUnknownSync(schema)
    const expected = (row: Readonly<Record<string, unknown>>) =>
      decode(
        Object.fromEntries(
          members.map(([member]) => [
            member,
            typeof row[member] === "string" ? read(member, row[member]) : row[member]
          ])
        )
      )
    const types =
      schema.ast._tag === "Objects"
        ? schema.ast.propertySignatures
        : assert.fail(`${name} is not an object schema`)
    const candidates = types.map(({ name: member, type }) => {
      const accepts = (text: unknown) =>
        Option.isSome(
          Option.flatMap(
            Option.liftThrowable(() => (typeof text === "string" ? read(String(member), text) : text))(),
            Schema.decodeUnknownOption(Schema.make<Schema.Codec<unknown>>(type))
          )
        )
      const all = [...literals(type), ...texts, '{"tag":"message"}']
      return { member: String(member), all, good: all.filter(accepts) }
    })
    const row = Object.fromEntries(candidates.map(({ member, good }) => [member, good[0]]))
    const { ofRow } = Table.of(kind)
    assert.deepStrictEqual<unknown>(ofRow({ ...row, another: "column" }), expected(row))
    for (const { member, all } of candidates) {
      for (const text of all) {
        const changed = { ...row, [member]: text }
        assert.deepStrictEqual(
          outcome(() => ofRow(changed)),
          outcome(() => expected(changed)),
          `${member}: ${text}`
        )
      }
    }
  })
}
