/**
 * The end of the audit log's chain, stored outside it: so far that of the links that are there. Each link has its place in the chain, which an earlier version
 * does not write: its links are refused, because they would come without a head.
 */
export const script = `
alter table satrail.audit_links add column place bigint;
update satrail.audit_links l set place = n.place
from (select entry_id, row_number() over (order by entry_id) as place from satrail.audit_links) n where n.entry_id = l.entry_id;
alter table satrail.audit_links alter column place set not null;
insert into satrail.cursors (source, value)
select 'audit head', l.entry_id || ':' || l.place || ':' || l.whole || ':' from satrail.audit_links l order by l.entry_id desc limit 1;
`
