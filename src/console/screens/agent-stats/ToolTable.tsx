import { useState } from 'react';
import { Card } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './AgentStats.module.css';
import type { ToolRow } from './snapshot.ts';
import { texts } from './texts.ts';

/** Which tools were called, and how that went. */

const failureShare = ({ failure_count: failed, call_count: all }: ToolRow): number =>
  all === 0 ? 0 : failed / all;

const COLUMNS = {
  tool: ({ tool }) => tool,
  calls: ({ call_count }) => call_count,
  failures: failureShare,
  avg: ({ avg_duration_ms }) => avg_duration_ms,
  p50: ({ p50_duration_ms }) => p50_duration_ms,
  p95: ({ p95_duration_ms }) => p95_duration_ms,
  p99: ({ p99_duration_ms }) => p99_duration_ms,
  max: ({ max_duration_ms }) => max_duration_ms,
  total: ({ total_duration_ms }) => total_duration_ms,
} as const satisfies Record<string, (row: ToolRow) => string | number>;

type ColumnId = keyof typeof COLUMNS;

const IDS = Object.keys(COLUMNS).filter((id): id is ColumnId => id in COLUMNS);

const compared = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));

const Cell = ({ id, row }: { id: ColumnId; row: ToolRow }) => {
  const format = useFormat();
  const value = COLUMNS[id](row);
  if (id === 'tool') return <ScreenLink to={`/tools/${encodeURIComponent(row.tool)}`}>{row.tool}</ScreenLink>;
  if (typeof value === 'string') return value;
  if (id === 'calls') return format.number(value);
  if (id === 'failures') return <span data-bad={value > 0 || undefined}>{format.percent(value)}</span>;
  return format.duration(value);
};

export const ToolTable = ({ rows }: { rows: readonly ToolRow[] }) => {
  const t = useTexts(texts);
  const [{ by, isUp }, sort] = useState<{ by: ColumnId; isUp: boolean }>({ by: 'calls', isUp: false });
  const sorted = rows.toSorted((a, b) => compared(COLUMNS[by](a), COLUMNS[by](b)) * (isUp ? 1 : -1));
  return (
    <Card title={t('tools')} flush>
      {rows.length === 0 ? (
        <EmptyState title={t('tools.none')} />
      ) : (
        <div className={css.frame}>
          <table className={css.table}>
            <thead>
              <tr>
                {IDS.map((id) => (
                  <th
                    key={id}
                    scope="col"
                    aria-sort={by === id ? (isUp ? 'ascending' : 'descending') : undefined}
                  >
                    <button type="button" onClick={() => sort({ by: id, isUp: by === id && !isUp })}>
                      {t(`column.${id}`)}
                      {by === id && <span aria-hidden="true">{isUp ? ' ↑' : ' ↓'}</span>}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {sorted.map((row) => (
                <tr key={row.tool}>
                  {IDS.map((id) => (
                    <td key={id}>
                      <Cell id={id} row={row} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
};
