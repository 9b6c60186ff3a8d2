import { Option, Schema, type SchemaAST } from "effect"

// A schema is interpreted for each value that it decodes, which took a fifth of a list's time. Most values only
// need a direct check, and then the row is used as the record. Other values are decoded by the field's schema,
// and invalid ones are rejected by the schema of the whole record.

type Look = (value: unknown) => boolean

const [isInt] = Schema.Int.ast.checks ?? []

/** Returns a check for a type whose schema decodes each value to itself and validates nothing else. */
const lookOf = (ast: SchemaAST.AST): Look | undefined => {
  const { checks = [], encoding } = ast
  if (encoding !== undefined) return undefined
  if (ast._tag === "Number")
    return checks.length === 1 && checks[0] === isInt ? Number.isSafeInteger : undefined
  if (checks.length > 0) return undefined
  switch (ast._tag) {
    case "String":
      return (value) => typeof value === "string"
    case "BigInt":
      return (value) => typeof value === "bigint"
    case "Null":
      return (value) => value === null
    case "Literal":
      return (value) => value === ast.literal
    case "Union": {
      const looks = ast.types.map(lookOf)
      const others = looks.filter((look) => look !== undefined)
      if (others.length < looks.length) return undefined
      if (ast.types.every(({ _tag }) => _tag === "Literal")) {
        const literals = new Set<unknown>(ast.types.map((type) => type._tag === "Literal" && type.literal))
        return (value) => literals.has(value)
      }
      const isNullable = ast.types.some(({ _tag }) => _tag === "Null")
      return (value) => (isNullable && value === null) || others.some((look) => look(value))
    }
    case "Objects": {
      const [entry, ...more] = ast.indexSignatures
      if (entry === undefined || more.length > 0 || ast.propertySignatures.length > 0) return undefined
      const [key, look] = [lookOf(entry.parameter), lookOf(entry.type)]
      if (entry.parameter._tag !== "String" || key === undefined || look === undefined) return undefined
      return (value) => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return false
        for (const name in value) if (!look(Reflect.get(value, name))) return false
        return true
      }
    }
    default:
      return undefined
  }
}

/** A field of a record, and how its value is parsed from the database's text. */
interface Column {
  readonly member: string
  readonly read: (text: string) => unknown
}

/**
 * Decodes rows from the values of these columns, in their order, each as text or null. Equivalent to the
 * schema, including its errors.
 */
export const make = <A>(
  schema: Schema.Codec<A, unknown>,
  columns: ReadonlyArray<Column>
): ((values: ReadonlyArray<unknown>) => A) => {
  const { ast } = schema
  const whole = Schema.decodeUnknownSync(schema)
  const isPlain =
    ast._tag === "Objects" &&
    ast.encoding === undefined &&
    ast.checks === undefined &&
    ast.indexSignatures.length === 0
  const types = new Map(isPlain ? ast.propertySignatures.map(({ name, type }) => [name, type]) : [])
  const members = columns.map(({ member, read }) => {
    const type = types.get(member)
    const look = type && lookOf(type)
    const decode =
      type && look === undefined
        ? Schema.decodeUnknownOption(Schema.make<Schema.Codec<unknown>>(type))
        : undefined
    return { member, read, look, decode }
  })
  const isLooked =
    isPlain &&
    types.size === columns.length &&
    members.every(({ look, decode }) => look !== undefined || decode !== undefined)
  const valueOf = (text: unknown, { read }: Column): unknown => (typeof text === "string" ? read(text) : text)
  const interpreted = (values: ReadonlyArray<unknown>) =>
    whole(Object.fromEntries(members.map((column, at) => [column.member, valueOf(values[at], column)])))
  if (!isLooked) return interpreted
  // Copying and filling takes half the time of adding fields one by one.
  const blank = Object.fromEntries(members.map(({ member }) => [member, undefined]))
  return (values) => {
    const record: Record<string, unknown> = { ...blank }
    let at = 0
    for (const column of members) {
      const value = valueOf(values[at++], column)
      if (column.look !== undefined) {
        if (!column.look(value)) return interpreted(values)
        record[column.member] = value
      } else {
        const decoded = column.decode?.(value) ?? Option.none()
        if (Option.isNone(decoded)) return interpreted(values)
        record[column.member] = decoded.value
      }
    }
    // oxlint-disable-next-line typescript/consistent-type-assertions -- built field by field as the schema defines
    return record as A
  }
}
