import { useMemo, useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField } from '../../design/Field.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { toCsv } from '../../list/csv.ts';
import { download } from '../../list/download.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { ActionChip, TIME_CELL } from './ActionChip.tsx';
import {
  ACTIONS,
  type AuditEvent,
  type AuditFilter,
  actorParts,
  summaryOf,
  withLabel,
} from './audit-event.ts';
import { hrefOf } from './audited-resource.ts';
import { EventDrawer } from './EventDrawer.tsx';
import texts from './texts.json' with { type: 'json' };
import { useAudit } from './use-audit.ts';
import { useRangeFilters } from './use-range-filters.ts';

const csvOf = (events: readonly AuditEvent[]): string =>
  toCsv([
    ['time', 'actor', 'action', 'resource', 'summary'],
    ...events.map((event) => [event.ts, event.actor, event.action, event.resource, summaryOf(event)]),
  ]);

type T = Say<keyof typeof texts>;

const Actor = ({ actor }: { actor: string }) => {
  const { short, label } = actorParts(actor);
  return (
    <span className="row" title={actor}>
      {label !== '' && <span>{label}</span>}
      <span className="mono quiet">{short}</span>
    </span>
  );
};

const columnsOf: ColumnsOf<AuditEvent, keyof typeof texts> = () => [
  { id: 'time', ...TIME_CELL },
  { id: 'actor', isWide: true, value: ({ actor }) => actor, cell: ({ actor }) => <Actor actor={actor} /> },
  { id: 'action', value: ({ action }) => action, cell: ({ action }) => <ActionChip action={action} /> },
  {
    id: 'resource',
    value: ({ resource }) => resource,
    shortened: true,
    cell: ({ resource }, mark) => (
      <ScreenLink to={hrefOf(resource)} className="mono">
        {mark(resource)}
      </ScreenLink>
    ),
  },
  { id: 'summary', isWide: true, value: summaryOf, shortened: true, unsorted: true },
];

const Exports = ({ events }: { events: readonly AuditEvent[] }) => {
  const t = useTexts(texts);
  const name = `audit-log-${new Date().toISOString().slice(0, 10)}`;
  const ndjson = (): string =>
    events
      .map((event) => JSON.stringify(redact(event)))
      .join('\n')
      .concat('\n');
  return (
    <>
      <Button icon="download" onClick={() => download(`${name}.csv`, 'text/csv', csvOf(events))}>
        {t('csv')}
      </Button>
      <Button icon="download" onClick={() => download(`${name}.ndjson`, 'application/x-ndjson', ndjson())}>
        {t('ndjson')}
      </Button>
    </>
  );
};

const resourcesOf = (events: readonly AuditEvent[]): string[] =>
  [...new Set(events.flatMap(({ resource }) => [resource.split('/')[0] ?? '', resource]))].sort();

const filtersOf = (t: T, events: readonly AuditEvent[]): Filter[] => [
  { key: 'resource', kind: 'text', label: t('column.resource'), options: resourcesOf(events) },
  { key: 'actor', kind: 'text', label: t('column.actor'), title: t('filter.actorNote') },
  {
    key: 'action',
    kind: 'choices',
    label: t('filter.actions'),
    options: ACTIONS.map((action) => [action, t(`action.${action}`)] as const),
  },
];

export default function AuditLog() {
  const t = useTexts(texts);
  const [{ since, until, action, resource, actor, event }, setQuery] = useQueryState();
  const filter: AuditFilter = useMemo(
    () => ({ since, until, action, resource, actor }),
    [since, until, action, resource, actor],
  );
  const [isTail, follow] = useState(false);
  const range = useRangeFilters();
  const pages = useAudit(filter, isTail);
  const rows = useMemo(() => withLabel(pages.rows, actor), [pages.rows, actor]);
  return (
    <ListScreen
      name="audit-log"
      texts={texts}
      pages={pages}
      rows={rows}
      isSearchedHere
      columns={columnsOf}
      filterBy={[...range, ...filtersOf(t, pages.rows)]}
      onOpen={({ id }) => setQuery({ event: id })}
      openId={event}
      tools={<CheckField label={t('tail')} checked={isTail} onChange={follow} />}
      head={<Exports events={rows} />}
    >
      {event && pages.last && <EventDrawer id={event} events={rows} />}
    </ListScreen>
  );
}
