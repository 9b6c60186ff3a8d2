// Reads and rewrites JSON objects of an OpenAPI document.

export type Json = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
export const objectIn = (value: unknown, name: string): Json => {
  const member = isObject(value) ? value[name] : undefined
  return isObject(member) ? member : {}
}
export const listIn = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const member = isObject(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}

export type Kind = "schemas" | "responses" | "parameters" | "headers"
export const refTo = (kind: Kind, name: string) => ({ $ref: `#/components/${kind}/${name}` })

export const mapValues = (object: Json, f: (value: unknown, name: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value, name)]))

export const mapOperations = (
  document: Json,
  f: (operation: Json, path: string, method: string) => Json
): Json => ({
  ...document,
  paths: mapValues(objectIn(document, "paths"), (methods, path) =>
    isObject(methods)
      ? mapValues(methods, (operation, method) =>
          isObject(operation) ? f(operation, path, method) : operation
        )
      : methods
  )
})
