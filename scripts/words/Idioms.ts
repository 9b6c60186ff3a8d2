/** A phrase that no page, message, comment or test title may contain, with its replacement. */
export interface Idiom {
  readonly pattern: RegExp
  readonly instead: string
}

const idiom = (pattern: RegExp, instead: string): Idiom => ({ pattern, instead })

export const idioms: ReadonlyArray<Idiom> = [
  idiom(/\b(?:hears?|heard) (?:so|of it)\b|\b(?:is|are|was|were) told\b/i, "receives, is notified"),
  idiom(/\b(?:gives?|given|gave|goes|went) back\b/i, "returns, refunds"),
  idiom(/\bhow (?:it|they) stands?\b|\bstandings?\b/i, "status"),
  idiom(/\b\w+ of (?:ours|yours|theirs|his own|nobody)\b/i, "our, your, their"),
  idiom(/\bpa(?:id|ys?) inside\b/i, "settled internally"),
  idiom(/\bany more\b(?! than)/i, "no longer"),
  idiom(/\bby now\b/i, "now, already"),
  idiom(/\ball the same\b/i, "still, anyway"),
  idiom(/\bbesides\b(?! \w+ing)/i, "also, too"),
  idiom(/\b(?:it|one|that|which|node|service|company|test|endpoint|caller) wants\b/i, "requires, needs"),
  idiom(/\b(?:it|that|which|one|work|sending|service|process) goes on\b/i, "continues, resumes"),
  idiom(/\bpretended\b|\bmade[- ]up\b/i, "simulated"),
  idiom(/\bfor ever\b/i, "final, permanently"),
  idiom(/\bis (?:no|not an?) affair\b/i, "is not handled here"),
  idiom(/\b(?:is|are) to be (?!the\b|a\b)\w+(?:ed|en|t)\b/i, "must be, or say who does it"),
  idiom(/\b(?:is|are|was|were) (?:looked at|asked for)\b/i, "is checked, is requested"),
  idiom(/\blooks? again\b|\blooked up again\b/i, "checks again, polls"),
  idiom(/\bwhoever\b/i, "anyone who, name the actor"),
  idiom(
    /\bwhat (?:is|was|are|were) (?:not )?\w+(?:ed|en) (?:is|was|are|were)\b/i,
    "a noun in place of the clause"
  ),
  idiom(/\bso many\b|\bso much\b/i, "a limit, the number"),
  idiom(/\bof (?:it|them|these|those) (?:there|nothing|none)\b/i, "put the subject first"),
  idiom(/\bin (?:his|her) (?:place|stead)\b|\bin (?:its|their) stead\b/i, "instead"),
  idiom(/\bmay be (?:by|of) (?:anybody|nobody)\b/i, "name the actor"),
  idiom(/\b(?:anybody|nobody)'s\b/i, "unassigned, or name the owner"),
  idiom(/\blook(?:s|ed)? (?:whether|into)\b/i, "check"),
  idiom(/\b(?:it|that|this|which|one|words?|key) (?:is|are) no (?!longer|more|such|less)\w+/i, "is not a"),
  idiom(/\bnames no\b/i, "contains no, has no"),
  idiom(/\btakes? (?:no )?writes\b/i, "accepts writes"),
  idiom(/\bwants (?:a|an|the|something)\b/i, "requires, needs"),
  idiom(/\bat once: one\b|\bof \w+ at once\b/i, "concurrent"),
  idiom(/\bits response is unexpected\b/i, "say what happened: no response, refused"),
  idiom(
    /\bthe check \S+ fails\b|\bsee roles\b/i,
    "name the part that is not working, the work that is not done"
  ),
  idiom(/\bheld beyond\b|\bin all$|\bchange to collect\b/i, "surplus, total, change is ready"),
  idiom(/^the request failed\b|^events are not visible\b/i, "say what to correct; events are delayed"),
  idiom(
    /\bcolour|\bfavour|\bbehaviour|isation\b|\bcatalogue\b|\bcancelled\b|\blicence\b/i,
    "the American spelling"
  )
]
