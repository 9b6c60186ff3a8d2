import type { Locale } from "../../State.ts"
import { ar } from "./words/ar.ts"
import { de } from "./words/de.ts"
import { en, type Words } from "./words/en.ts"
import { es } from "./words/es.ts"
import { fr } from "./words/fr.ts"
import { pt } from "./words/pt.ts"

export const words: { readonly [locale in Locale]: Words } = { en, de, es, fr, pt, ar }
