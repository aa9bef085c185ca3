import { useMemo } from 'react';
import { Chip } from '../../design/Chip.tsx';
import look from '../../design/Look.module.css';
import { Ago, DateTime } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
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
export const useConnectionColumns = (): Column<Connection>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'server',
        label: t('column.server'),
        always: true,
        value: ({ server }) => server,
        cell: ({ server }, mark) => (
          <ScreenLink to={entryHref('mcp-servers', server)} className={look.mono}>
            {mark(server)}
          </ScreenLink>
        ),
      },
      {
        id: 'state',
        label: t('column.state'),
        value: ({ state }) => state,
        cell: ({ state }) => <State state={state} />,
      },
      {
        id: 'scopes',
        label: t('column.scopes'),
        shortened: true,
        value: ({ scopes }) => scopes.join(' ') || '—',
      },
      {
        id: 'issuer',
        label: t('column.issuer'),
        shortened: true,
        value: ({ issuer }) => issuer || '—',
      },
      {
        id: 'connected',
        label: t('column.connected'),
        value: ({ connected_at: at }) => at,
        text: () => '',
        cell: ({ connected_at: at }) => <Ago at={at} />,
      },
      {
        id: 'expires',
        label: t('column.expires'),
        isExtra: true,
        value: ({ expires_at: at }) => at ?? 0,
        text: () => '',
        cell: ({ expires_at: at }) => <DateTime at={at} />,
      },
    ],
    [t],
  );
};
