import { Chip } from '../../design/Chip.tsx';
import { type Say, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { column, timeColumn } from '../../list/columns.tsx';
import { entryHref } from '../../navigation/entry-paths.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { Connection } from './connection.ts';
import { texts } from './texts.ts';

const State = ({ state }: { state: string }) => {
  const t = useTexts(texts);
  if (state === 'connected') return <Chip tone="success">{t('state.connected')}</Chip>;
  return <Chip tone="warn">{state === 'expired' ? t('state.expired') : state}</Chip>;
};

/** The columns of lists of connections. */
export const connectionColumns = (t: Say<keyof typeof texts.en>): Column<Connection>[] => [
  column('server', t('column.server'), ({ server }) => server, {
    always: true,
    cell: ({ server }, mark) => (
      <ScreenLink to={entryHref('mcp-servers', server)} className="mono">
        {mark(server)}
      </ScreenLink>
    ),
  }),
  column('state', t('column.state'), ({ state }) => state, { cell: ({ state }) => <State state={state} /> }),
  column('scopes', t('column.scopes'), ({ scopes }) => scopes.join(' ') || '—', { shortened: true }),
  column('issuer', t('column.issuer'), ({ issuer }) => issuer || '—', { shortened: true }),
  timeColumn('connected', t('column.connected'), ({ connected_at: at }) => at),
  timeColumn('expires', t('column.expires'), ({ expires_at: at }) => at, { isDate: true, isExtra: true }),
];
