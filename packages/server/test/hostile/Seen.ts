import type { Random } from "@satrail/testing/Random"

/** Where a name's values are found: other members may hold the same thing. */
const kin: Readonly<Record<string, ReadonlyArray<string>>> = {
  destination: ["destination", "payment_request", "address", "lightning_address", "lnurl"],
  user: ["handle"],
  pr: ["payment_request"]
}

/** Whose id it is, however the name is spelt: `depositID` is a `deposit_id`. */
const ownerId = (name: string): string => name.replace(/_?id$/i, "_id")

/** What others call the id of one of these: that of `companies` is a `company_id`. */
const oneOf = (many: string): string => `${many.replace(/ies$/, "y").replace(/s$/, "")}_id`

/** How many values of one name are kept of each operation: the newest. */
const kept = 8

/** What answers brought: the next requests are about things that exist. */
export interface Seen {
  readonly note: (operation: string, answer: unknown) => void
  /** Rather one of the right kind: told by the name of an id, or by a path that ends in `near`. */
  readonly find: (random: Random, name: string, near?: string) => string | undefined
}

export const make = (): Seen => {
  // By the name, then by the operation that told it, so that a busy one does not drown the others.
  const values = new Map<string, Map<string, Array<string>>>()
  const add = (operation: string, name: string, value: string) => {
    const byOperation = values.get(name) ?? new Map<string, Array<string>>()
    values.set(name, byOperation.set(operation, [value, ...(byOperation.get(operation) ?? [])].slice(0, kept)))
  }
  const note = (operation: string, answer: unknown): void => {
    if (Array.isArray(answer)) return answer.slice(0, kept).forEach((item) => note(operation, item))
    if (typeof answer !== "object" || answer === null) return
    for (const [name, value] of Object.entries(answer)) {
      if (typeof value !== "string") note(operation, value)
      else if (value !== "") {
        // Addresses on the chain and at a domain are asked for by different names.
        add(operation, name === "address" && value.includes("@") ? "lightning_address" : name, value)
        if (name === "id" && "type" in answer) add(operation, `${String(answer.type)}_id`, value)
        const [, k1] = /[?&]k1=([0-9a-f]+)/.exec(value) ?? []
        if (k1 !== undefined) add(operation, "k1", k1)
        const [, hash] = /\/verify\/([0-9a-f]{64})/.exec(value) ?? []
        if (hash !== undefined) add(operation, "payment_hash", hash)
      }
    }
  }
  return {
    note,
    find: (random, name, near) => {
      const names = kin[name] ?? (/id$/i.test(name) ? ["id"] : [name])
      const found = names.flatMap((one) => [...(values.get(one) ?? [])])
      const owned = (/id$/i.test(name) ? [ownerId(name), ...(near === undefined ? [] : [oneOf(near)])] : []).flatMap((one) => [
        ...(values.get(one) ?? [])
      ])
      const close = owned.length > 0 ? owned : found.filter(([operation]) => near !== undefined && operation.endsWith(`/${near}`))
      const [, some] = found.length === 0 ? [] : random.pick(close.length > 0 && random.chance(0.7) ? close : found)
      return some && random.pick(some)
    }
  }
}
