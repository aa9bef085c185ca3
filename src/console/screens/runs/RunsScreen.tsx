import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { runsSummary } from '../../data/resources.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { CheckField, FilterSelect } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useNow } from '../../design/Time.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { freshOf } from '../../list/Freshness.tsx';
import { List } from '../../list/List.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { heldBack } from '../../runs/live-runs.ts';
import { shortId } from '../../runs/RunChip.tsx';
import { isOpen, type Run, runHref, STATUSES, statusText } from '../../runs/run.ts';
import { texts as runTexts } from '../../runs/texts.ts';
import { BeginDialog } from './BeginDialog.tsx';
import { CancelDialog } from './CancelDialog.tsx';
import { useRunColumns } from './columns.tsx';
import css from './Runs.module.css';
import { texts } from './texts.ts';
import { STEP, useRuns } from './use-runs.ts';
import { Views } from './Views.tsx';

const FILTERS = ['agent', 'age'];

/** Seconds. */
const AGES = { '5m': 300, '1h': 3600, '24h': 86_400 } as const;
type Age = keyof typeof AGES;

const asAge = (value: string | undefined): Age | undefined =>
  value !== undefined && Object.hasOwn(AGES, value) ? (value as Age) : undefined;

const Tabs = ({ status, onChange }: { status: string | undefined; onChange: (to?: string) => void }) => {
  const t = useTexts(texts);
  const say = useTexts(runTexts);
  const format = useFormat();
  const counts = useResource({ ...runsSummary, every: undefined }).data;
  const countOf = (each: string): number | undefined =>
    each === 'created' || each === 'running' || each === 'waiting' ? counts?.[each] : undefined;
  return (
    <fieldset className={css.tabs} aria-label={t('tabs')}>
      {[undefined, ...STATUSES].map((each) => {
        const word = each && statusText(each);
        const count = each && countOf(each);
        return (
          <button
            key={each ?? ''}
            type="button"
            aria-pressed={status === each}
            data-status={each}
            onClick={() => onChange(each)}
          >
            {word ? say(word) : t('tab.all')}
            {count !== undefined && <span className={css.count}>{format.number(count)}</span>}
          </button>
        );
      })}
    </fieldset>
  );
};

const Filters = ({ runs }: { runs: readonly Run[] }) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const agents = useMemo(() => [...new Set(runs.map(({ agent_id }) => agent_id))].sort(), [runs]);
  const known = query.agent && !agents.includes(query.agent) ? [...agents, query.agent] : agents;
  return (
    <>
      <FilterSelect
        label={t('filter.agent')}
        value={query.agent ?? ''}
        options={[['', t('filter.all')], ...known.map((id) => [id, id] as const)]}
        onChange={(value) => setQuery({ agent: value || undefined })}
      />
      <FilterSelect
        label={t('filter.age')}
        value={asAge(query.age) ?? ''}
        options={[
          ['', t('filter.any')],
          ...(['5m', '1h', '24h'] as const).map((age) => [age, t(`age.${age}`)] as const),
        ]}
        onChange={(value) => setQuery({ age: value || undefined })}
      />
    </>
  );
};

/** As they are now, or as they were when somebody wanted to read them in peace. */
const useStill = (runs: readonly Run[], isLive: boolean): { rows: readonly Run[]; more: number } => {
  const [still, setStill] = useState<readonly Run[]>();
  if (isLive && still) setStill(undefined);
  if (!isLive && !still) setStill(runs);
  return useMemo(
    () => (isLive || !still ? { rows: runs, more: 0 } : heldBack(still, runs)),
    [runs, isLive, still],
  );
};

export default function Runs() {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const [address, setQuery] = useQueryState();
  const status = STATUSES.find((each) => each === address.status);
  const { query, runs, loadMore } = useRuns(status);
  const [isLive, setLive] = useState(true);
  const [isBeginning, setBeginning] = useState(false);
  const [leaving, setLeaving] = useState<readonly Run[]>();
  const columns = useRunColumns();
  const { rows, more } = useStill(runs?.items ?? [], isLive);
  const age = asAge(address.age);
  const shown = useMemo(() => {
    const since = age === undefined ? 0 : now / 1000 - AGES[age];
    return rows.filter(
      (run) =>
        (address.agent === undefined || run.agent_id === address.agent) &&
        (run.started_at ?? run.created_at) >= since,
    );
  }, [rows, address.agent, age, now]);
  return (
    <Page
      title={t('title')}
      count={runs && format.number(runs.total)}
      purpose={t('purpose')}
      actions={
        <Button tone="primary" icon="plus" onClick={() => setBeginning(true)}>
          {t('begin')}
        </Button>
      }
    >
      <div className={css.head}>
        <Tabs status={status} onChange={(to) => setQuery({ status: to })} />
        <Views />
      </div>
      <Loaded query={query}>
        {({ total }) => (
          <List
            name="runs"
            rows={shown}
            columns={columns}
            rowId={({ run_id }) => run_id}
            rowHref={({ run_id }) => runHref(run_id)}
            searchPlaceholder={t('search')}
            filters={<Filters runs={rows} />}
            filterKeys={FILTERS}
            tools={
              <>
                {more > 0 && (
                  <Button small icon="arrowUp" onClick={() => setLive(true)}>
                    {t('newer', { count: more })}
                  </Button>
                )}
                <CheckField label={t('live')} checked={isLive} onChange={setLive} />
              </>
            }
            fresh={freshOf(query)}
            actions={(run) =>
              isOpen(run) && (
                <IconButton
                  small
                  icon="stop"
                  tone="danger"
                  data-testid="run-cancel"
                  label={t('cancel.one', { id: shortId(run.run_id) })}
                  onClick={() => setLeaving([run])}
                />
              )
            }
            bulk={[{ label: t('cancel.many'), icon: 'stop', tone: 'danger', run: setLeaving }]}
            unpaged
            after={
              total > rows.length && (
                <div className={css.more}>
                  <span>
                    {t('loaded', { count: format.number(rows.length), total: format.number(total) })}
                  </span>
                  <Button small onClick={loadMore}>
                    {t('more', { count: format.number(Math.min(STEP, total - rows.length)) })}
                  </Button>
                </div>
              )
            }
            empty={
              status === undefined ? (
                <EmptyState
                  title={t('empty.title')}
                  actions={
                    <Button icon="plus" onClick={() => setBeginning(true)}>
                      {t('begin')}
                    </Button>
                  }
                >
                  {t('empty.text')}
                </EmptyState>
              ) : (
                <EmptyState title={t('none.title')}>{t('none.text')}</EmptyState>
              )
            }
          />
        )}
      </Loaded>
      {isBeginning && <BeginDialog onClose={() => setBeginning(false)} />}
      {leaving && <CancelDialog runs={leaving} onClose={() => setLeaving(undefined)} />}
    </Page>
  );
}
