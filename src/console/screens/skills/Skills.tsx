import { useMemo, useState } from 'react';
import { type SourceState, sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { metaOf } from '../../data/records.ts';
import { buttonLook, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import { AGENTS, SKILLS } from './resources.ts';
import css from './Skills.module.css';
import { callerOf, isCalledBy, type Skill, usersOf } from './skill.ts';
import { texts } from './texts.ts';

type SkillRow = Skill & { source: SourceState | undefined; agents: readonly string[] };

const META = metaOf('skills');
const FILTERS = ['caller', 'context'];
const CALLERS = ['user', 'model', 'internal'] as const;
const CONTEXTS = ['inline', 'fork'] as const;

const useRows = (): SkillRow[] => {
  const skills = useResource(SKILLS).data;
  const meta = useResource(META).data;
  const agents = useResource(AGENTS).data;
  return useMemo(
    () =>
      (skills ?? []).map((skill) => ({
        ...skill,
        source: sourceState(meta?.get(skill.id)),
        agents: usersOf(agents ?? [], skill.id),
      })),
    [skills, meta, agents],
  );
};

const useColumns = (): Column<SkillRow>[] => {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'id',
        label: t('column.id'),
        always: true,
        value: (row) => row.id,
        cell: (row, mark) => <span className={css.mono}>{mark(row.id)}</span>,
      },
      { id: 'name', label: t('column.name'), value: (row) => row.name },
      {
        id: 'description',
        label: t('column.description'),
        value: (row) => row.description,
        text: (row) => [row.description, row.when_to_use, ...row.allowed_tools, ...row.paths].join(' '),
        unsorted: true,
        cell: (row, mark) => (
          <span className={css.description} title={row.description}>
            {mark(row.description)}
          </span>
        ),
      },
      {
        id: 'caller',
        label: t('column.caller'),
        value: (row) => t(`caller.${callerOf(row)}`),
      },
      {
        id: 'context',
        label: t('column.context'),
        value: (row) => row.context,
        cell: (row) => <Chip tone={row.context === 'fork' ? 'info' : undefined}>{row.context}</Chip>,
      },
      {
        id: 'source',
        label: t('column.source'),
        value: (row) => row.source,
        cell: (row) => <SourceChip state={row.source} />,
      },
      {
        id: 'agents',
        label: t('column.agents'),
        align: 'end',
        value: (row) => row.agents.length,
        text: (row) => row.agents.join(' '),
        cell: (row) => <span title={row.agents.join(', ') || t('agents.none')}>{row.agents.length}</span>,
      },
    ],
    [t],
  );
};

const Filters = () => {
  const t = useTexts(texts);
  const [{ caller = '', context = '' }, setQuery] = useQueryState();
  return (
    <>
      <FilterSelect
        label={t('filter.caller')}
        value={caller}
        options={[['', t('any')], ...CALLERS.map((one): [string, string] => [one, t(`caller.${one}`)])]}
        onChange={(value) => setQuery({ caller: value || undefined, page: undefined })}
      />
      <FilterSelect
        label={t('filter.context')}
        value={context}
        options={[['', t('any')], ...CONTEXTS.map((one): [string, string] => [one, one])]}
        onChange={(value) => setQuery({ context: value || undefined, page: undefined })}
      />
    </>
  );
};

const NewSkill = () => {
  const t = useTexts(texts);
  return (
    <ScreenLink to="/skills/new" className={buttonLook} isNew>
      {t('new')}
    </ScreenLink>
  );
};

export default function Skills() {
  const t = useTexts(texts);
  const format = useFormat();
  const query = useResource(SKILLS);
  const rows = useRows();
  const columns = useColumns();
  const [{ caller, context }] = useQueryState();
  const [doomed, setDoomed] = useState<SkillRow>();
  const shown = useMemo(
    () =>
      rows.filter(
        (row) => (!caller || isCalledBy(row, caller)) && (context === undefined || row.context === context),
      ),
    [rows, caller, context],
  );
  return (
    <Page
      title={t('title')}
      count={query.data && format.number(rows.length)}
      purpose={t('purpose')}
      actions={<NewSkill />}
    >
      <Loaded query={query} off={SKILLS.off}>
        {() => (
          <List
            name="skills"
            rows={shown}
            columns={columns}
            rowId={({ id }) => id}
            rowHref={({ id }) => `/skills/${encodeURIComponent(id)}`}
            searchPlaceholder={t('search')}
            filters={<Filters />}
            filterKeys={FILTERS}
            fresh={freshOf(query)}
            actions={(row) => (
              <IconButton
                small
                icon="trash"
                tone="danger"
                label={t('delete', { id: row.id })}
                onClick={() => setDoomed(row)}
              />
            )}
            empty={
              <EmptyState title={t('empty.title')} actions={<NewSkill />}>
                {t('empty.text')}
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {doomed && (
        <DeleteDialog
          namespace="skills"
          entity="entity.skill"
          id={doomed.id}
          note={doomed.source === 'user' ? undefined : t('delete.builtin')}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </Page>
  );
}
