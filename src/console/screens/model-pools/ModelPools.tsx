import { useMemo } from 'react';
import { object, optional, text } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { Chip } from '../../design/Chip.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { agentsCell } from '../../list/columns.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { POOLS, type Pool } from './pool.ts';
import { POOL } from './pool-form.tsx';
import texts from './texts.json' with { type: 'json' };

const AGENTS = recordsOf('agents', object({ id: text, model_id: optional(text) }));
const HOMES = ['deterministic', 'round_robin', 'first_healthy'] as const;

type Row = Pool & { agents: readonly string[] };

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t) => [
  {
    id: 'members',
    label: t('field.members'),
    value: ({ members }) => members.map(({ model_id }) => model_id).join(' '),
    cell: ({ members }) => (
      <span className="row">
        {members.map(({ model_id, weight, role }) => (
          <Chip key={model_id} tone={role === 'failover_only' ? 'none' : 'info'}>
            {model_id}
            {weight !== undefined && weight !== 1 && ` ×${weight}`}
            {role === 'failover_only' && ' ⤵'}
          </Chip>
        ))}
      </span>
    ),
  },
  {
    id: 'routing',
    label: t('field.routing'),
    value: ({ routing }) => {
      const home = routing?.home ?? 'deterministic';
      const known = HOMES.find((each) => each === home);
      return known ? t(`field.routing.home.${known}`) : home;
    },
  },
  { id: 'agents', label: t('column.usedBy'), ...agentsCell() },
];

export default function ModelPools() {
  const query = useResource(POOLS);
  const agents = useResource(AGENTS).data;
  const rows = useMemo(
    () =>
      (query.data ?? []).map((pool) => ({
        ...pool,
        agents: (agents ?? []).filter(({ model_id }) => model_id === pool.id).map(({ id }) => id),
      })),
    [query.data, agents],
  );
  return (
    <EntryScreen kind={POOL} texts={texts} query={query} off={POOLS.off} rows={rows} columns={columnsOf} />
  );
}
