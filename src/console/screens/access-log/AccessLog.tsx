import { useMemo } from 'react';
import { Button } from '../../design/Button.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { Page } from '../../design/Layout.tsx';
import look from '../../design/Look.module.css';
import { EmptyState } from '../../design/Notice.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { toCsv } from '../../list/csv.ts';
import { download } from '../../list/download.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { PagedList } from '../../list/PagedList.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { SPANS } from '../audit-log/audit-event.ts';
import { userColumn } from '../users/user-column.tsx';
import { ACCESS_KINDS, type AccessEvent, accessEvents, accessHref, withOthers } from './access-event.ts';
import { texts } from './texts.ts';

const TONES: Readonly<Record<string, Tone>> = {
  sign_in: 'success',
  sign_in_failed: 'error',
  denied: 'error',
  decide: 'info',
  admin_new_address: 'warn',
};

const Kind = ({ kind }: { kind: string }) => {
  const t = useTexts(texts);
  const known = ACCESS_KINDS.find((each) => each === kind);
  return <Chip tone={TONES[kind] ?? 'none'}>{known ? t(`kind.${known}`) : kind}</Chip>;
};

const CREDENTIALS = ['admin', 'key', 'jwt', 'session', 'ticket', 'program', 'anonymous'] as const;

const Credential = ({ credential }: Pick<AccessEvent, 'credential'>) => {
  const t = useTexts(texts);
  if (!credential) return <>—</>;
  const { kind, id } = credential;
  const known = CREDENTIALS.find((each) => each === kind);
  const name = known ? t(`credential.${known}`) : kind;
  if (id === undefined) return <>{name}</>;
  return (
    <ScreenLink to={accessHref({ credential: id })} title={id} className={look.cut}>
      {name} <span className={look.mono}>{id.slice(0, 8)}</span>
    </ScreenLink>
  );
};

/** The reason of the event, and its run or thread. */
const About = ({ event }: { event: AccessEvent }) => {
  const t = useTexts(texts);
  const { reason, run_id: run, thread_id: thread } = event;
  return (
    <span className={look.row}>
      <span className={look.cut} title={reason}>
        {reason ?? (run === undefined && thread === undefined ? '—' : '')}
      </span>
      {run !== undefined && (
        <ScreenLink to={`/runs/${encodeURIComponent(run)}`} title={run}>
          {t('run')}
        </ScreenLink>
      )}
      {run === undefined && thread !== undefined && (
        <ScreenLink to={`/threads/${encodeURIComponent(thread)}`} title={thread}>
          {t('thread')}
        </ScreenLink>
      )}
    </span>
  );
};

const useColumns = (): Column<AccessEvent>[] => {
  const t = useTexts(texts);
  const format = useFormat();
  return useMemo(
    () => [
      {
        id: 'time',
        label: t('column.time'),
        always: true,
        value: ({ ts }) => Date.parse(ts),
        text: ({ ts }) => ts,
        cell: ({ ts }) => (
          <span className={look.row}>
            <DateTime at={ts} />
            <span className={look.quiet}>
              <Ago at={ts} />
            </span>
          </span>
        ),
      },
      {
        id: 'kind',
        label: t('column.kind'),
        value: ({ kind }) => kind,
        cell: ({ kind, count }) => (
          <span className={look.row}>
            <Kind kind={kind} />
            {count > 1 && <span className={look.quiet}>×{format.number(count)}</span>}
          </span>
        ),
      },
      userColumn<AccessEvent>(t('column.user')),
      {
        id: 'credential',
        label: t('column.credential'),
        value: ({ credential }) => credential?.kind ?? '',
        text: ({ credential }) => `${credential?.kind ?? ''} ${credential?.id ?? ''}`,
        cell: ({ credential }) => <Credential credential={credential} />,
      },
      {
        id: 'ip',
        label: t('column.ip'),
        isCode: true,
        value: ({ ip }) => ip ?? '—',
      },
      {
        id: 'about',
        label: t('column.about'),
        shortened: true,
        value: ({ reason }) => reason ?? '',
        text: ({ reason, run_id, thread_id }) => [reason, run_id, thread_id].join(' '),
        cell: (event) => <About event={event} />,
      },
      {
        id: 'route',
        label: t('column.route'),
        shortened: true,
        isCode: true,
        isExtra: true,
        value: ({ route }) => route ?? '—',
      },
      {
        id: 'scope',
        label: t('column.scope'),
        isExtra: true,
        value: ({ scope }) => scope ?? '—',
      },
    ],
    [t, format],
  );
};

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        key: 'kind',
        kind: 'choice',
        label: t('column.kind'),
        options: ACCESS_KINDS.map((kind) => [kind, t(`kind.${kind}`)] as const),
      },
      { key: 'user', kind: 'text', label: t('column.user'), title: t('filter.userNote') },
      { key: 'credential', kind: 'text', label: t('filter.credential'), title: t('filter.credentialNote') },
      { key: 'ip', kind: 'text', label: t('column.ip') },
      {
        key: 'since',
        kind: 'choice',
        label: t('filter.range'),
        options: SPANS.map(([span]) => [span, t(`range.${span}`)] as const),
      },
      { key: 'since', kind: 'time', label: t('filter.since') },
      { key: 'until', kind: 'time', label: t('filter.until') },
    ],
    [t],
  );
};

const FIELDS = [
  ...(['ts', 'kind', 'count', 'scope', 'user', 'credential', 'ip', 'route', 'reason'] as const),
  ...(['thread_id', 'run_id'] as const),
] as const;

const csvOf = (events: readonly AccessEvent[]): string =>
  toCsv([
    FIELDS,
    ...events.map((event) =>
      FIELDS.map((field) =>
        field === 'credential'
          ? [event.credential?.kind, event.credential?.id].filter(Boolean).join(' ')
          : event[field],
      ),
    ),
  ]);

export default function AccessLog() {
  const t = useTexts(texts);
  const format = useFormat();
  const [query] = useQueryState();
  const pages = usePages(accessEvents(query, Date.now()));
  const columns = useColumns();
  const filters = useFilters();
  const rows = useMemo(() => withOthers(pages.rows, query), [pages.rows, query]);
  const save = (): void =>
    download(`access-log-${new Date().toISOString().slice(0, 10)}.csv`, 'text/csv', csvOf(rows));
  return (
    <Page
      title={t('title')}
      count={pages.last && `${format.number(rows.length)}${pages.hasMore ? '+' : ''}`}
      purpose={t('purpose')}
      actions={
        <Button icon="download" disabled={rows.length === 0} onClick={save}>
          {t('csv')}
        </Button>
      }
    >
      <PagedList
        name="access-log"
        pages={pages}
        rows={rows}
        isSearchedHere
        columns={columns}
        rowId={({ id }) => id}
        searchPlaceholder={t('search')}
        filterBy={filters}
        empty={<EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>}
      />
    </Page>
  );
}
