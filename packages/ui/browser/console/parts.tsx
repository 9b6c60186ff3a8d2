import { useSignal } from "@preact/signals"
import type { ComponentChildren, TargetedSubmitEvent } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Refused, Unknown } from "./api.ts"
import { tick } from "./live.ts"
import { to } from "./route.ts"
import { lost } from "./session.ts"

const number = new Intl.NumberFormat("en")
const time = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" })

export const sats = (amount: number): string => number.format(amount)
export const Sats = ({ amount }: { readonly amount: number | null }) => (
  <span class="sats">{amount === null ? "any amount" : `${sats(amount)} sats`}</span>
)
export const When = ({ at }: { readonly at: string | null }) =>
  at === null ? <span class="soft">never</span> : <time dateTime={at}>{time.format(new Date(at))}</time>
export const Status = ({ of }: { readonly of: string }) => <span class={`status ${of}`}>{of.replaceAll("_", " ")}</span>
export const Link = ({ path, children }: { readonly path: string; readonly children: ComponentChildren }) => (
  <a href={to(path)}>{children}</a>
)

export const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What went wrong. Who is not signed in any more is asked to. */
export const failed = (error: unknown): string => {
  if (error instanceof Refused && error.status === 401) lost()
  return words(error)
}

export const Problem = ({ text }: { readonly text: string }) =>
  text === "" ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )

interface Loading<A> {
  readonly value: A | undefined
  readonly problem: string
}

/** Asks for something, again whenever something happened or `key` changes. What came last stays until there is newer. */
export const useLoaded = <A,>(load: () => Promise<A>, key = ""): Loading<A> & { readonly again: () => void } => {
  const [state, set] = useState<Loading<A>>({ value: undefined, problem: "" })
  const [asked, ask] = useState(0)
  useEffect(() => {
    let isOver = false
    const told = (next: (before: Loading<A>) => Loading<A>) => {
      if (!isOver) set(next)
    }
    void load().then(
      (value) => told(() => ({ value, problem: "" })),
      (error: unknown) => told(({ value }) => ({ value, problem: failed(error) }))
    )
    return () => {
      isOver = true
    }
  }, [key, tick.value, asked])
  return { ...state, again: () => ask((count) => count + 1) }
}

export const Loaded = <A,>({ of, children }: { readonly of: Loading<A>; readonly children: (value: A) => ComponentChildren }) => (
  <>
    <Problem text={of.problem} />
    {of.value === undefined ? of.problem === "" && <p class="soft">Loading …</p> : children(of.value)}
  </>
)

export const Page = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useEffect(() => {
    document.title = `${title} · satrail`
    document.querySelector<HTMLElement>("h1")?.focus()
  }, [title])
  return (
    <>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </>
  )
}

