/** A feature's part of the schema. Its nouns, reads, rights and holds follow from the core. */
export interface Feature {
  /** Creates the tables it had in the first release. Never changes; a feature added later has none. */
  readonly tables?: string
  /** Its later migrations by number and name, as in `Migrations.ts`: `{ "0081_voucher_notes": script }`. */
  readonly migrations?: { readonly [name: string]: string }
}
