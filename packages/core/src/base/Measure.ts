import { Metric } from "effect"

/**
 * Labels of metrics. Each value creates a permanent time series in every process, so a label may have only a
 * few values, all known in advance. No label identifies a company, a record or a person.
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

/** A metric as listed in the reference. */
export interface Definition {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly description: string
  readonly labels: ReadonlyArray<Label>
}

const definitions = new Map<string, Definition>()

/** Returns the metrics of all loaded modules, sorted by name. */
export const all = (): ReadonlyArray<Definition> =>
  [...definitions.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** A value for each label. */
export type By<L extends Label> = { readonly [Name in L]: string }

/**
 * Creates each series once and finds it by the text of its label values. `Metric.withAttributes` would build
 * the name again at each update, which took a tenth of a request's time.
 */
const defined =
  <State>(
    type: Definition["type"],
    of: (
      name: string,
      options: { readonly description: string; readonly attributes: Metric.Metric.AttributeSet }
    ) => Metric.Metric<number, State>
  ) =>
  <const L extends Label = never>(
    name: `satrail_${string}`,
    description: string,
    labels: ReadonlyArray<L> = []
  ) => {
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

/** A value that only grows. Its name ends in `_total`. */
export const counter = defined("counter", (name, options) =>
  Metric.counter(name, { ...options, incremental: true })
)

/** The current value of a quantity. */
export const gauge = defined("gauge", (name, options) => Metric.gauge(name, options))

/** The distribution of values in base units. `boundaries` are the upper bounds of its buckets. */
export const histogram = <const L extends Label = never>(
  name: `satrail_${string}`,
  description: string,
  {
    boundaries,
    labels = []
  }: { readonly boundaries: ReadonlyArray<number>; readonly labels?: ReadonlyArray<L> }
) =>
  defined("histogram", (name, options) => Metric.histogram(name, { ...options, boundaries }))(
    name,
    description,
    labels
  )
