import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { type Fixture, isScriptable } from '../../fixtures/dataset.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { runOf } from '../eval-runs/runs.ts';
import css from './Datasets.module.css';
import { FixtureForm } from './FixtureForm.tsx';
import { freeId, summaryOf, withFixture } from './fixture.ts';
import { type Last, lastOf } from './last-result.ts';
import { texts } from './texts.ts';
import type { DatasetWrite } from './write.ts';

type Row = Fixture & { place: number; last: Last | undefined };

const useColumns = (lastRun: string | undefined): Column<Row>[] => {
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
      {
        id: 'input',
        label: t('column.input'),
        value: (row) => row.user_input,
        cell: (row, mark) => (
          <div className={css.cut} title={row.user_input}>
            {mark(row.user_input)}
          </div>
        ),
      },
      {
        id: 'turns',
        label: t('column.turns'),
        align: 'end',
        value: (row) => 1 + row.continued_turns.length,
        text: () => '',
      },
      {
        id: 'played',
        label: t('column.played'),
        value: (row) => t(isScriptable(row) ? 'played.scripted' : 'played.live'),
        cell: (row) => (
          <span title={row.provider_script_error}>
            {t(isScriptable(row) ? 'played.scripted' : 'played.live')}
          </span>
        ),
      },
      {
        id: 'last',
        label: t('column.last'),
        value: (row) => (row.last ? row.last.passed / row.last.plays : undefined),
        text: () => '',
        cell: ({ last }) =>
          last && lastRun !== undefined ? (
            <ScreenLink to={`/eval-runs/${encodeURIComponent(lastRun)}`}>
              <Chip tone={last.passed === last.plays ? 'success' : 'error'}>
                {t('last.passed', { passed: last.passed, items: last.plays })}
              </Chip>
            </ScreenLink>
          ) : (
            <span className={css.quiet}>—</span>
          ),
      },
      {
        id: 'expect',
        label: t('column.expect'),
        unsorted: true,
        value: (row) => summaryOf(row.expect, t),
        cell: (row) => (
          <div className={css.cut} title={summaryOf(row.expect, t)}>
            {summaryOf(row.expect, t) || <span className={css.quiet}>{t('expect.none')}</span>}
          </div>
        ),
      },
    ],
    [t, lastRun],
  );
};

/** Of the last run that there was, by test case. */
const useLast = (runId: string | undefined): ReadonlyMap<string, Last> => {
  const items = useResource(runOf(runId ?? ''), runId !== undefined).data?.run.items;
  return useMemo(() => lastOf(items ?? []), [items]);
};

export const Fixtures = (props: {
  fixtures: readonly Fixture[];
  write: DatasetWrite;
  lastRun: string | undefined;
}) => {
  const { fixtures, write, lastRun } = props;
  const t = useTexts(texts);
  const columns = useColumns(lastRun);
  const results = useLast(lastRun);
  const [{ fixture: openId, new: isNew }, setQuery] = useQueryState();
  const rows = useMemo(
    () => fixtures.map((fixture, place) => ({ ...fixture, place, last: results.get(fixture.id) })),
    [fixtures, results],
  );
  const found = fixtures.find(({ id }) => id === openId);
  // One that somebody else has taken away meanwhile stays in its form until that is closed.
  const [last, setLast] = useState(found);
  if (found !== undefined && found.id !== last?.id) setLast(found);
  const open = openId === undefined ? undefined : (found ?? (last?.id === openId ? last : undefined));
  const taken = useMemo(
    () => new Set(fixtures.map(({ id }) => id).filter((id) => id !== openId)),
    [fixtures, openId],
  );
  const [doomed, setDoomed] = useState<string>();
  const remove = async (id: string): Promise<void> => {
    await write.change((spec) => ({
      ...spec,
      fixtures: spec.fixtures.filter((fixture) => fixture.id !== id),
    }));
    setDoomed(undefined);
  };
  const close = (): void => setQuery({ fixture: undefined, new: undefined });
  const move = (id: string, by: 1 | -1): void =>
    void write.change((spec) => {
      const next = [...spec.fixtures];
      const at = next.findIndex((fixture) => fixture.id === id);
      const [moved] = next.splice(at, 1);
      if (moved) next.splice(Math.max(0, at + by), 0, moved);
      return { ...spec, fixtures: next };
    });
  const duplicate = (id: string): void =>
    void write.change((spec) => {
      const found = spec.fixtures.find((fixture) => fixture.id === id);
      const ids = new Set(spec.fixtures.map((fixture) => fixture.id));
      return found ? { ...spec, fixtures: [...spec.fixtures, { ...found, id: freeId(id, ids) }] } : spec;
    });
  const add = (
    <Button icon="plus" onClick={() => setQuery({ new: '1', fixture: undefined })} data-new>
      {t('fixture.add')}
    </Button>
  );
  return (
    <>
      <List
        name="fixtures"
        rows={rows}
        columns={columns}
        rowId={({ id }) => id}
        onOpen={({ id }) => setQuery({ fixture: id, new: undefined })}
        openId={openId}
        tools={add}
        actions={({ id, place }) => (
          <>
            <IconButton
              small
              icon="arrowUp"
              label={t('fixture.up', { id })}
              disabled={write.busy || place === 0}
              onClick={() => move(id, -1)}
            />
            <IconButton
              small
              icon="arrowDown"
              label={t('fixture.down', { id })}
              disabled={write.busy || place === fixtures.length - 1}
              onClick={() => move(id, 1)}
            />
            <IconButton
              small
              icon="duplicate"
              label={t('fixture.duplicate', { id })}
              disabled={write.busy}
              onClick={() => duplicate(id)}
            />
            <IconButton
              small
              icon="trash"
              tone="danger"
              label={t('fixture.remove', { id })}
              disabled={write.busy}
              onClick={() => setDoomed(id)}
            />
          </>
        )}
        empty={
          <EmptyState title={t('fixture.empty')} actions={add}>
            {t('fixture.emptyText')}
          </EmptyState>
        }
      />
      {(isNew === '1' || open) && (
        <FixtureForm
          key={open?.id ?? ''}
          fixture={isNew === '1' ? undefined : open}
          taken={taken}
          busy={write.busy}
          onSave={(fixture, before) =>
            write.change((spec) => ({
              ...spec,
              fixtures: withFixture(spec.fixtures, isNew === '1' ? undefined : openId, fixture, before),
            }))
          }
          onClose={close}
        />
      )}
      {doomed !== undefined && (
        <ConfirmDialog
          title={t('fixture.removeTitle', { id: doomed })}
          confirm={t('delete.confirm')}
          busy={write.busy}
          onConfirm={() => void remove(doomed)}
          onClose={() => setDoomed(undefined)}
        >
          <p>{t('fixture.removeText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
