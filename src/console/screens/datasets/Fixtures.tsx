import { useCallback, useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import type { Item } from '../../eval-results/report.ts';
import { type Fixture, isScriptable } from '../../fixtures/dataset.ts';
import { expectationsOf } from '../../fixtures/expectations.ts';
import fixtureTexts from '../../fixtures/texts.json' with { type: 'json' };
import { useTexts } from '../../i18n/locale.ts';
import type { Column } from '../../list/column.ts';
import { List } from '../../list/List.tsx';
import { type ColumnsOf, useColumns } from '../../list/use-columns.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { runOf } from '../eval-runs/runs.ts';
import { FixtureForm } from './FixtureForm.tsx';
import { fixtureDuplicated, fixtureMoved, fixtureRemoved, fixtureStored } from './fixture-changes.ts';
import texts from './texts.json' with { type: 'json' };
import type { Change, DatasetWrite } from './write.ts';

/** The last result of a test case; each combination of model and sample is a separate execution. */
type Last = { passed: number; plays: number };

const lastOf = (items: readonly Pick<Item, 'fixture_id' | 'report'>[]): ReadonlyMap<string, Last> => {
  const found = new Map<string, Last>();
  for (const { fixture_id: id, report } of items) {
    const { passed, plays } = found.get(id) ?? { passed: 0, plays: 0 };
    found.set(id, { passed: passed + (report.passed ? 1 : 0), plays: plays + 1 });
  }
  return found;
};

type Row = Fixture & { place: number; last: Last | undefined };

const useFixtureColumns = (lastRun: string | undefined): Column<Row>[] => {
  const say = useTexts(fixtureTexts);
  const columnsOf = useCallback<ColumnsOf<Row, keyof typeof texts>>(
    (t) => [
      { id: 'input', shortened: true, always: true, value: (row) => row.user_input || row.id },
      { id: 'id', shortened: true, isCode: true, value: (row) => row.id },
      { id: 'turns', align: 'end', value: (row) => 1 + row.continued_turns.length, text: () => '' },
      {
        id: 'played',
        value: (row) => t(isScriptable(row) ? 'played.scripted' : 'played.live'),
        cell: (row) => (
          <span title={row.provider_script_error}>
            {t(isScriptable(row) ? 'played.scripted' : 'played.live')}
          </span>
        ),
      },
      {
        id: 'last',
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
            <span className="quiet">—</span>
          ),
      },
      {
        id: 'expect',
        shortened: true,
        unsorted: true,
        value: (row) => expectationsOf(row.expect, say).join('; '),
        cell: (row) =>
          expectationsOf(row.expect, say).join('; ') || <span className="quiet">{t('common.none')}</span>,
      },
    ],
    [say, lastRun],
  );
  return useColumns(texts, columnsOf);
};

const useLast = (runId: string | undefined): ReadonlyMap<string, Last> => {
  const items = useResource(runOf(runId ?? ''), runId !== undefined).data?.run.items;
  return useMemo(() => lastOf(items ?? []), [items]);
};

/**
 * The test case of the address. A test case that was deleted while its form is open stays in the form until it is
 * closed.
 */
const useOpenFixture = (fixtures: readonly Fixture[], openId: string | undefined): Fixture | undefined => {
  const found = fixtures.find(({ id }) => id === openId);
  const [last, setLast] = useState(found);
  if (found !== undefined && found.id !== last?.id) setLast(found);
  if (openId === undefined) return undefined;
  return found ?? (last?.id === openId ? last : undefined);
};

/** The form of the test case of the address, or of a new one. */
const OpenForm = ({ fixtures, write }: { fixtures: readonly Fixture[]; write: DatasetWrite }) => {
  const [{ fixture: openId, new: isNew }, setQuery] = useQueryState();
  const found = useOpenFixture(fixtures, openId);
  const open = isNew === '1' ? undefined : found;
  const taken = useMemo(
    () => new Set(fixtures.map(({ id }) => id).filter((id) => id !== openId)),
    [fixtures, openId],
  );
  if (isNew !== '1' && !open) return null;
  return (
    <FixtureForm
      key={found?.id ?? ''}
      fixture={open}
      taken={taken}
      busy={write.busy}
      onSave={(fixture, before) => write.change(fixtureStored(open?.id, fixture, before))}
      onClose={() => setQuery({ fixture: undefined, new: undefined })}
    />
  );
};

export const Fixtures = (props: {
  fixtures: readonly Fixture[];
  write: DatasetWrite;
  lastRun: string | undefined;
}) => {
  const { fixtures, write, lastRun } = props;
  const t = useTexts(texts);
  const columns = useFixtureColumns(lastRun);
  const results = useLast(lastRun);
  const [{ fixture: openId }, setQuery] = useQueryState();
  const [doomed, setDoomed] = useState<string>();
  const rows = useMemo(
    () => fixtures.map((fixture, place) => ({ ...fixture, place, last: results.get(fixture.id) })),
    [fixtures, results],
  );
  const { busy } = write;
  const last = fixtures.length - 1;
  const change = (name: 'up' | 'down' | 'duplicate', how: Change) => ({
    label: t(`fixture.${name}`),
    act: () => void write.change(how),
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
        menu={({ id, place }) => [
          { ...change('up', fixtureMoved(id, -1)), icon: 'arrowUp', isOff: busy || place === 0 },
          { ...change('down', fixtureMoved(id, 1)), icon: 'arrowDown', isOff: busy || place === last },
          { ...change('duplicate', fixtureDuplicated(id)), icon: 'duplicate', isOff: busy },
          {
            label: t('delete.confirm'),
            icon: 'trash',
            tone: 'danger',
            isOff: busy,
            act: () => setDoomed(id),
          },
        ]}
        empty={
          <EmptyState title={t('fixture.empty')} actions={add}>
            {t('fixture.emptyText')}
          </EmptyState>
        }
      />
      <OpenForm fixtures={fixtures} write={write} />
      {doomed !== undefined && (
        <ConfirmDialog
          title={t('fixture.removeTitle', { id: doomed })}
          confirm={t('delete.confirm')}
          busy={busy}
          onConfirm={() => void write.change(fixtureRemoved(doomed)).then(() => setDoomed(undefined))}
          onClose={() => setDoomed(undefined)}
        >
          <p>{t('fixture.removeText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
