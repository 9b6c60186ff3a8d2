/** One operation at one size of the database. */
export interface Point {
  readonly rows: number
  readonly perSecond: number
}

/**
 * How the cost of an operation grows with the rows there are: cost ~ rows ^ exponent, by least squares over the logarithms. 0 is no growth,
 * 1 twice the cost at twice the rows. Undefined with fewer than two sizes.
 */
export const fit = (points: ReadonlyArray<Point>): number | undefined => {
  const logs = points.map(({ rows, perSecond }) => ({ x: Math.log(rows), y: -Math.log(perSecond) }))
  const middle = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x0, y0] = [middle(logs.map(({ x }) => x)), middle(logs.map(({ y }) => y))]
  const spread = logs.reduce((sum, { x }) => sum + (x - x0) ** 2, 0)
  if (spread === 0) return undefined
  return logs.reduce((sum, { x, y }) => sum + (x - x0) * (y - y0), 0) / spread
}
