import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { Column } from "./parts.tsx"

/** A row is so high, whatever is in it: where a row is follows from its number. */
const rowPixels = 44
const seenRows = 14
const beyond = 6

/**
 * A table of any length: only the rows that are seen are in the page, and the first and the last row stand for those before and after. `more` is asked for further
 * rows near the end of those that are known.
 */
export const Virtual = <A,>(props: {
  readonly label: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  readonly keyOf: (row: A) => string
  readonly more: (() => void) | undefined
  readonly foot?: ComponentChildren
}) => {
  const { rows, columns, keyOf, more, label } = props
  const box = useRef<HTMLDivElement>(null)
  const [first, setFirst] = useState(0)
  const begin = Math.max(0, Math.min(first, rows.length - seenRows) - beyond)
  const end = Math.min(rows.length, first + seenRows + beyond)
  useEffect(() => {
    if (more !== undefined && end >= rows.length - seenRows) more()
  }, [end, rows.length, more])
  const gap = (count: number) => (
    <tr aria-hidden="true" style={{ height: `${count * rowPixels}px` }}>
      <td colSpan={columns.length} class="gap" />
    </tr>
  )
  return (
    <div
      ref={box}
      class="virtual"
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={() => setFirst(Math.floor((box.current?.scrollTop ?? 0) / rowPixels))}
    >
      <table aria-rowcount={more === undefined ? rows.length + 1 : -1}>
        <caption class="hidden">{label}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {gap(begin)}
          {rows.slice(begin, end).map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={begin + index + 2} class="row">
              {columns.map(({ title, cell, isNumber }) => (
                <td key={title} class={isNumber ? "number" : ""}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {gap(rows.length - end)}
        </tbody>
      </table>
      {props.foot}
    </div>
  )
}
