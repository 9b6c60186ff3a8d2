import { Metric } from "effect"

/**
 * What a metric is told apart by. Each value makes a series of its own, in every process, for ever: only what has few values, known beforehand, is
 * here, and nothing that names a company, a record or a person.
 */
export type Label =
  | "account"
  | "cause"
  | "check"
  | "kind"
  | "method"
  | "node"
  | "operation"
  | "outcome"
  | "rail"
  | "result"
  | "route"
  | "side"
  | "status"
  | "version"
  | "why"

/** A metric as the reference lists it. */
export interface Definition {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly description: string
  readonly labels: ReadonlyArray<Label>
}

const definitions = new Map<string, Definition>()

/** Every metric of the modules that were loaded, by name. */
export const all = (): ReadonlyArray<Definition> => [...definitions.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** A value for each label. */
export type By<L extends Label> = { readonly [Name in L]: string }

/**
 * A series is made once: one with attributes of its own is found by their text, one that `Metric.withAttributes` makes out of a metric is named anew
 * at each update, which cost a request a tenth of its time.
 */
const defined =
  <State>(
    type: Definition["type"],
    of: (
      name: string,
      options: { readonly description: string; readonly attributes: Metric.Metric.AttributeSet }
    ) => Metric.Metric<number, State>
  ) =>
  <const L extends Label = never>(name: `satrail_${string}`, description: string, labels: ReadonlyArray<L> = []) => {
    definitions.set(name, { name, type, description, labels })
    const series = new Map<string, Metric.Metric<number, State>>()
    return (by: By<L>): Metric.Metric<number, State> => {
      const values = labels.map((label) => by[label]).join("\0")
      const known = series.get(values)
      if (known !== undefined) return known
      const made = of(name, { description, attributes: by })
      series.set(values, made)
      return made
    }
  }

/** What only grows: its name ends in `_total`. */
export const counter = defined("counter", (name, options) => Metric.counter(name, { ...options, incremental: true }))

/** What is so now. */
export const gauge = defined("gauge", (name, options) => Metric.gauge(name, options))

/** How values are distributed, in base units; `boundaries` are the upper ends of its buckets. */
export const histogram = <const L extends Label = never>(
  name: `satrail_${string}`,
  description: string,
  { boundaries, labels = [] }: { readonly boundaries: ReadonlyArray<number>; readonly labels?: ReadonlyArray<L> }
) => defined("histogram", (name, options) => Metric.histogram(name, { ...options, boundaries }))(name, description, labels)
