/** The end of the audit log's chain, stored outside it: so far that of the links that are there. */
export const script = `
insert into satrail.cursors (source, value)
select 'audit head', l.entry_id || ':' || (select count(*) from satrail.audit_links) || ':' || l.whole || ':'
from satrail.audit_links l order by l.entry_id desc limit 1;
`