/** Names and values of one record. */
export const Facts = ({ of }: { readonly of: ReadonlyArray<readonly [name: string, value: ComponentChildren]> }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

export interface Column<A> {
  readonly title: string
  readonly cell: (row: A) => ComponentChildren
  readonly isNumber?: boolean
}

export const Table = <A,>(props: {
  readonly caption: string
  readonly rows: ReadonlyArray<A>
  readonly columns: ReadonlyArray<Column<A>>
  readonly none: string
}) =>
  props.rows.length === 0 ? (
    <p class="soft">{props.none}</p>
  ) : (
    <div class="wide" tabIndex={0} role="region" aria-label={props.caption}>
      <table>
        <caption class="hidden">{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, index) => (
            <tr key={index}>
              {props.columns.map(({ title, cell, isNumber }) => (
                <td key={title} class={isNumber ? "number" : ""}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

interface Input {
  readonly label: string
  readonly name: string
  readonly hint?: string
  readonly type?: "text" | "search" | "password" | "url" | "date"
  readonly required?: boolean
  /** What is in it, whatever was typed. */
  readonly value?: string
  /** What is in it at first. */
  readonly initial?: string | undefined
  readonly inputMode?: "numeric" | "decimal"
  readonly pattern?: string
  readonly maxLength?: number
  readonly onChange?: (value: string) => void
}

export const Field = ({ label, hint, type = "text", initial, onChange, ...input }: Input) => {
  // The types of the elements have one for each kind of field, and this is of several.
  const attributes: Readonly<Record<string, unknown>> = { ...input, type, defaultValue: initial, autocomplete: "off", spellcheck: false }
  return (
    <label class="field">
      <span>{label}</span>
      <input {...attributes} onChange={(event) => onChange?.(event.currentTarget.value.trim())} />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

export const Choice = (props: {
  readonly label: string
  readonly name: string
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly value?: string
  readonly initial?: string | undefined
  readonly onInput?: (value: string) => void
}) => (
  <label class="field">
    <span>{props.label}</span>
    <select name={props.name} value={props.value} onInput={(event) => props.onInput?.(event.currentTarget.value)}>
      {props.options.map(([value, label]) => (
        <option key={value} value={value} selected={value === props.initial || undefined}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

/** Any of a few words: each is a field of its own, that is empty where it is not chosen. */
export const Ticks = (props: {
  readonly label: string
  readonly options: ReadonlyArray<string>
  readonly initial: ReadonlyArray<string>
}) => (
  <fieldset class="ticks">
    <legend>{props.label}</legend>
    {props.options.map((option) => (
      <label key={option}>
        <input type="checkbox" name={option} defaultChecked={props.initial.includes(option)} />
        {option.replaceAll("_", " ")}
      </label>
    ))}
  </fieldset>
)

/** A form that does one thing at a time, and says what went wrong. What was asked without an answer is unknown, not failed. */
export const Form = (props: {
  readonly button: string
  readonly act: (text: (name: string) => string) => Promise<void>
  readonly children: ComponentChildren
}) => {
  const problem = useSignal("")
  const isBusy = useSignal(false)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy.value) return
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? "").trim()
    isBusy.value = true
    problem.value = ""
    try {
      await props.act(text)
    } catch (error) {
      problem.value = error instanceof Unknown ? `${error.message}: whether it happened is not known. Asking again is safe.` : failed(error)
    }
    isBusy.value = false
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      {props.children}
      <Problem text={problem.value} />
      <button class="main" disabled={isBusy.value}>
        {isBusy.value ? "One moment …" : props.button}
      </button>
    </form>
  )
}

/** A button that does one thing, and says what came of it. What cannot be taken back wants a second press, and `sure` says of what. */
export const Act = ({
  label,
  sure,
  act
}: {
  readonly label: string
  readonly sure?: string
  readonly act: () => Promise<string | void>
}) => {
  const told = useSignal("")
  const isBusy = useSignal(false)
  const isAsked = useSignal(false)
  const press = async () => {
    if (sure !== undefined && !isAsked.value) {
      isAsked.value = true
      told.value = `${sure}? Press again.`
      return
    }
    isBusy.value = true
    told.value = await act().then((text) => text ?? "Done", failed)
    isBusy.value = false
    isAsked.value = false
  }
  const forget = () => {
    if (isAsked.value && !isBusy.value) told.value = ""
    isAsked.value = false
  }
  return (
    <span class="act">
      <button type="button" disabled={isBusy.value} onClick={() => void press()} onBlur={forget}>
        {label}
      </button>
      <span role="status">{told.value}</span>
    </span>
  )
}

export const Copy = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <Act label={label} act={() => navigator.clipboard.writeText(text).then(() => "Copied")} />
)

/** What the service tells once; nothing while there is none. */
export const Secret = ({ title, text }: { readonly title: string; readonly text: string }) =>
  text === "" ? null : (
    <section class="card" role="status">
      <h2>{title}</h2>
      <p>It is shown now, and never again.</p>
      <code class="long">{text}</code>
      <Copy text={text} label="Copy" />
    </section>
  )
