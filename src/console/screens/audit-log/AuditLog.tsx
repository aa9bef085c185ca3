import { useMemo, useState } from 'react';
import { redact } from '../../data/redaction.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { ErrorBox } from '../../design/Loaded.tsx';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { download } from '../../list/download.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { ActionChip, EventTime } from './ActionChip.tsx';
import css from './AuditLog.module.css';
import {
  ACTIONS,
  type AuditEvent,
  type AuditFilter,
  actorParts,
  SPANS,
  summaryOf,
  withLabel,
} from './audit-event.ts';
import { hrefOf } from './audited-resource.ts';
import { EventDrawer } from './EventDrawer.tsx';
import { csvOf } from './export.ts';
import { texts } from './texts.ts';
import { AUDIT_OFF, useAudit } from './use-audit.ts';

const Actor = ({ actor }: { actor: string }) => {
  const { short, label } = actorParts(actor);
  return (
    <span className={css.actor} title={actor}>
      {label !== '' && <span>{label}</span>}
      <span className={`${css.mono} ${css.quiet}`}>{short}</span>
    </span>
  );
};

const useColumns = (): Column<AuditEvent>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'time',
        label: t('column.time'),
        always: true,
        value: (event) => Date.parse(event.ts),
        text: (event) => event.ts,
        cell: (event) => <EventTime at={event.ts} />,
      },
      {
        id: 'actor',
        label: t('column.actor'),
        value: (event) => event.actor,
        cell: (event) => <Actor actor={event.actor} />,
      },
      {
        id: 'action',
        label: t('column.action'),
        value: (event) => event.action,
        cell: (event) => <ActionChip action={event.action} />,
      },
      {
        id: 'resource',
        label: t('column.resource'),
        shortened: true,
        value: (event) => event.resource,
        cell: (event, mark) => (
          <ScreenLink to={hrefOf(event.resource)} className={css.mono}>
            {mark(event.resource)}
          </ScreenLink>
        ),
      },
      {
        id: 'summary',
        label: t('column.summary'),
        shortened: true,
        unsorted: true,
        value: summaryOf,
        cell: (event, mark) => {
          const summary = summaryOf(event);
          return <span title={summary}>{summary === '' ? '—' : mark(summary)}</span>;
        },
      },
    ],
    [t],
  );
};

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

/** The range is a span until now, or has its own start and end. */
const useFilters = (events: readonly AuditEvent[]): Filter[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        key: 'since',
        kind: 'choice',
        label: t('filter.range'),
        options: SPANS.map(([span]) => [span, t(`range.${span}`)] as const),
      },
      { key: 'since', kind: 'time', label: t('filter.since') },
      { key: 'until', kind: 'time', label: t('filter.until') },
      { key: 'resource', kind: 'text', label: t('filter.resource'), options: resourcesOf(events) },
      { key: 'actor', kind: 'text', label: t('filter.actor'), title: t('filter.actorNote') },
      {
        key: 'action',
        kind: 'choices',
        label: t('filter.actions'),
        options: ACTIONS.map((action) => [action, t(`action.${action}`)] as const),
      },
    ],
    [t, events],
  );
};

export default function AuditLog() {
  const t = useTexts(texts);
  const format = useFormat();
  const [{ since, until, action, resource, actor, event }, setQuery] = useQueryState();
  const filter: AuditFilter = useMemo(
    () => ({ since, until, action, resource, actor }),
    [since, until, action, resource, actor],
  );
  const [isTail, follow] = useState(false);
  const { query, events, loaded } = useAudit(filter, isTail);
  const columns = useColumns();
  const filterBy = useFilters(events);
  const rows = useMemo(() => withLabel(events, actor), [events, actor]);
  return (
    <Page
      title={t('title')}
      count={query.data && `${format.number(loaded.length)}${query.hasNextPage ? '+' : ''}`}
      purpose={t('purpose')}
      actions={<Exports events={rows} />}
    >
      {query.error && !query.data && (
        <ErrorBox error={query.error} off={AUDIT_OFF} onRetry={() => void query.refetch()} />
      )}
      {query.isPending && <SkeletonRows />}
      {query.data && (
        <List
          name="audit-log"
          rows={rows}
          columns={columns}
          rowId={({ id }) => id}
          onOpen={({ id }) => setQuery({ event: id })}
          openId={event}
          searchPlaceholder={t('search')}
          filterBy={filterBy}
          tools={<CheckField label={t('tail')} checked={isTail} onChange={follow} />}
          fresh={{ at: query.dataUpdatedAt, busy: query.isFetching, refresh: () => void query.refetch() }}
          unpaged
          after={
            query.hasNextPage && (
              <Button small disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                {t('more')}
              </Button>
            )
          }
          empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
        />
      )}
      {event && query.data && <EventDrawer id={event} events={rows} />}
    </Page>
  );
}
