// Links and anchors of the pages, as GitHub renders them.
import { anchorOf } from "../packages/server/src/serving/Site.ts"

/** Removes code blocks and inline code from a page, without changing the number of lines. */
export const withoutCode = (page: string): string =>
  page
    .replaceAll(/^( {0,3})(```+|~~~+)[^]*?^\1\2[`~]*$/gm, (block) => block.replaceAll(/[^\n]/g, ""))
    .replaceAll(/(`+)[^`\n]+?\1/g, "")

/** Every anchor of a page. A repeated heading gets a number. */
export const anchorsIn = (page: string): ReadonlySet<string> => {
  const anchors = new Set<string>()
  const bare = page.replaceAll(/^( {0,3})(```+|~~~+)[^]*?^\1\2[`~]*$/gm, "")
  for (const [, text = ""] of bare.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)) {
    const anchor = anchorOf(text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"))
    let unique = anchor
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  for (const [, id = ""] of bare.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

export interface Link {
  /** The target as written. */
  readonly to: string
  readonly line: number
}

/** Every link and picture of a page that points into this repository. */
export const linksIn = (page: string): ReadonlyArray<Link> => {
  const text = withoutCode(page)
  const found = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/\b(?:href|src|srcset)="([^"\s]+)"/g)]
  return found
    .map(({ 1: to = "", index }) => ({ to, line: text.slice(0, index).split("\n").length }))
    .filter(({ to }) => !/^(?:[a-z]+:|\/\/)/.test(to))
}
