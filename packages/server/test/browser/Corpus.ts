/** What would run, or break out of where it stands, if it were taken for markup. */
const payloads = [
  "<script>__xss()</script>",
  "<img src=x onerror=__xss()>",
  "<svg onload=__xss()>",
  "<svg><script>__xss()</script></svg>",
  "<iframe srcdoc='<script>parent.__xss()</script>'></iframe>",
  "<a href=javascript:__xss()>x</a>",
  "<body onload=__xss()>",
  "<details open ontoggle=__xss()>",
  "<input autofocus onfocus=__xss()>",
  "<video><source onerror=__xss()></video>",
  "<math><mtext></mtext><mglyph><style><img src=x onerror=__xss()></style></mglyph></math>",
  "<form action=javascript:__xss()><button>x</button></form>",
  "<object data=javascript:__xss()></object>",
  "<base href=//evil.example/>",
  "<meta http-equiv=refresh content='0;url=javascript:__xss()'>",
  "<link rel=stylesheet href=//evil.example/x.css>",
  "<style>*{background:url(//evil.example/x)}</style>",
  "<noscript><p title='</noscript><img src=x onerror=__xss()>'>",
  "{{constructor.constructor('__xss()')()}}",
  "${__xss()}"
]

/** Where it may have to break out of. */
const wrappers: ReadonlyArray<(payload: string) => string> = [
  (payload) => payload,
  (payload) => `">${payload}`,
  (payload) => `'>${payload}`,
  (payload) => `</title></style></textarea>${payload}`,
  (payload) => `--><!-- ${payload}`,
  (payload) => `</script>${payload}`,
  (payload) => `]]>${payload}`,
  (payload) => payload.replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  (payload) => payload.replaceAll("<", "\\u003c"),
  (payload) => `\u202e"}}${payload}\u2066`
]

/** Two hundred of them. */
export const corpus: ReadonlyArray<string> = wrappers.flatMap((wrapped) => payloads.map(wrapped)).map((text) => text.slice(0, 200))
