import { useCallback, useMemo, useState } from 'react';
import { object, optional, text } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { idsOf, recordsOf } from '../../data/records.ts';
import { Chip } from '../../design/Chip.tsx';
import { CheckField } from '../../design/Field.tsx';
import css from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useEntryRows } from '../../entry/use-entries.ts';
import { textOr, useFormat, useTexts } from '../../i18n/locale.ts';
import { agentsCell } from '../../list/columns.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { check, homeOf, membersOf, POOLS, type Pool, picksOf } from './pool.ts';
import texts from './texts.json' with { type: 'json' };

/** Previews which members receive requests while some are unavailable. */
const Simulation = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const { draft } = useEntryForm();
  const [down, setDown] = useState<ReadonlySet<string>>(new Set());
  const members = membersOf(draft);
  const picks = useMemo(() => picksOf(membersOf(draft), homeOf(draft), down), [draft, down]);
  const toggle = (id: string, isDown: boolean): void =>
    setDown(new Set(isDown ? [...down, id] : [...down].filter((other) => other !== id)));
  if (members.length === 0) return null;
  return (
    <fieldset className={css.box}>
      <legend>{t('simulate')}</legend>
      <p className="quiet">{t('simulate.hint')}</p>
      <div className="row">
        {members.map(({ model_id: id }) => (
          <CheckField
            key={id}
            label={t('simulate.isDown', { id })}
            checked={down.has(id)}
            onChange={(isDown) => toggle(id, isDown)}
          />
        ))}
      </div>
      <ul className="stack" role="status">
        {picks.map(({ model_id, share }) => (
          <li key={model_id} className="row">
            <code>{model_id}</code>
            <span className="quiet">
              {share === 1 ? t('simulate.all') : t('simulate.share', { share: format.percent(share) })}
            </span>
          </li>
        ))}
        {picks.length === 0 && <li className="bad">{t('simulate.none')}</li>}
      </ul>
    </fieldset>
  );
};

/** The models that members may use; a new member uses one that is not a member yet. */
const useModels: NonNullable<EntryDescriptor['useSchema']> = ({ draft }) => {
  const models = useResource(idsOf('models')).data;
  return useMemo(() => {
    const used = membersOf(draft).map(({ model_id }) => model_id);
    const ids = [...new Set([...(models ?? []), ...used])].filter(Boolean);
    const free = ids.find((id) => !used.includes(id)) ?? '';
    return { members: { items: { properties: { model_id: { enum: ids, default: free } } } } };
  }, [models, draft]);
};

const POOL: EntryDescriptor = {
  namespace: 'model-pools',
  entity: 'entity.modelPool',
  texts,
  start: { id: '', members: [] },
  fields: () => ['id', 'members', 'routing', 'switch'],
  ui: {
    members: { 'ui:orderable': true },
    switch: { 'ui:order': ['on_circuit_open', 'on_quota', 'on_permanent'] },
  },
  useSchema: useModels,
  check,
  After: Simulation,
};

const AGENTS = recordsOf('agents', object({ id: text, model_id: optional(text) }));

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
    value: ({ routing: { home = 'deterministic' } = {} }) =>
      textOr(t, texts, `field.routing.home.${home}`, home),
  },
  { id: 'agents', label: t('column.usedBy'), ...agentsCell() },
];

export default function ModelPools() {
  const agents = useResource(AGENTS).data;
  const rowsOf = useCallback(
    (pools: readonly Pool[]) =>
      pools.map(
        (pool): Row => ({
          ...pool,
          agents: (agents ?? []).filter(({ model_id }) => model_id === pool.id).map(({ id }) => id),
        }),
      ),
    [agents],
  );
  return <EntryScreen kind={POOL} texts={texts} entries={useEntryRows(POOLS, rowsOf)} columns={columnsOf} />;
}
