// What a text picks up on its way from a page, a chat, an email or a camera. Pasted reads what remains.

/**
 * Characters without a visible form: zero-width, bidirectional and format characters, fillers and controls. A joiner
 * after a non-ASCII letter is not removed, because it makes a different domain name (IDNA 2008, RFC 5892, appendix A).
 */
const invisible =
  /(?!(?<=(?!\p{ASCII})[\p{L}\p{M}])[\u200c\u200d])[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/gu

/** ASCII in the width of East Asian input methods, such as `＠`. */
const wide = /[\uff01-\uff5e]/g

/** White space and quotes as JSON writes them. */
const escaped = /\\[nrt]|\\(?=["'])/gi

const entities = new Map([
  ["&nbsp;", " "],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#39;", "'"],
  ["&apos;", "'"],
  ["&amp;", "&"]
])
const entity = new RegExp([...entities.keys()].join("|"), "gi")

/** Marks of quoted lines in email and Markdown. */
const quoted = /^[^\S\n]*[>|](?:[^\S\n]|[>|])*/gm

const scheme = "(?:bitcoin|lightning|lnurl[pwc]?|keyauth|mailto|https?)"
/** How a payment begins, in any case. */
export const beginning = `${scheme}:|ln(?:bc|bcrt|tb|tbs|url|o)(?:\\d+[munp]?)?1|(?:bc|bcrt|tb)1`

/**
 * Bullets and numbers of a list, and characters that a name may start with, where they cannot be part of it. Other
 * symbols, such as quotes and emoji, are no part of anything.
 */
const bullet = `\\d{1,2}[.)]\\s|[\\d#*]\\u20e3|[-+.]+\\s|@(?=[^@]+@)|[-+.@]+(?=\\s*(?:${beginning}))|₿(?=[^@]*$)`
const space = "%(?:20|09|0[ad])"
const opening = new RegExp(`^(?:${bullet}|${space}|[^\\p{L}\\p{Nd}₿@%+._~…\\-])+`, "iu")

const ending =
  "[\\s\\p{Pe}\\p{Pf}\\p{Pi}\\p{So}\\p{Sk}\\p{RI}\\p{Me}\\p{Extended_Pictographic}\"'`*“„‚<>|\\\\.,;!?:。、•·‣–—←-⇿]"
// This pattern matches only where such a run starts, or it would take the square of the length of a long run.
const closing = new RegExp(`(?<!${ending}|${space})(?:${ending}|${space})+$`, "iu")

/** Removes emphasis as Markdown and chats write it, such as `__text__`. */
const plain = (text: string): string => {
  let count = 0
  while (
    count * 2 < text.length &&
    "_~".includes(text.charAt(count)) &&
    text.at(count) === text.at(-1 - count)
  )
    count += 1
  return text.slice(count, text.length - count)
}

const edges = (text: string): string => {
  const begun = text.replace(opening, "").replace(/(?<=\s)-+\s*$/, "")
  // A scheme alone stays one.
  if (/^[a-z+]+:\s*$/i.test(begun)) return begun.trimEnd()
  return begun.replace(closing, (tail) => (/\.\s*\./.test(tail) ? tail : ""))
}

const ends = (text: string): string => {
  const ended = edges(text)
  const inner = plain(ended)
  return inner === ended ? ended : edges(inner)
}

/** A text that was percent-encoded as a whole, or from its address on. */
const encoded = new RegExp(`^(?:web\\+)?${scheme}%3a|^bitcoin:[^?#&=]*%3f|^[^:/?#]+%40`, "i")

/** Decodes percent-encoding, unless it is not valid. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Schemes before another one, as programs write that add theirs to any text. */
const doubled = new RegExp(`^(?:(?:bitcoin|lightning):\\s*(?:\\/\\/)?\\s*)+(?=${scheme}:)`, "i")

/**
 * Removes what a text picks up on its way here: invisible characters, wide forms of ASCII, escapes, doubled schemes, and
 * the quotes, brackets, bullets, emoji and punctuation around it. White space inside remains. An ellipsis at the end
 * remains, because it shows that the text was cut off.
 */
export const clean = (text: string): string => {
  const inner = ends(
    text
      .replace(invisible, (one) => (/[\t-\r]/.test(one) ? one : ""))
      .replace(wide, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0))
      .replaceAll(escaped, (one) => (one === "\\" ? "" : " "))
      .replaceAll(entity, (one) => entities.get(one.toLowerCase()) ?? one)
      .replaceAll(quoted, "")
  )
  return (encoded.test(inner) ? ends(decoded(inner)) : inner)
    .replace(/^%e2%82%bf/i, "₿")
    .replace(/^web\+(?=[a-z]+:)/i, "")
    .replace(doubled, "")
}
