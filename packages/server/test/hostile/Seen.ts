import type { Random } from "@satrail/testing/Random"

/** Where to find values for a name. Other fields may hold the same kind of value. */
const kin: Readonly<Record<string, ReadonlyArray<string>>> = {
  destination: ["destination", "payment_request", "address", "lightning_address", "lnurl"],
  user: ["handle"],
  pr: ["payment_request"]
}

/** The usual spelling of an id's name: `depositID` becomes `deposit_id`. */
const ownerId = (name: string): string => name.replace(/_?id$/i, "_id")

/** The name that other records use for this id: `companies` becomes `company_id`. */
const oneOf = (many: string): string => `${many.replace(/ies$/, "y").replace(/s$/, "")}_id`

/** How many of the newest values to keep per name and operation. */
const kept = 8

/** Values from responses, so that later requests refer to existing records. */
export interface Seen {
  readonly note: (operation: string, answer: unknown) => void
  /**
   * Returns a value seen for this name, if any. Prefers one of the right kind, judged by the id's name or by a
   * path that ends in `near`.
   */
  readonly find: (random: Random, name: string, near?: string) => string | undefined
}

export const make = (): Seen => {
  // Values by name, then by operation, so that a frequent operation does not crowd out the others.
  const values = new Map<string, Map<string, Array<string>>>()
  const add = (operation: string, name: string, value: string) => {
    const byOperation = values.get(name) ?? new Map<string, Array<string>>()
    values.set(
      name,
      byOperation.set(operation, [value, ...(byOperation.get(operation) ?? [])].slice(0, kept))
    )
  }
  const note = (operation: string, answer: unknown): void => {
    if (Array.isArray(answer)) return answer.slice(0, kept).forEach((item) => note(operation, item))
    if (typeof answer !== "object" || answer === null) return
    for (const [name, value] of Object.entries(answer)) {
      if (typeof value !== "string") note(operation, value)
      else if (value !== "") {
        // Requests use different names for on-chain and Lightning addresses.
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
      const owned = (
        /id$/i.test(name) ? [ownerId(name), ...(near === undefined ? [] : [oneOf(near)])] : []
      ).flatMap((one) => [...(values.get(one) ?? [])])
      const close =
        owned.length > 0
          ? owned
          : found.filter(([operation]) => near !== undefined && operation.endsWith(`/${near}`))
      const [, some] =
        found.length === 0 ? [] : random.pick(close.length > 0 && random.chance(0.7) ? close : found)
      return some && random.pick(some)
    }
  }
}
