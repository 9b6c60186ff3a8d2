/** One percent, in basis points. */
const onePercent = 100

/** All of an amount, in basis points. */
export const whole = 100 * onePercent

/**
 * Returns the basis points in a text such as `12.5%`, or undefined. The text has at most two decimals and is between 0.01%
 * and 100%.
 */
export const parse = (text: string): number | undefined => {
  const [, units, decimals = ""] = /^(0|[1-9]\d{0,2})(?:\.(\d{1,2}))?%$/.exec(text) ?? []
  if (units === undefined) return undefined
  const basisPoints = Number(units) * onePercent + Number(decimals.padEnd(2, "0"))
  return basisPoints >= 1 && basisPoints <= whole ? basisPoints : undefined
}

/** Returns basis points as text: `12.5%` for 1250. */
export const format = (basisPoints: number): string => `${basisPoints / onePercent}%`
