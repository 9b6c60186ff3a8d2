import { assert, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Api } from "@satrail/service/http/Api"
import * as Docs from "@satrail/service/http/pages/Docs"

// oxlint-disable-next-line typescript/no-explicit-any -- documents are read by their names, as by a client generator
type Any = any
const [whole, served]: readonly [Any, Any] = [
  Docs.whole(Api, { network: "regtest" }),
  Docs.documents(Api, { network: "regtest" })
]

/** Returns the schema names of a response, sorted. */
const schemasOf = (response: Any): ReadonlyArray<string> => {
  const { schema = {} } = response.content?.["application/json"] ?? {}
  return (schema.anyOf ?? [schema]).flatMap(({ $ref }: Any) => ($ref === undefined ? [] : [$ref])).toSorted()
}

const errorsOf = (document: Any) =>
  Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Any>(methods).map(([method, { responses }]) => [
      `${method} ${path}`,
      Object.entries<Any>(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, response]) => [status, schemasOf(response)])
    ])
  )

for (const name of ["customer", "operator"] as const) {
  it(`openapi: with shared responses, the ${name} document still has every status and error code of each operation`, () => {
    const document = OpenApi.expanded(served[name])
    assert.deepStrictEqual(errorsOf(document), errorsOf(whole[name]))
  })

  it(`openapi: records of the ${name} document that extend another record keep every field`, () => {
    const { resolve } = OpenApi.read(served[name])
    const schemas = served[name].components.schemas
    const membersOf = ({ properties = {}, required = [] }: Any) => [
      Object.keys(properties).toSorted(),
      required.toSorted()
    ]
    for (const [each, schema] of Object.entries<Any>(whole[name].components.schemas))
      if (each in schemas) assert.deepStrictEqual(membersOf(resolve(schemas[each])), membersOf(schema), each)
    const extending = Object.keys(schemas).filter((each) =>
      schemas[each].allOf?.some(({ $ref }: Any) => $ref !== undefined)
    )
    assert.include(extending, "IssuedWebhookEndpoint")
    // Some generators ignore what stands beside a single reference, such as an endpoint's secret.
    for (const each of extending)
      assert.isTrue(schemas[each].allOf.length > 1 && schemas[each].properties === undefined, each)
  })
}
