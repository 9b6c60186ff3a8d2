import { h as createElement } from "preact"
import { render } from "preact-render-to-string"

/** An element made by `h`. Preact's types would declare a browser's variables in every program. */
export interface Element {
  readonly type: unknown
}
export type Content = Element | string | number | boolean | null | undefined | ReadonlyArray<Content>

/** Makes an element of this name. Its texts and attributes are escaped. */
export const h = (
  name: string,
  attributes: Readonly<Record<string, string | number | boolean>> | null,
  ...children: ReadonlyArray<Content>
): Element => createElement(name, attributes, ...children)

/** Makes an element whose content is HTML or CSS that is known to be safe, and is not escaped. */
export const raw = (name: string, __html: string): Element =>
  createElement(name, { dangerouslySetInnerHTML: { __html } })

/** Renders a page. `icon` is the path to the icon. */
export const page = (parts: {
  readonly title: string
  readonly icon: string
  readonly lang?: string
  readonly dir?: "ltr" | "rtl"
  /** Default: the system's setting. */
  readonly theme?: "light" | "dark" | undefined
  /** Further elements of the head. */
  readonly head?: Content
  readonly body: Content
}): string => {
  const { title, icon, lang = "en", dir = "ltr", theme, head, body } = parts
  const html = createElement(
    "html",
    { lang, dir, ...(theme !== undefined && { "data-theme": theme }) },
    h(
      "head",
      null,
      h("meta", { charset: "utf-8" }),
      h("title", null, title),
      h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      h("link", { rel: "icon", type: "image/svg+xml", href: icon }),
      head
    ),
    body
  )
  return `<!doctype html>\n${render(html)}\n`
}
