import { assert, it } from "@effect/vitest"

interface Feature {
  readonly name: string
  readonly records?: { readonly company?: string; readonly operator?: string }
  readonly pages?: ReadonlyArray<{ readonly path: string }>
  readonly operatorPages?: ReadonlyArray<{ readonly path: string }>
}

it("audit log: every feature whose records are linked has a page of one record", async () => {
  // Imported without its types, which would bring those of the DOM into the other tests.
  const { features }: { readonly features: ReadonlyArray<Feature> } = await import(
    new URL("../../src/features/console.ts", import.meta.url).href
  )
  const missing = features.flatMap(({ name, records, pages = [], operatorPages = [] }) => {
    const has = (those: ReadonlyArray<{ readonly path: string }>) =>
      those.some(({ path }) => path === `${name}/:id`)
    return [
      ...(records?.company === undefined || has(pages) ? [] : [name]),
      ...(records?.operator === undefined || has(operatorPages) ? [] : [`operator ${name}`])
    ]
  })
  assert.deepStrictEqual(missing, [])
  assert.isAbove(features.filter(({ records }) => records?.company !== undefined).length, 4)
})
