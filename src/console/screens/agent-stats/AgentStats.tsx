import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { runtimeStats } from '../../data/resources.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { controlLook, FilterSelect } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Freshness, freshOf } from '../../list/Freshness.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './AgentStats.module.css';
import { Coordination, Latency, Numbers } from './Cards.tsx';
import { isWindow, type Snapshot, snapshotOf } from './snapshot.ts';
import { ToolTable } from './ToolTable.tsx';
import { texts } from './texts.ts';

/** How one agent has done, over a time that can be chosen, and beside another one. */

const WINDOWS = ['1h', '6h', '24h', '7d'] as const;

const WindowField = ({ window, onChange }: { window: string; onChange: (window: string) => void }) => {
  const t = useTexts(texts);
  const [typed, type] = useState(window);
  const isRefused = typed.trim() !== '' && !isWindow(typed);
  return (
    <form
      className={css.free}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isRefused) onChange(typed.trim());
      }}
    >
      <input
        className={controlLook}
        type="text"
        aria-label={t('window.free')}
        aria-invalid={isRefused}
        aria-describedby="window-error"
        placeholder="90m"
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
      <span id="window-error" className={css.wrong}>
        {isRefused && t('window.wrong')}
      </span>
    </form>
  );
};

const Windows = ({ window, compare }: { window: string; compare: string }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const choose = (next: string): void => setQuery({ window: next || undefined });
  return (
    <div className={css.windows}>
      <fieldset className={css.choices} aria-label={t('window')}>
        {['', ...WINDOWS].map((one) => (
          <Button
            key={one}
            small
            tone={window === one ? undefined : 'quiet'}
            aria-pressed={window === one}
            onClick={() => choose(one)}
          >
            {one === '' ? t('window.default') : one}
          </Button>
        ))}
      </fieldset>
      <WindowField key={window} window={window} onChange={choose} />
      <FilterSelect
        label={t('compare')}
        value={compare}
        options={[
          ['', t('compare.none')],
          ...WINDOWS.filter((one) => one !== window).map((one): [string, string] => [one, one]),
        ]}
        onChange={(value) => setQuery({ compare: value || undefined })}
      />
    </div>
  );
};

const Cards = ({ snapshot, other }: { snapshot: Snapshot; other: Snapshot | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <>
      <p className={css.note}>
        {t('window.is', {
          window: format.duration(snapshot.window_seconds * 1000),
          buckets: format.number(snapshot.bucket_count),
          bucket: format.duration(snapshot.bucket_window_seconds * 1000),
        })}
      </p>
      <Numbers snapshot={snapshot} other={other} />
      <div className={css.two}>
        <Latency snapshot={snapshot} />
        <Coordination snapshot={snapshot} other={other} />
      </div>
      <ToolTable rows={snapshot.tool_calls_by_tool} />
    </>
  );
};

const Quiet = () => {
  const t = useTexts(texts);
  return <EmptyState title={t('empty')}>{t('empty.text')}</EmptyState>;
};

/** Whoever was never seen is not asked for: the list of all says who was. */
const Seen = ({ id }: { id: string }) => {
  const [{ window = '', compare = '' }] = useQueryState();
  const isRefused = window !== '' && !isWindow(window);
  const query = useResource(snapshotOf(id, window), !isRefused);
  const other = useResource(snapshotOf(id, compare), isWindow(compare));
  if (statusOf(query.error) === 404) return <Quiet />;
  return (
    <>
      <div className={css.bar}>
        <Windows window={window} compare={compare} />
        <Freshness {...freshOf(query)} />
      </div>
      {!isRefused && (
        <Loaded query={query} off={runtimeStats.off}>
          {(snapshot) => <Cards snapshot={snapshot} other={compare === '' ? undefined : other.data} />}
        </Loaded>
      )}
    </>
  );
};

export default function AgentStats() {
  const t = useTexts(texts);
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const all = useResource(runtimeStats);
  return (
    <Page
      title={t('title', { id })}
      purpose={t('purpose')}
      actions={
        <ScreenLink to={`/agents/${encodeURIComponent(id)}`} className={buttonLook}>
          {t('edit')}
        </ScreenLink>
      }
    >
      <Loaded query={all} off={runtimeStats.off}>
        {({ agents }) => (agents.some(({ agent_id }) => agent_id === id) ? <Seen id={id} /> : <Quiet />)}
      </Loaded>
    </Page>
  );
}
