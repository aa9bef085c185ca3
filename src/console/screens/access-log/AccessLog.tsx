import { useMemo } from 'react';
import { Button } from '../../design/Button.tsx';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import { toCsv } from '../../list/csv.ts';
import { download } from '../../list/download.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen } from '../../list/ListScreen.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { TIME_CELL } from '../audit-log/ActionChip.tsx';
import { useRangeFilters } from '../audit-log/use-range-filters.ts';
import { USER_CELL } from '../users/UserLink.tsx';
import { ACCESS_KINDS, type AccessEvent, accessEvents, accessHref, withOthers } from './access-event.ts';
import texts from './texts.json' with { type: 'json' };

type T = Say<keyof typeof texts>;

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
    <ScreenLink to={accessHref({ credential: id })} title={id} className="cut">
      {name} <span className="mono">{id.slice(0, 8)}</span>
    </ScreenLink>
  );
};

/** The reason of the event, and its run or thread. */
const About = ({ event }: { event: AccessEvent }) => {
  const t = useTexts(texts);
  const { reason, run_id: run, thread_id: thread } = event;
  return (
    <span className="row">
      <span className="cut" title={reason}>
        {reason ?? (run === undefined && thread === undefined ? '—' : '')}
      </span>
      {run !== undefined && (
        <ScreenLink to={`/runs/${encodeURIComponent(run)}`} title={run}>
          {t('common.run')}
        </ScreenLink>
      )}
      {run === undefined && thread !== undefined && (
        <ScreenLink to={`/threads/${encodeURIComponent(thread)}`} title={thread}>
          {t('common.thread')}
        </ScreenLink>
      )}
    </span>
  );
};

const columnsOf: ColumnsOf<AccessEvent, keyof typeof texts> = (_, format) => [
  { id: 'time', ...TIME_CELL },
  {
    id: 'kind',
    value: ({ kind }) => kind,
    cell: ({ kind, count }) => (
      <span className="row">
        <Kind kind={kind} />
        {count > 1 && <span className="quiet">×{format.number(count)}</span>}
      </span>
    ),
  },
  { id: 'user', ...USER_CELL },
  {
    id: 'credential',
    isWide: true,
    value: ({ credential }) => credential?.kind ?? '',
    text: ({ credential }) => `${credential?.kind ?? ''} ${credential?.id ?? ''}`,
    cell: ({ credential }) => <Credential credential={credential} />,
  },
  { id: 'ip', isWide: true, value: ({ ip }) => ip ?? '—', isCode: true },
  {
    id: 'about',
    isWide: true,
    value: ({ reason }) => reason ?? '',
    shortened: true,
    text: ({ reason, run_id, thread_id }) => [reason, run_id, thread_id].join(' '),
    cell: (event) => <About event={event} />,
  },
  { id: 'route', value: ({ route }) => route ?? '—', shortened: true, isCode: true, isExtra: true },
  { id: 'scope', value: ({ scope }) => scope ?? '—', isExtra: true },
];

const filtersOf = (t: T): Filter[] => [
  {
    key: 'kind',
    kind: 'choice',
    label: t('column.kind'),
    options: ACCESS_KINDS.map((kind) => [kind, t(`kind.${kind}`)] as const),
  },
  { key: 'user', kind: 'text', label: t('column.user'), title: t('filter.userNote') },
  { key: 'credential', kind: 'text', label: t('filter.credential'), title: t('filter.credentialNote') },
  { key: 'ip', kind: 'text', label: t('column.ip') },
];

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
  const [query] = useQueryState();
  const range = useRangeFilters();
  const pages = usePages(accessEvents(query, Date.now()));
  const rows = useMemo(() => withOthers(pages.rows, query), [pages.rows, query]);
  const save = (): void =>
    download(`access-log-${new Date().toISOString().slice(0, 10)}.csv`, 'text/csv', csvOf(rows));
  return (
    <ListScreen
      name="access-log"
      texts={texts}
      pages={pages}
      rows={rows}
      isSearchedHere
      columns={columnsOf}
      filterBy={[...filtersOf(t), ...range]}
      head={
        <Button icon="download" disabled={rows.length === 0} onClick={save}>
          {t('common.exportCsv')}
        </Button>
      }
    />
  );
}
