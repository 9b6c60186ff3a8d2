/**
 * What was booked since is found by the entries' ids: by ranges of pages, which costs a commit nothing and the disk next to nothing, since entries lie in the
 * order in which they came.
 */
export const script = `
create index entries_since on satrail.entries using brin (id) with (pages_per_range = 32, autosummarize = on);
`
