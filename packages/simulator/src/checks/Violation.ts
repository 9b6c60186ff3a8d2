/** A violated invariant. */
export class Violation extends Error {
  override readonly name = "Violation"
}

/** Throws a Violation that states the guarantee, unless the condition holds. */
export const claim = (isSo: boolean, promise: string): void => {
  if (!isSo) throw new Violation(promise)
}

export const same = (actual: unknown, expected: unknown, promise: string): void =>
  claim(actual === expected, `${promise}: ${String(actual)} instead of ${String(expected)}`)
