import { useCallback } from 'react';
import { useResource } from '../../data/queries.ts';
import { Chip } from '../../design/Chip.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useEntryRows } from '../../entry/use-entries.ts';
import type { Say } from '../../i18n/locale.ts';
import { agentsCell } from '../../list/columns.tsx';
import type { Filter } from '../../list/FilterBar.tsx';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './Skills.module.css';
import { AGENTS, callerOf, isCalledBy, SKILLS, type Skill, usersOf } from './skill.ts';
import { SKILL } from './skill-form.tsx';
import texts from './texts.json' with { type: 'json' };

type Row = Skill & { agents: readonly string[] };

const CALLERS = ['user', 'model', 'internal'] as const;
const CONTEXTS = ['inline', 'fork'] as const;

type T = Say<keyof typeof texts>;

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t) => [
  { id: 'name', label: t('field.name'), value: (row) => row.name },
  {
    id: 'description',
    label: t('field.description'),
    value: (row) => row.description,
    text: (row) => [row.description, row.when_to_use, ...row.allowed_tools, ...row.paths].join(' '),
    unsorted: true,
    cell: (row, mark) => (
      <span className={css.description} title={row.description}>
        {mark(row.description)}
      </span>
    ),
  },
  { id: 'caller', value: (row) => t(`caller.${callerOf(row)}`) },
  {
    id: 'context',
    label: t('field.context'),
    value: (row) => row.context,
    cell: ({ context }) => <Chip tone={context === 'fork' ? 'info' : undefined}>{context}</Chip>,
  },
  { id: 'agents', ...agentsCell(t('agents.none')) },
];

const filtersOf = (t: T): Filter[] => [
  {
    key: 'caller',
    label: t('column.caller'),
    kind: 'choice',
    options: CALLERS.map((one) => [one, t(`caller.${one}`)]),
  },
  { key: 'context', label: t('field.context'), kind: 'choice', options: CONTEXTS.map((one) => [one, one]) },
];

export default function Skills() {
  const agents = useResource(AGENTS).data;
  const [{ caller, context }] = useQueryState();
  const rowsOf = useCallback(
    (skills: readonly Skill[]) =>
      skills
        .filter((row) => !caller || isCalledBy(row, caller))
        .filter((row) => context === undefined || row.context === context)
        .map((skill): Row => ({ ...skill, agents: usersOf(agents ?? [], skill.id) })),
    [agents, caller, context],
  );
  const entries = useEntryRows(SKILLS, rowsOf);
  return (
    <EntryScreen
      kind={{ namespace: SKILL.namespace, entity: SKILL.entity }}
      texts={texts}
      entries={{ ...entries, count: entries.query.data?.length }}
      columns={columnsOf}
      pages="/skills"
      showsSource
      filters={filtersOf}
    />
  );
}
