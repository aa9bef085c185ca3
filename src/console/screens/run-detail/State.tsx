import { useMemo } from 'react';
import { Diff } from '../../design/Diff.tsx';
import { Json } from '../../design/Json.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import type { LogEvent } from '../../events/event.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { Run } from '../../runs/run.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

/** What the run keeps beside its conversation, and what of it changed at the moment that is looked at. */
export const State = ({
  run,
  events,
  at,
}: {
  run: Run;
  events: readonly LogEvent[];
  at: number | undefined;
}) => {
  const t = useTexts(texts);
  const snapshots = useMemo(
    () =>
      events
        .slice(0, at ?? events.length)
        .filter(({ event_kind }) => event_kind === 'StateSnapshotObserved')
        .map(({ payload }) => payload.snapshot),
    [events, at],
  );
  const isCaptured = events.some(({ event_kind }) => event_kind === 'StateSnapshotObserved');
  const state = at === undefined ? run.state : snapshots.at(-1);
  const before = snapshots.at(-2);
  return (
    <div className={css.state}>
      {!isCaptured && <Notice title={t('state.changes')}>{t('state.notCaptured')}</Notice>}
      {isCaptured && snapshots.length > 0 && (
        <section>
          <h3>{before === undefined ? t('state.first') : t('state.changes')}</h3>
          <Diff before={before} after={snapshots.at(-1)} />
        </section>
      )}
      {state ? (
        <section>
          <h3>{t('state.now')}</h3>
          <Json value={state} label={t('state.now')} />
        </section>
      ) : isCaptured || at === undefined ? (
        <EmptyState title={t('state.none')}>{null}</EmptyState>
      ) : null}
    </div>
  );
};
