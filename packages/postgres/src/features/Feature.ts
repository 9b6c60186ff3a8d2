/** What a feature has in SQL. Its nouns, their reads and rights, and what they hold follow from the core. */
export interface Feature {
  /** By number and name, as those of `Migrations.ts`: no number is there twice. */
  readonly migrations: { readonly [name: string]: string }
}
