import { Chip } from '../../design/Chip.tsx';
import { textOr } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { entryHref } from '../../navigation/entry-paths.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { Connection } from './connection.ts';
import texts from './texts.json' with { type: 'json' };

/** The columns of lists of connections. */
export const connectionColumns: ColumnsOf<Connection, keyof typeof texts> = (t) => [
  {
    id: 'server',
    value: ({ server }) => server,
    always: true,
    cell: ({ server }, mark) => (
      <ScreenLink to={entryHref('mcp-servers', server)} className="mono">
        {mark(server)}
      </ScreenLink>
    ),
  },
  {
    id: 'state',
    value: ({ state }) => state,
    cell: ({ state }) => (
      <Chip tone={state === 'connected' ? 'success' : 'warn'}>
        {textOr(t, texts, `state.${state}`, state)}
      </Chip>
    ),
  },
  { id: 'scopes', value: ({ scopes }) => scopes.join(' ') || '—', shortened: true },
  { id: 'issuer', value: ({ issuer }) => issuer || '—', shortened: true },
  { id: 'connected', at: ({ connected_at: at }) => at },
  { id: 'expires', at: ({ expires_at: at }) => at, isDate: true, isExtra: true },
];
