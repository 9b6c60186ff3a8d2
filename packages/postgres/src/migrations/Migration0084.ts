/** Index that finds frozen companies without reading the others. */
export const script = "create index companies_frozen on satrail.companies (id) where frozen is not null"
