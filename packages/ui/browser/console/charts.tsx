import { sats } from "./parts.tsx"

// Two small pictures, drawn by ourselves. What they show is in words beside them, for who does not see them.

export interface Hour {
  readonly label: string
  readonly came: number
  readonly went: number
}

const [width, height] = [480, 120]

/** What came in (up) and went out (down), hour by hour. */
export const Bars = ({ hours }: { readonly hours: ReadonlyArray<Hour> }) => {
  const most = Math.max(1, ...hours.flatMap(({ came, went }) => [came, went]))
  const step = width / hours.length
  const tall = (amount: number) => (amount / most) * (height / 2 - 4)
  const total = (of: (hour: Hour) => number) => sats(hours.reduce((sum, hour) => sum + of(hour), 0))
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Last 24 hours: ${total((hour) => hour.came)} sats in, ${total((hour) => hour.went)} sats out`}
    >
      <line x1="0" x2={width} y1={height / 2} y2={height / 2} class="axis" />
      {hours.map(({ label, came, went }, index) => (
        <g key={label}>
          <title>{`${label}: ${sats(came)} in, ${sats(went)} out`}</title>
          <rect class="came" x={index * step + 2} width={step - 4} y={height / 2 - tall(came)} height={tall(came)} />
          <rect class="went" x={index * step + 2} width={step - 4} y={height / 2} height={tall(went)} />
        </g>
      ))}
    </svg>
  )
}

/** One line: the balance at the end of each hour. */
export const Line = ({ points }: { readonly points: ReadonlyArray<number> }) => {
  const [least, most] = [Math.min(...points), Math.max(...points)]
  const reach = Math.max(1, most - least)
  const at = (value: number, index: number) =>
    `${((index / Math.max(1, points.length - 1)) * width).toFixed(1)},${(height - 6 - ((value - least) / reach) * (height - 12)).toFixed(1)}`
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Balance over the last 24 hours: from ${sats(points[0] ?? 0)} to ${sats(points.at(-1) ?? 0)} sats`}
    >
      <polyline class="line" points={points.map(at).join(" ")} />
    </svg>
  )
}
