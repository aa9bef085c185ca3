import { useEffect, useState } from 'react';
import { firstAgent, useAgentIds } from '../../data/agents.ts';
import { connection } from '../../data/connection.ts';
import { useMayInvoke } from '../../data/identity.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { runsSummary } from '../../data/resources.ts';
import { useAtom } from '../../data/use-atom.ts';
import type { Tone } from '../../design/Chip.tsx';
import { CheckField } from '../../design/Field.tsx';
import { InputField, SelectField, TextField } from '../../design/Inputs.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useNow } from '../../design/Time.tsx';
import { FormDialog } from '../../feedback/FormDialog.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { Filter } from '../../list/FilterBar.tsx';
import { ListScreen, type RowItem } from '../../list/ListScreen.tsx';
import { usePages } from '../../list/use-pages.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { useGo } from '../../navigation/links.tsx';
import { startRun, userMessage } from '../../run-records/control.ts';
import { useRunFilters } from '../../run-records/filters.ts';
import { runPages } from '../../run-records/pages.ts';
import { isOpen, type Run, runHref, threadHref } from '../../run-records/run.ts';
import runTexts from '../../run-records/texts.json' with { type: 'json' };
import { useMoved } from '../../run-records/use-moved.ts';
import { CancelDialog } from './CancelDialog.tsx';
import { runQuery, TABS, type Tab, tabOf, usualSort } from './query.ts';
import { RUN_COLUMNS } from './run-columns.tsx';
import texts from './texts.json' with { type: 'json' };
import { Views } from './Views.tsx';

const BeginDialog = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const agents = useAgentIds();
  const [agent, setAgent] = useState<string>();
  const [thread, setThread] = useState('');
  const [message, setMessage] = useState('');
  const chosen = agent ?? firstAgent(agents) ?? '';
  const begin = async (): Promise<void> => {
    const threadId = thread.trim() || undefined;
    const { run_id } = await startRun({ agentId: chosen, threadId, messages: [userMessage(message)] });
    go(runHref(run_id));
  };
  return (
    <FormDialog
      title={t('common.newRun')}
      confirm={t('common.start')}
      isOff={chosen === '' || message.trim() === ''}
      act={begin}
      onClose={onClose}
    >
      <SelectField label={t('common.agent')} required value={chosen} options={agents} onChange={setAgent} />
      <TextField
        label={t('common.message')}
        required
        rows={5}
        data-autofocus
        value={message}
        onChange={setMessage}
      />
      <InputField label={t('begin.thread')} value={thread} onChange={setThread} />
    </FormDialog>
  );
};

const TONES: Partial<Record<Tab, Tone>> = { running: 'info', waiting: 'warn' };

/** Polling interval while the feed is not live. */
const LOOK_MS = 3000;

const Tabs = () => {
  const t = useTexts(texts);
  const say = useTexts(runTexts);
  const format = useFormat();
  const [address, setQuery] = useQueryState();
  const counts = useResource({ ...runsSummary, every: undefined }).data;
  const tab = tabOf(address);
  const hasQueue = tab === 'created' || (counts?.created ?? 0) > 0;
  return (
    <fieldset className="tabs grow" aria-label={t('common.status')}>
      {[undefined, ...(hasQueue ? (['created'] as const) : []), ...TABS].map((each) => {
        const count = each === 'failed' || each === 'done' ? undefined : each && counts?.[each];
        return (
          <button
            key={each ?? ''}
            type="button"
            aria-pressed={tab === each}
            data-status={each}
            onClick={() => setQuery({ status: each })}
          >
            {each ? say(`state.${each}`) : t('tab.all')}
            {count !== undefined && (
              <span className="badge tint" data-tone={each && TONES[each]}>
                {format.number(count)}
              </span>
            )}
          </button>
        );
      })}
    </fieldset>
  );
};

const useFilters = (): readonly Filter[] => {
  const t = useTexts(texts);
  return [
    ...useRunFilters(),
    { key: 'after', kind: 'time', label: t('filter.after') },
    { key: 'before', kind: 'time', label: t('filter.before') },
    { key: 'thread', kind: 'text', label: t('common.threadId') },
  ];
};

/** The runs of the address. While the list is live, it is read again after transitions. */
const useRuns = (isLive: boolean) => {
  const [address] = useQueryState();
  const now = useNow();
  const { path, query, isRanked } = runQuery(address, now);
  const pages = usePages(runPages(query, path));
  const { refresh } = pages;
  const isTold = useMoved({ machine: 'run' }, () => {
    if (!isLive) return;
    invalidate(runsSummary.path);
    refresh();
  });
  useEffect(() => {
    if (isTold || !isLive) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, LOOK_MS);
    return () => clearInterval(timer);
  });
  return { pages, isRanked };
};

const LiveSwitch = (props: { isLive: boolean; onChange: (isLive: boolean) => void }) => {
  const t = useTexts(texts);
  const isCut = useAtom(connection) === 'disconnected';
  return (
    <CheckField
      label={t(props.isLive && isCut ? 'live.cut' : 'live')}
      checked={props.isLive}
      onChange={props.onChange}
    />
  );
};

export default function Runs() {
  const t = useTexts(texts);
  const [address] = useQueryState();
  const [isLive, setLive] = useState(true);
  const { pages, isRanked } = useRuns(isLive);
  const usual = usualSort(address);
  const mayInvoke = useMayInvoke();
  const menu = (run: Run): (RowItem | false)[] => [
    { label: t('common.openRun'), icon: 'runs', act: runHref(run.run_id) },
    { label: t('common.openThread'), icon: 'threads', act: threadHref(run.thread_id) },
    mayInvoke &&
      isOpen(run) && {
        label: t('common.cancelRun'),
        icon: 'stop',
        tone: 'danger',
        testId: 'run-cancel',
        dialog: (close) => <CancelDialog runs={[run]} onClose={close} />,
      },
  ];
  return (
    <ListScreen
      name="runs"
      texts={texts}
      pages={pages}
      isRanked={isRanked}
      columns={RUN_COLUMNS[usual.id === 'changed' ? 'changed' : 'began']}
      usualSort={usual}
      rowHref={({ run_id }) => runHref(run_id)}
      filterBy={useFilters()}
      tools={<LiveSwitch isLive={isLive} onChange={setLive} />}
      menu={menu}
      bulk={[
        mayInvoke && {
          label: t('cancel.many'),
          icon: 'stop',
          tone: 'danger',
          dialog: (runs, close) => <CancelDialog runs={runs} onClose={close} />,
        },
      ]}
      empty={
        tabOf(address) !== undefined && <EmptyState title={t('none.title')}>{t('none.text')}</EmptyState>
      }
      create={mayInvoke && { label: t('common.newRun'), dialog: (close) => <BeginDialog onClose={close} /> }}
      above={
        <div className="row">
          <Tabs />
          <Views />
        </div>
      }
      fills
    />
  );
}
