// Numbers as people type them: in the digits of any script, and with the separators of their language. A text that two
// languages read differently is not guessed.

/** The separators of a language. `group` is "" if the language separates thousands only by spaces. */
export interface Separators {
  readonly decimal: "." | ","
  readonly group: "." | "," | ""
}

/** The separators of languages in which this service's pages are written, as their own amounts are. */
export const separators = {
  en: { decimal: ".", group: "," },
  de: { decimal: ",", group: "." },
  es: { decimal: ",", group: "." },
  fr: { decimal: ",", group: "" },
  pt: { decimal: ",", group: "." },
  ar: { decimal: ".", group: "," }
} as const satisfies Readonly<Record<string, Separators>>

/**
 * `Number`: ASCII digits with an optional minus sign and decimal point, without leading zeros. `Ambiguous`: a number, but
 * its separator could be that of decimals or of thousands. `Unreadable`: not a number.
 */
export type Read =
  | {
      readonly _tag: "Number"
      readonly text: string
      readonly isNegative: boolean
      readonly decimals: number
    }
  | { readonly _tag: "Ambiguous" | "Unreadable" }

/** More characters than any amount with separators needs. */
const maxCharacters = 64

const unreadable: Read = { _tag: "Unreadable" }
const ambiguous: Read = { _tag: "Ambiguous" }

/** Returns the value of a decimal digit. Unicode encodes each script's digits from 0 to 9 without a gap. */
const digitOf = (digit: string): number => {
  let before = 0
  const point = digit.codePointAt(0) ?? 0
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before++
  return before % 10
}

const spelled: ReadonlyArray<readonly [RegExp, string]> = [
  [/\p{Cf}|[\ufe00-\ufe0f]/gu, ""], // invisible characters, such as marks of direction
  [/^[\s\p{Zs}]+|[\s\p{Zs}]+$/gu, ""],
  [/\p{Zs}/gu, " "],
  [/[’‘ʼ＇]/g, "'"],
  [/[，،]/g, ","],
  [/．/g, "."],
  [/^[−－﹣‐‑–]/, "-"],
  [/^＋/, "+"]
]

/** Returns the text in ASCII, except Arabic separators. */
const plain = (text: string): string =>
  spelled
    .reduce((before, [pattern, by]) => before.replace(pattern, by), text)
    .replace(/\p{Nd}/gu, (one) => String(digitOf(one)))

/** Returns the digits of a whole part whose thousands are separated in this way, or undefined if they are not. */
const ungrouped = (whole: string, group: string): string | undefined => {
  const [first = "", ...rest] = whole.split(group)
  if (!/^[1-9]\d{0,2}$/.test(first)) return undefined
  const isByThousands = rest.every((part) => /^\d{3}$/.test(part))
  // As in India: 12,34,567.
  const isByHundreds =
    first.length < 3 && rest.every((part, at) => (at === rest.length - 1 ? /^\d{3}$/ : /^\d{2}$/).test(part))
  return isByThousands || isByHundreds ? first + rest.join("") : undefined
}

/** Returns which separator precedes decimals, "" if none does, or undefined if that is ambiguous. */
const decimalIn = (digits: string, { decimal, group }: Separators): string | undefined => {
  const [dot, comma] = [digits.lastIndexOf("."), digits.lastIndexOf(",")]
  if (digits.includes("٫")) return "٫"
  if (dot < 0 && comma < 0) return ""
  const last = dot > comma ? "." : ","
  const isOnce = digits.indexOf(last) === digits.lastIndexOf(last)
  if (!isOnce) return ""
  if (Math.min(dot, comma) >= 0 || /[ '٬]/.test(digits)) return last
  const [before = "", after = ""] = digits.split(last)
  // A single separator. It can only be one of thousands if three digits follow.
  if (!/^[1-9]\d{0,2}$/.test(before)) return last
  if (after.length === 3) return last === group ? "" : last === decimal && last === "." ? last : undefined
  return last === decimal || after.length < 3 ? last : undefined
}

/** Reads a number that a person typed on a page in this language. */
export const read = (text: string, language: Separators): Read => {
  if (text.length > maxCharacters) return unreadable
  const [, sign = "", digits = ""] = /^([-+]? ?)([\d.,' ٫٬]*)$/.exec(plain(text)) ?? []
  if (!/\d/.test(digits)) return unreadable
  const mark = decimalIn(digits, language)
  if (mark === undefined) return ambiguous
  const [whole = "", fraction, more] = mark === "" ? [digits] : digits.split(mark)
  if (more !== undefined || (fraction !== undefined && !/^\d+$/.test(fraction))) return unreadable
  const groups = new Set(whole.match(/\D/g))
  const [group = ""] = groups
  const integer = groups.size === 0 ? whole : groups.size === 1 ? ungrouped(whole, group) : undefined
  if (integer === undefined || (integer === "" && fraction === undefined)) return unreadable
  const value = `${integer.replace(/^0+(?=\d)/, "") || "0"}${fraction === undefined ? "" : `.${fraction}`}`
  const isNegative = sign.startsWith("-") && /[1-9]/.test(value)
  return {
    _tag: "Number",
    text: isNegative ? `-${value}` : value,
    isNegative,
    decimals: fraction?.replace(/0+$/, "").length ?? 0
  }
}
